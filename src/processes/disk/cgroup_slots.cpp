#include "processes/disk/cgroup_slots.h"

#include <poll.h>

#include <optional>

#include "shim/clocks.h"
#include "shim/format/fd.h"

namespace perdure {
namespace {

constexpr std::size_t proc_file_max = std::size_t{1} << 20;

std::string text_of(const std::string& path) {
    return read_file(AT_FDCWD, path.c_str(), proc_file_max).value_or("");
}

// "36 25 0:30 / /sys/fs/cgroup rw,... - cgroup2 cgroup2 rw": the fifth word.
std::optional<std::string> mount_of_cgroup2() {
    const auto all = text_of("/proc/self/mountinfo");
    std::string_view rest(all);
    while (!rest.empty()) {
        auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.find(" - cgroup2 ") == std::string_view::npos) continue;
        for (int word = 0; word < 4; ++word) line.remove_prefix(line.find(' ') + 1);
        return std::string(line.substr(0, line.find(' ')));
    }
    return std::nullopt;
}

// "0::/path": where in that hierarchy we are.
std::string own_cgroup() {
    const auto all = "\n" + text_of("/proc/self/cgroup");
    const auto found = all.find("\n0::");
    if (found == std::string::npos) return {};
    const auto begin = found + 4;
    return all.substr(begin, all.find('\n', begin) - begin);
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace

bool is_populated(const std::string& slot) {
    return text_of(slot + "/cgroup.events").find("populated 1") != std::string::npos;
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

void CgroupSlots::detect(const std::string& name) {
    const auto mount = mount_of_cgroup2();
    if (!mount) return;
    const auto own = own_cgroup();
    base_ = *mount + (own == "/" ? "" : own) + "/perdure-" + name;
    if (::mkdir(base_.c_str(), 0755) != 0 && errno != EEXIST) return;
    // Older kernels have cgroups, but cannot kill one as a whole.
    const bool usable =
        exists(base_ + "/cgroup.kill") && ::access((base_ + "/cgroup.procs").c_str(), W_OK) == 0;
    if (!usable) return;
    const bool alone = !text_of(*mount + "/cgroup.controllers").empty();
    containment_ = alone && *mount == "/sys/fs/cgroup" ? Containment::v2 : Containment::hybrid;
    while (exists(slot(made_))) free_.push_back(slot(made_++));
}

std::string CgroupSlots::slot(std::size_t number) const {
    return base_ + "/slot-" + std::to_string(number);
}

std::string CgroupSlots::take() {
    if (containment_ == Containment::none) return {};
    if (free_.empty()) free_.push_back(slot(made_++));
    auto taken = std::move(free_.back());
    free_.pop_back();
    // It may be a new one, or somebody has tidied up since it was used.
    const auto make = [](const std::string& path) {
        return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
    };
    if (!make(taken) && !(make(base_) && make(taken))) {
        free_.push_back(std::move(taken));
        return {};
    }
    used_.insert(taken);
    return taken;
}

void CgroupSlots::give_back(const std::string& slot) {
    if (used_.erase(slot) > 0) free_.push_back(slot);
}

void CgroupSlots::keep(const std::string& slot) {
    if (std::erase(free_, slot) > 0) used_.insert(slot);
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
