// A job that kills its worker cannot hide behind adoption, and nobody else pays for it (rule O9,
// [P6]). After three crashes in a minute a worker is on probation: it goes on working, but takes
// new attempts one by one until it has shown that it survives. At each further crash one of the
// attempts that ran is ended: charged if it ran alone, as a suspect otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "core/job/job.h"
#include "core/ownership/timing.h"
#include "core/policy/cause.h"
#include "core/policy/policy.h"

namespace perdure {

// How earlier lives of a worker ended, as its state directory knows.
struct CrashHistory {
    bool follows_a_crash = false;   // the life before this one did not stop by itself
    std::vector<BootTime> crashes;  // in a row; the oldest first
};

// The crashes that still say something at `now`: each at most a minute before the next one, and
// the last at most a minute ago. Of a long row only the newest are kept.
std::vector<BootTime> crashes_in_a_row(std::vector<BootTime> crashes, BootTime now);

struct CrashLoopDecision {
    bool on_probation = false;
    bool ends_one = false;  // decide_culprit() says which
    bool spares_nobody =
        false;  // also what must not be repeated; and nothing new is taken at first
    std::string_view rule;
};
CrashLoopDecision decide_crash_loop(const CrashHistory& history, const Timing& timing);

// An attempt that had started before the crash and that the next life has found.
struct CrashWitness {
    AttemptKey attempt;
    std::uint64_t life = 0;  // of the worker, when the attempt came; then by assignment
    std::uint64_t assignment = 0;
    bool alive = true;  // false: it has ended by itself meanwhile
    Effects effects = Effects::repeatable;
    PolicyName policy = PolicyName::default_;

    auto age() const { return std::tie(life, assignment, attempt); }
};
struct CulpritFacts {
    std::vector<CrashWitness> ran;  // all that ran when the worker crashed
    bool spares_nobody = false;
};
struct CulpritDecision {
    std::optional<AttemptKey> attempt;  // empty: nobody is ended
    Cause cause = Cause::suspect;
    std::string_view rule;
};
CulpritDecision decide_culprit(const CulpritFacts& facts);

// How many slots a worker offers, those of its adopted attempts included.
struct SlotFacts {
    std::uint32_t slots = 1;  // as configured
    bool on_probation = false;
    bool spares_nobody = false;
    std::uint32_t adopted = 0;    // that still run
    std::uint32_t good_ends = 0;  // attempts that ended by themselves in this life
    Duration alive_for;
};
struct SlotDecision {
    std::uint32_t slots = 0;
    std::string_view rule;
};
SlotDecision decide_slots(const SlotFacts& facts, const Timing& timing);

// Did the attempt end without any harm to its worker?
bool is_good_end(const AttemptEnd& end);

}  // namespace perdure
