#include "processes/disk/cgroup_slots.h"

#include <poll.h>

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

void CgroupSlots::detect(const Hierarchies& here, const std::string& name) {
    if (here.v2.empty()) return;
    base_ = here.v2 + "/perdure-" + name;
    if (::mkdir(base_.c_str(), 0755) != 0 && errno != EEXIST) return;
    // Older kernels have cgroups, but cannot kill one as a whole.
    const bool usable = file_exists(base_ + "/cgroup.kill") &&
                        ::access((base_ + "/cgroup.procs").c_str(), W_OK) == 0;
    if (!usable) return;
    containment_ = here.v2_is_alone ? Containment::v2 : Containment::hybrid;
    while (file_exists(slot(made_))) free_.push_back(slot(made_++));
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
