#include "store/sqlite/data_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "store/sqlite/db/durable_file.h"

namespace perdure {
namespace {

constexpr int poll_interval_ms = 50;
constexpr auto directory_word = "data directory";

Error cannot(const char* what, const std::string& path) {
    const int why = errno;
    auto sentence = fmt::format("cannot {} {}: {}", what, path, std::strerror(why));
    if (why == EROFS) sentence += ": mount the disk writable, or choose another data directory";
    if (why == EACCES || why == EPERM) sentence += ": give this user the right to write it";
    if (why == ENOSPC) sentence += ": free some space";
    return error(Errc::unavailable, std::move(sentence));
}

std::string holder_of(int lock) {
    char text[32] = {};
    const auto size = pread(lock, text, sizeof text - 1, 0);
    std::string pid(text, size > 0 ? static_cast<std::size_t>(size) : 0);
    while (!pid.empty() && pid.back() == '\n') pid.pop_back();
    return pid.empty() ? "another process" : "process " + pid;
}

// Waits for a process that is just ending.
bool take(int lock, Duration patience) {
    for (auto rest = patience; flock(lock, LOCK_EX | LOCK_NB) != 0;
         rest = rest - milliseconds(poll_interval_ms)) {
        const bool busy = errno == EWOULDBLOCK || errno == EINTR;
        if (!busy || rest <= Duration{}) return false;
        poll(nullptr, 0, poll_interval_ms);
    }
    return true;
}

// For people, and for the sentence above; nothing depends on it.
bool sign(int lock) {
    const auto pid = fmt::format("{}\n", getpid());
    return ftruncate(lock, 0) == 0 &&
           pwrite(lock, pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
}

// The folders that get a new entry when `path` is made, the lowest first. Its own parent is always
// one of them: whoever made it may have died before the sync.
std::vector<std::string> parents_to_sync(const std::filesystem::path& path) {
    std::error_code ignored;
    std::vector<std::string> parents;
    auto parent = path.parent_path();
    parents.push_back(parent.string());
    while (parent != parent.root_path() && !std::filesystem::exists(parent, ignored)) {
        parent = parent.parent_path();
        parents.push_back(parent.string());
    }
    return parents;
}

}  // namespace

Result<void> make_data_directory(const std::string& path, const SyncFolder& sync) {
    std::error_code failed;
    auto whole = std::filesystem::absolute(path, failed).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();  // spelt with a slash behind it
    const auto parents = parents_to_sync(whole);
    if (!failed && std::filesystem::create_directories(whole, failed))
        chmod(whole.c_str(), S_IRWXU);
    if (failed) {
        errno = failed.value();
        return cannot("make the data directory", path);
    }
    for (auto parent = parents.rbegin(); parent != parents.rend(); ++parent) {
        if (sync(*parent)) continue;
        // One that may be passed through and not read, or a file system that has no such thing.
        if (errno != EACCES && errno != EINVAL) return cannot("sync", *parent);
    }
    return {};
}

Result<DataDirectory> DataDirectory::open(const std::string& path, Duration patience) {
    const auto whole = trust_way_to(path, directory_word);
    if (!whole) return whole.error();
    if (auto made = make_data_directory(*whole, store::sqlite::sync_path); !made)
        return made.error();
    auto trusted = trust_directory(*whole, directory_word);
    if (!trusted) return trusted.error();
    const auto name = trusted->path + "/lock";
    const int lock =
        ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (lock < 0) return cannot("write the data directory", path);
    DataDirectory directory(std::move(*trusted), lock);
    if (take(lock, patience)) {
        if (!sign(lock)) return cannot("write", name);
        return directory;
    }
    if (errno != EWOULDBLOCK) return cannot("lock", name);
    return error(Errc::conflict,
                 fmt::format("{} has the data directory {}: stop it, or choose another one",
                             holder_of(lock), path));
}

Result<DataDirectory> DataDirectory::open_existing(const std::string& path, Duration patience) {
    if (access((path + "/perdure.db").c_str(), F_OK) != 0)
        return error(Errc::not_found,
                     "there is no database in " + path + ": say with --data where it is");
    return open(path, patience);
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : folder_(std::move(other.folder_)), lock_(std::exchange(other.lock_, -1)) {}

DataDirectory::~DataDirectory() {
    if (lock_ >= 0) ::close(lock_);
}

}  // namespace perdure
