#include "drill/world/program.h"

#include <fmt/format.h>
#include <signal.h>

#include <fstream>
#include <sstream>

#include "drill/world/clock.h"
#include "drill/world/processes.h"

namespace perdure::drill {
namespace {

constexpr double patience_with_start_s = 30;
constexpr double patience_with_stop_s = 5;
constexpr std::string_view ready_words = "perdure is ready: ";
constexpr std::string_view before_port = "http://127.0.0.1:";

std::string content_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

}  // namespace

Result<std::unique_ptr<Program>> Program::start(const std::vector<std::string>& words,
                                                const std::string& log) {
    std::vector<std::string> all = {own_program()};
    all.insert(all.end(), words.begin(), words.end());
    const auto log_before = content_of(log).size();
    auto child = Child::start(all, log);
    if (!child) return child.error();
    std::unique_ptr<Program> program(new Program(std::move(*child), log));
    if (auto ready = program->wait_until_ready(log_before); !ready) return ready.error();
    return program;
}

Result<void> Program::wait_until_ready(std::size_t log_before) {
    const auto is_ready = [&] {
        const auto text = content_of(log_).substr(log_before);
        const auto at = text.find(ready_words);
        if (at == std::string::npos) return child_->has_ended();
        const auto port = text.find(before_port, at);
        if (port == at + ready_words.size())
            port_ = static_cast<std::uint16_t>(std::atoi(text.c_str() + port + before_port.size()));
        return true;
    };
    if (auto ready = until_true(patience_with_start_s, "`perdure` becomes ready", is_ready); !ready)
        return ready;
    if (!child_->has_ended()) return {};
    return error(Errc::unavailable, "`perdure` did not start:\n" + content_of(log_));
}

Program::~Program() {
    if (child_->has_ended()) return;
    // Jobs that still run are of no use to anybody: no drain.
    ask_to_stop();
    ask_to_stop();
    const Stopwatch watch;
    while (!child_->has_ended() && !interrupted() && watch.seconds() < patience_with_stop_s)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    kill_everything();
}

pid_t Program::server() const { return child_with(watchdog(), "child-server"); }
pid_t Program::worker() const { return child_with(watchdog(), "child-worker"); }

std::vector<pid_t> Program::everything() const { return tree_of(watchdog()); }

void Program::kill_everything() {
    if (child_->has_ended()) return;
    const auto all = everything();
    signal_all(all, SIGSTOP);  // nobody starts anything while the others are hit
    signal_all(everything(), SIGKILL);
    child_->wait();
}

void Program::kill_own_processes() {
    const auto kept = {server(), worker()};
    child_->signal(SIGKILL);
    for (const auto process : kept)
        if (process > 0) ::kill(process, SIGKILL);
    child_->wait();
}

}  // namespace perdure::drill
