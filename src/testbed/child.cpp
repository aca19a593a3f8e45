#include "testbed/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

extern char** environ;

namespace perdure {
namespace {

std::mutex held_lock;
std::set<pid_t> held;

}  // namespace

Child::Child(pid_t pid) : pid_(pid) {
    const std::lock_guard guard(held_lock);
    held.insert(pid);
}

bool Child::is_held(pid_t pid) {
    const std::lock_guard guard(held_lock);
    return held.contains(pid);
}

Result<std::unique_ptr<Child>> Child::start(const std::vector<std::string>& words,
                                            const std::string& log) {
    std::vector<char*> argv;
    for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    const auto* path = log.empty() ? "/dev/null" : log.c_str();
    posix_spawn_file_actions_addopen(&files, 1, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    pid_t pid = 0;
    const int failed = posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0)
        return error(Errc::unavailable, "cannot start " + words[0] + ": " + std::strerror(failed));
    return std::unique_ptr<Child>(new Child(pid));
}

Child::~Child() {
    signal(SIGKILL);
    wait();
    const std::lock_guard guard(held_lock);
    held.erase(pid_);
}

void Child::signal(int number) const {
    if (!ended_) ::kill(pid_, number);
}

bool Child::has_ended() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return ended_;
}

int Child::wait() {
    if (ended_) return status_;
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
    return status_;
}

std::string own_program() {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

std::string program_beside(const std::string& name) {
    return (std::filesystem::path(own_program()).parent_path() / name).string();
}

}  // namespace perdure
