#include "processes/spawn.h"

#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <mutex>
#include <shared_mutex>

#include "processes/disk/posix.h"
#include "processes/disk/processes_without_shim.h"
#include "shim/format/attempt_files.h"
#include "shim/tree.h"

namespace perdure {
namespace {

constexpr int directory_fd = 3;
constexpr int worker_fd = 4;
constexpr int slots_fd = 5;
constexpr int secrets_fd = 6;
constexpr int above_all = 16;  // so that putting one in its place never overwrites another

class SpawnPlan {
public:
    SpawnPlan(int directory, int socket, int slots, int secrets) {
        ::posix_spawn_file_actions_init(&actions_);
        for (const int fd : {0, 1, 2})
            ::posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_RDWR, 0);
        ::posix_spawn_file_actions_adddup2(&actions_, directory, directory_fd);
        ::posix_spawn_file_actions_adddup2(&actions_, socket, worker_fd);
        give_or_close(slots, slots_fd);
        give_or_close(secrets, secrets_fd);
        ::posix_spawnattr_init(&attributes_);
        sigset_t set;
        ::sigfillset(&set);
        ::posix_spawnattr_setsigdefault(&attributes_, &set);
        ::posix_spawnattr_setsigmask(&attributes_, &set);
        // A session of its own: what a terminal sends to the worker is not for its shims.
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;
    ~SpawnPlan() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }

    int run(const std::string& program, std::string mark, pid_t& pid) {
        std::string name = "perdure-shim";
        char* const arguments[] = {name.data(), nullptr};
        char* const environment[] = {mark.data(), nullptr};
        return ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments,
                             environment);
    }

private:
    void give_or_close(int fd, int as) {
        if (fd >= 0)
            ::posix_spawn_file_actions_adddup2(&actions_, fd, as);
        else
            ::posix_spawn_file_actions_addclose(&actions_, as);
    }

    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

Fd moved_up(Fd fd) {
    if (!fd || fd.get() >= above_all) return fd;
    return Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, above_all));
}

}  // namespace

Result<Fd> in_memory(std::string_view bytes) {
    Fd file(::memfd_create("perdure", MFD_CLOEXEC));
    if (!file) return os_error("memory for secrets", errno);
    if (const int failed = write_all(file.get(), bytes))
        return os_error("memory for secrets", failed);
    if (::lseek(file.get(), 0, SEEK_SET) != 0) return os_error("memory for secrets", errno);
    return file;
}

Result<ShimEnds> spawn_shim(StateFolder& folder, const std::string& program, ShimGifts gifts,
                            const std::string& name) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return os_error("socket of a shim", errno);
    ShimEnds shim{.socket = Fd(ends[0])};
    const auto theirs = moved_up(Fd(ends[1]));
    const auto lock = moved_up(std::move(gifts.directory));
    const bool has_slots = static_cast<bool>(gifts.slots);
    const auto slots_lock = moved_up(std::move(gifts.slots));
    const bool has_secrets = static_cast<bool>(gifts.secrets);
    const auto secrets = moved_up(std::move(gifts.secrets));
    if (!theirs || !lock || (has_slots && !slots_lock) || (has_secrets && !secrets))
        return os_error("descriptors of a shim", errno);
    const std::shared_lock noted_before_a_scan(folder.spawning);
    SpawnPlan plan(lock.get(), theirs.get(), slots_lock.get(), secrets.get());
    const int failed =
        plan.run(program, std::string(shim_variable) + folder.mark() + name, shim.pid);
    if (failed) return os_error("`" + program + "` cannot be started", failed);
    shim.pidfd = open_pidfd(shim.pid);
    if (!shim.pidfd) {
        const int shortage = errno;
        ::kill(shim.pid, SIGKILL);  // our child, not reaped: this pid is nobody else's
        ::waitpid(shim.pid, nullptr, 0);
        return os_error("pidfd of a shim", shortage);
    }
    folder.note_shim(shim.pid);
    return shim;
}

Result<ShimEnds> connect_shim(const StateFolder& folder, const std::string& name) {
    const Fd directory(::openat(folder.attempts(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return os_error("attempt's directory", errno);
    ShimEnds shim{.socket = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // However long the state directory's path is, this one fits.
    const auto path =
        "/proc/self/fd/" + std::to_string(directory.get()) + "/" + attempt_files::shim_socket;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(shim.socket.get(), generic, sizeof address) != 0)
        return os_error("shim's socket", errno);
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(shim.socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
        return os_error("shim's socket", errno);
    shim.pid = who.pid;
    shim.pidfd = open_pidfd(who.pid);
    if (!shim.pidfd) return os_error("pidfd of a shim", errno);
    // Its end is open after the pidfd was made: so that is the shim's, not a later process's.
    char nothing = 0;
    if (::recv(shim.socket.get(), &nothing, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        return error(Errc::unavailable, "the shim has gone");
    return shim;
}

}  // namespace perdure
