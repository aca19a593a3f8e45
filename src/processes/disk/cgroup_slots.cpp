#include "processes/disk/cgroup_slots.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>

#include "processes/disk/posix.h"
#include "shim/clocks.h"
#include "shim/format/fd.h"

namespace perdure {

bool is_populated(const std::string& slot) {
    return text_of_file(slot + "/cgroup.events").find("populated 1") != std::string::npos;
}

void kill_slot(const std::string& slot) {
    const Fd file(::open((slot + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
    if (file) write_all(file.get(), "1");
}

bool clear_slot(const std::string& slot) {
    const auto give_up_at = shim_boot_now() + seconds(2);
    while (is_populated(slot)) {
        if (shim_boot_now() >= give_up_at) return false;
        kill_slot(slot);
        ::poll(nullptr, 0, 1);
    }
    return true;
}

namespace {

constexpr std::string_view prefix = "perdure-";
constexpr std::string_view slot_prefix = "slot-";
constexpr std::size_t abandoned_max = 1'000;  // that are looked at in one start
constexpr Duration slots_lock_patience = milliseconds(500);

bool make_group(const std::string& path) {
    return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
}

Fd locked(const std::string& group, int how) {
    Fd folder(::open(group.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder && ::flock(folder.get(), how | LOCK_NB) != 0) folder.reset();
    return folder;
}

bool is_still(const std::string& path, const Fd& folder) {
    struct stat there {};
    struct stat ours {};
    return ::stat(path.c_str(), &there) == 0 && ::fstat(folder.get(), &ours) == 0 &&
           there.st_ino == ours.st_ino;
}

std::vector<std::string> folders_in(const std::string& path) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(path, ignored))
        if (entry.is_directory(ignored)) names.push_back(entry.path().filename());
    return names;
}

std::optional<std::size_t> number_of_slot(std::string_view name) {
    if (!name.starts_with(slot_prefix)) return std::nullopt;
    name.remove_prefix(slot_prefix.size());
    std::size_t number = 0;
    const auto* end = name.data() + name.size();
    const auto [stop, failed] = std::from_chars(name.data(), end, number);
    if (failed != std::errc() || stop != end) return std::nullopt;
    return number;
}

// A worker that was killed, and whose state directory is gone, leaves its group for ever. One whose
// lock can be had is nobody's; the system refuses to remove what a process is in.
void remove_abandoned(const std::string& parent) {
    std::size_t seen = 0;
    for (const auto& name : folders_in(parent)) {
        if (!name.starts_with(prefix)) continue;
        if (++seen > abandoned_max) return;
        const auto group = parent + "/" + name;
        const auto alone = locked(group, LOCK_EX);
        if (!alone) continue;
        for (const auto& slot : folders_in(group)) ::rmdir((group + "/" + slot).c_str());
        ::rmdir(group.c_str());
    }
}

}  // namespace

bool CgroupSlots::make_base() {
    // Another worker may be about to remove it as abandoned: then it is made again.
    const auto give_up_at = shim_boot_now() + slots_lock_patience;
    do {
        if (!make_group(base_)) return false;
        in_use_ = locked(base_, LOCK_SH);
        if (in_use_ && is_still(base_, in_use_)) return true;
        ::poll(nullptr, 0, 1);
    } while (shim_boot_now() < give_up_at);
    in_use_.reset();
    return make_group(base_);
}

void CgroupSlots::detect(const Hierarchies& here, const std::string& name) {
    if (here.v2.empty()) return;
    base_ = here.v2 + "/" + std::string(prefix) + name;
    if (!make_base()) return;
    if (in_use_) remove_abandoned(here.v2);
    // Older kernels have cgroups, but cannot kill one as a whole.
    const bool usable = file_exists(base_ + "/cgroup.kill") &&
                        ::access((base_ + "/cgroup.procs").c_str(), W_OK) == 0;
    if (!usable) return;
    containment_ = here.v2_is_alone ? Containment::v2 : Containment::hybrid;
    // Numbers may be missing: what was free was removed, what ran then is still there.
    for (const auto& folder : folders_in(base_)) {
        const auto number = number_of_slot(folder);
        if (!number) continue;
        free_.push_back(slot(*number));
        made_ = std::max(made_, *number + 1);
    }
    std::ranges::sort(free_, std::greater<>());
}

std::string CgroupSlots::slot(std::size_t number) const {
    return base_ + "/" + std::string(slot_prefix) + std::to_string(number);
}

std::string CgroupSlots::take() {
    if (containment_ == Containment::none) return {};
    if (free_.empty()) free_.push_back(slot(made_++));
    auto taken = std::move(free_.back());
    free_.pop_back();
    // It may be a new one, or somebody has tidied up since it was used.
    if (!make_group(taken) && !(make_base() && make_group(taken))) {
        free_.push_back(std::move(taken));
        return {};
    }
    used_.insert(taken);
    return taken;
}

void CgroupSlots::give_back(const std::string& slot) {
    if (used_.erase(slot) > 0) free_.push_back(slot);
}

void CgroupSlots::keep(const std::string& kept) {
    const auto name = std::string_view(kept).substr(kept.rfind('/') + 1);
    const auto number = number_of_slot(name);
    if (!number || kept != slot(*number)) return;  // below a group that is not ours any more
    std::erase(free_, kept);
    used_.insert(kept);
    made_ = std::max(made_, *number + 1);
}

Fd CgroupSlots::copy_of_lock() const {
    return in_use_ ? Fd(::fcntl(in_use_.get(), F_DUPFD_CLOEXEC, 0)) : Fd();
}

bool CgroupSlots::clear_unused() {
    bool all_gone = true;
    for (const auto& slot : free_) all_gone = clear_slot(slot) && all_gone;
    return all_gone;
}

void CgroupSlots::remove_unused() {
    for (const auto& slot : free_) ::rmdir(slot.c_str());
    free_.clear();
    if (!base_.empty()) ::rmdir(base_.c_str());
}

}  // namespace perdure
