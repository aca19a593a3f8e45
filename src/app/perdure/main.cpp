// perdure: one program for people, servers and workers. Builds what the command line needs and
// hands over; decides nothing. An exception that comes this far is a bug and is told as one.
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "app/perdure/real_system.h"
#include "app/perdure/sub_programs.h"
#include "cli/program.h"

namespace {

perdure::cli::Terminal::Look look_of(const perdure::cli::System& system) {
    perdure::cli::Terminal::Look look;
    const bool out = ::isatty(STDOUT_FILENO) == 1;
    const bool err = ::isatty(STDERR_FILENO) == 1;
    look.colour = out && !system.environment().contains("NO_COLOR");
    look.interactive = err && ::isatty(STDIN_FILENO) == 1;
    look.passing = err;
    winsize size{};
    if (out && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) look.width = size.ws_col;
    return look;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        std::ios::sync_with_stdio(false);
        // What this program writes is for its own user: databases, logs, sockets. Jobs get 022.
        ::umask(077);
        perdure::RealSystem system;
        perdure::RealSubPrograms backstage;
        perdure::cli::Terminal terminal(std::cout, std::cerr, look_of(system));
        const std::vector<std::string> words(argv + 1, argv + argc);
        return static_cast<int>(perdure::cli::run_program(words, terminal, system, backstage));
    } catch (const std::exception& thrown) {
        std::cerr << "perdure: this is a bug: " << thrown.what() << '\n';
        return static_cast<int>(perdure::ExitCode::corrupt);
    }
}
