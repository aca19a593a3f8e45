#include "processes/disk/spare_folders.h"

#include <dirent.h>
#include <string.h>
#include <sys/file.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "processes/disk/posix.h"
#include "processes/disk/remove_tree.h"
#include "shim/format/attempt_files.h"
#include "shim/format/records.h"

namespace perdure {
namespace {

namespace files = attempt_files;

constexpr std::size_t waiting_max = 128;

// Whether a folder holds nothing but the names that are allowed.
template <class Allowed>
bool holds_only(int parent, const char* name, Allowed allowed) {
    const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const auto folder = open_directory(fd);
    if (!folder) return false;
    while (const auto* entry = ::readdir(folder.get())) {
        const std::string_view found = entry->d_name;
        if (found != "." && found != ".." && !allowed(found)) return false;
    }
    return true;
}

bool is_plain(int directory, const char* name) {
    struct stat about {};
    if (::fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
    return S_ISREG(about.st_mode) && about.st_nlink == 1 && (about.st_mode & 0777) == 0600;
}

}  // namespace

bool SpareFolders::open(int root, const char* name) {
    ::unlinkat(root, name, 0);  // whatever is no folder
    ::mkdirat(root, name, 0700);
    folder_.reset(::openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!folder_) return false;
    std::vector<std::string> old;
    const auto entries =
        open_directory(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (const auto* entry = entries ? ::readdir(entries.get()) : nullptr) {
        const std::string_view found = entry->d_name;
        if (found != "." && found != "..") old.emplace_back(found);
    }
    for (const auto& each : old) {
        // What resists stays; its name is not given again.
        if (!discard(each)) last_ = std::max(last_, number_in<std::uint64_t>(each).value_or(0));
    }
    return true;
}

std::string SpareFolders::next_name() {
    const std::lock_guard hold(mutex_);
    return std::to_string(++last_);
}

std::string SpareFolders::longest_waiting() {
    const std::lock_guard hold(mutex_);
    if (waiting_.empty()) return {};
    auto name = std::move(waiting_.front());
    waiting_.pop_front();
    return name;
}

bool SpareFolders::wait_again(const std::string& name) {
    const std::lock_guard hold(mutex_);
    if (waiting_.size() >= waiting_max) return false;
    waiting_.push_back(name);
    return true;
}

Result<SpareFolders::Spare> SpareFolders::take() {
    Spare spare{.name = longest_waiting()};
    if (spare.name.empty()) return make_new();
    spare.directory.reset(::openat(folder_.get(), spare.name.c_str(),
                                   O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (spare.directory && ::flock(spare.directory.get(), LOCK_EX | LOCK_NB) == 0) return spare;
    // Its last shim is on its way out and still has the lock.
    if (!wait_again(spare.name)) discard(spare.name);
    return make_new();
}

Result<SpareFolders::Spare> SpareFolders::make_new() {
    Spare spare{.name = next_name()};
    if (::mkdirat(folder_.get(), spare.name.c_str(), 0700) != 0)
        return os_error("attempt's directory", errno);
    spare.directory.reset(::openat(folder_.get(), spare.name.c_str(),
                                   O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!spare.directory || ::flock(spare.directory.get(), LOCK_EX | LOCK_NB) != 0)
        return os_error("attempt's directory", errno);
    return spare;
}

int SpareFolders::publish(Spare& spare, int attempts, const std::string& name) {
    if (::renameat(folder_.get(), spare.name.c_str(), attempts, name.c_str()) == 0) return 0;
    const int failed = errno;
    discard(spare.name);
    return failed;
}

bool SpareFolders::is_clean(const Fd& directory) const {
    struct stat about {};
    const bool has_work = ::fstatat(directory.get(), files::work, &about, AT_SYMLINK_NOFOLLOW) == 0;
    const bool is_ours = about.st_uid == ::geteuid() && (about.st_mode & 0777) == 0700;
    if (has_work && (!S_ISDIR(about.st_mode) || !is_ours)) return false;
    const auto nothing = [](std::string_view) { return false; };
    const auto known = [](std::string_view name) {
        return name == files::order_draft || name == files::result_draft || name == files::work;
    };
    return is_plain(directory.get(), files::order_draft) &&
           is_plain(directory.get(), files::result_draft) &&
           holds_only(directory.get(), ".", known) &&
           (!has_work || holds_only(directory.get(), files::work, nothing));
}

bool SpareFolders::recycle(int attempts, const std::string& name) {
    const auto spare = next_name();
    if (::renameat(attempts, name.c_str(), folder_.get(), spare.c_str()) != 0)
        return errno == ENOENT;
    const Fd directory(
        ::openat(folder_.get(), spare.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!directory) return discard(spare);
    // What belongs to a job's user goes, also when it is empty: nobody else gets it.
    struct stat about {};
    if (::fstatat(directory.get(), files::work, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
        about.st_uid != ::geteuid())
        ::unlinkat(directory.get(), files::work, AT_REMOVEDIR);
    for (const auto* old : {files::started, files::job_socket, files::shim_socket, files::output,
                            files::output_tail, files::args, files::checkpoint, files::inputs})
        ::unlinkat(directory.get(), old, 0);
    ::renameat(directory.get(), files::order, directory.get(), files::order_draft);
    ::renameat(directory.get(), files::result, directory.get(), files::result_draft);
    if (!is_clean(directory)) return discard(spare);
    return wait_again(spare) || discard(spare);
}

bool SpareFolders::discard(const std::string& name) { return remove_tree(folder_.get(), name); }

}  // namespace perdure
