// perdure-bare-shim RESULT: the least that a supervisor with durable results must do, as the
// bench's ceiling: starts `true`, waits for it, writes how it ended to RESULT by write, fsync and
// rename. No containment, no output, no limits, nobody to report to.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

extern char** environ;

namespace {

int run_true() {
    char name[] = "true";
    char* argv[] = {name, nullptr};
    pid_t pid = 0;
    if (posix_spawnp(&pid, name, nullptr, nullptr, argv, environ) != 0) return -1;
    int status = 0;
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

bool write_durably(const std::string& path, const char* text) {
    const auto temporary = path + ".new";
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return false;
    const auto size = std::strlen(text);
    const bool written = ::write(file, text, size) == static_cast<ssize_t>(size);
    const bool synced = ::fsync(file) == 0;
    ::close(file);
    return written && synced && ::rename(temporary.c_str(), path.c_str()) == 0;
}

}  // namespace

int main(int count, char** words) {
    if (count != 2) return 2;
    const int status = run_true();
    char text[64];
    std::snprintf(text, sizeof text, "{\"status\":%d}\n", status);
    return status == 0 && write_durably(words[1], text) ? 0 : 1;
}
