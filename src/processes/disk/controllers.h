// Controllers: the cgroup controllers with which this machine lets us hold a tree of processes to a
// limit: those of the slots' own hierarchy (v2), or of older ones beside it (v1). In v1 a group is
// made for each attempt that asks for a limit, and removed after it; in v2 the slot gets the
// limits, and loses them when it is given back. Resource limits of single processes (setrlimit) are
// no substitute: they count address space, or processes of a user, not what a tree uses.
#pragma once

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/job/resources.h"

namespace perdure {

enum class Controller { memory, cpu, pids };
inline constexpr std::size_t controller_count = 3;
inline constexpr std::array<std::string_view, controller_count> controller_names = {"memory", "cpu",
                                                                                    "pids"};

// Our own group in each hierarchy, by its absolute path; empty: there is none.
struct Hierarchies {
    std::string v2;
    bool v2_is_alone = false;  // no controller is in an older hierarchy
    std::array<std::string, controller_count> v1;
};
// From the texts of /proc/self/mountinfo and /proc/self/cgroup.
Hierarchies hierarchies_in(std::string_view mountinfo, std::string_view own);
Hierarchies hierarchies_here();

// What an attempt's process has to know about its limits.
struct Limited {
    std::vector<std::string> joins;  // groups besides its slot
    std::string oom_counter;         // see Order
};

class Controllers {
public:
    // `slots` is the parent of all slots (v2), or empty; `name` tells state directories apart.
    void detect(const Hierarchies& here, const std::string& slots, const std::string& name);
    Enforceable enforceable() const;

    // Sets the limits, all or none. `slot` may be empty. overloaded: one cannot be set, and why.
    Result<Limited> limit(const Resources& asked, const std::string& slot,
                          const std::string& attempt);
    // After the end of its last process.
    void release(const std::string& slot, const std::string& attempt);
    // Removes what was left by attempts that are not in `alive`.
    void clear(const std::set<std::string>& alive);

private:
    struct Place {
        std::string base;  // v1: parent of the groups
        bool v2 = false;   // it is the slots' own
        bool usable() const { return v2 || !base.empty(); }
    };
    const Place& at(Controller controller) const {
        return places_[static_cast<std::size_t>(controller)];
    }
    // The folder in which this controller's files for the attempt are; empty: it cannot be made.
    std::string folder(Controller controller, const std::string& slot, const std::string& attempt,
                       Limited& into) const;
    Result<void> apply(const Resources& asked, const std::string& slot, const std::string& attempt,
                       Limited& into) const;

    std::array<Place, controller_count> places_;
};

// "memory, cpu" in the order of the fields; "none" if there is nothing.
std::string to_text(const Enforceable& enforceable);

}  // namespace perdure
