// Takeover (rule O5): a worker starts on a state directory. Whose attempts does it inherit?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/job/job.h"
#include "core/ownership/reconcile.h"
#include "core/ownership/service_time.h"

namespace perdure {

// How a state directory is known. `life` counts the worker's starts; it is kept in the directory,
// raised durably under its lock, so that a late opening message of an earlier life is recognised.
struct StateDirectory {
    std::string machine;
    std::string boot;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;

    friend auto operator<=>(const StateDirectory&, const StateDirectory&) = default;
    bool same_place(const StateDirectory& o) const {
        return machine == o.machine && device == o.device && inode == o.inode;
    }
};

struct OpeningFacts {
    bool has_previous = false;  // an open session of the same machine, device and inode
    bool same_boot = false;
    std::uint64_t previous_life = 0;
    std::uint64_t life = 0;
    ServiceTime previous_heard_at;
    ServiceTick clock;
};

enum class Opening {
    fresh,         // nothing to inherit
    take_over,     // same boot: what is on disk goes over, epochs unchanged
    after_reboot,  // every old process is dead
    repeated,      // this very opening has been answered: same session, nothing is done twice
    stale,         // an earlier life speaks: fenced
    clone,         // the other one is alive: refused
};
struct OpeningDecision {
    Opening opening = Opening::fresh;
    std::string_view rule;
};
OpeningDecision decide_opening(const OpeningFacts& facts, const Timing& timing);

// One attempt of the previous session.
struct InheritFacts {
    bool same_boot = true;
    std::optional<Listed> listed;  // what the new session found on disk
    JobState state = JobState::starting;
    bool asks = false;
    bool clean = false;
    bool alone = false;  // the only attempt of the previous session (E4)
    std::optional<Cause> kill_cause;
};
struct InheritDecision {
    std::optional<AttemptEnd> end;  // empty: it goes over to the new session
    std::string_view rule;
};
InheritDecision decide_inherit(const InheritFacts& facts);

}  // namespace perdure
