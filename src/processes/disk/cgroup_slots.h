// CgroupSlots: a cgroup (v2) for each attempt that runs, taken from a pool and given back, because
// making one for each attempt costs more than all the rest. What is in a slot is killed as a whole,
// whatever it did to hide. Where the machine does not let us have cgroups there are none, and trees
// are found by descent and by their marks.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "processes/disk/controllers.h"
#include "shim/format/fd.h"

namespace perdure {

// v2: the only hierarchy. hybrid: v2 beside older ones. none: not available to us.
enum class Containment { none, hybrid, v2 };

constexpr std::string_view to_string(Containment containment) {
    switch (containment) {
        case Containment::none: return "none";
        case Containment::hybrid: return "hybrid";
        case Containment::v2: return "v2";
    }
    return "none";
}

class CgroupSlots {
public:
    // None at all until this is called. `name` tells state directories of one machine apart. Also
    // removes the groups of workers that are gone for good, as far as nobody is in them.
    void detect(const Hierarchies& here, const std::string& name);
    Containment containment() const { return containment_; }
    // The parent of all slots; empty if there are none.
    std::string base() const { return containment_ == Containment::none ? "" : base_; }

    // An empty slot, by its absolute path; empty if there are no cgroups.
    std::string take();
    void give_back(const std::string& slot);
    // A slot in which an adopted attempt runs, or will: nobody else gets it, be it there or not.
    void keep(const std::string& slot);
    // The lock that says that somebody uses the slots: also whoever holds a copy does. Each shim
    // has one, because what waits in it for a start has an empty slot. Empty if there is none.
    Fd copy_of_lock() const;
    // Kills what is in slots that nobody has: dead shims left it. At most two seconds.
    bool clear_unused();
    // Takes away what nobody uses.
    void remove_unused();

private:
    std::string slot(std::size_t number) const;
    bool make_base();

    Containment containment_ = Containment::none;
    std::string base_;
    Fd in_use_;  // a shared lock on `base_`
    std::size_t made_ = 0;
    std::set<std::string> used_;
    std::vector<std::string> free_;
};

// Whether a process is in the slot, also below it.
bool is_populated(const std::string& slot);
void kill_slot(const std::string& slot);
// Kills until nothing is left, at most two seconds.
bool clear_slot(const std::string& slot);

}  // namespace perdure
