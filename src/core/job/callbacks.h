// Callbacks and `after`: what the end of one job means to others [P7], rule C4.
//   K1  In the transaction that ends a generation of a job, each callback that fits the end becomes
//       a job. The same (job, generation, number) never becomes a second one.
//   K2  A job with `after` leaves `wait` in the transaction that ends the last of the others, or
//   the
//       first one whose end does not fit: then it is cancelled.
//   K3  What a job waited for is kept with the job itself: nobody's retention takes it away.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/job/job.h"
#include "core/policy/cause.h"

namespace perdure {

inline constexpr std::size_t callbacks_max = 100;  // of one job, all levels together
inline constexpr std::size_t callback_levels_max = 8;
inline constexpr std::size_t after_max = 1'000;  // jobs that one job waits for

// Whether a job that ended like this fires what waits for `on`. False while it has not ended.
// succeeded: success, end. failed, expired, quarantined: failure, end. cancelled: end alone.
bool fires_on(Trigger on, JobState ended_as);

// How a job ended, as those who waited for it are told.
struct Input {
    JobId job;
    std::uint32_t generation = 1;
    JobState state = JobState::succeeded;
    Cause cause = Cause::exit;
    std::optional<std::int32_t> exit_code;  // if its process exited
    std::string result;                     // JSON text; empty: it left none
    bool result_left_out = false;           // it was too large

    friend bool operator==(const Input&, const Input&) = default;
};
inline constexpr std::size_t input_result_max = std::size_t{64} << 10;
inline constexpr std::size_t input_results_max = std::size_t{1} << 20;  // of one job together

// What of an end goes into an Input. `end`: of its last attempt in that generation, if it had one.
Input input_of(const CallbackOf& ended, JobState state, Cause cause, const AttemptEnd* end,
               std::string_view result);
// Leaves out each result with which all of them together would be too large.
std::vector<Input> within_limit(std::vector<Input> inputs);

// One of the others that a job waits for.
struct AwaitedFacts {
    Trigger on = Trigger::success;
    std::optional<JobState> ended_as;
};
struct AfterDecision {
    enum class Kind { wait, go_on, cancel } kind = Kind::wait;
    std::string_view rule;
};
AfterDecision decide_after(const std::vector<AwaitedFacts>& others);

// A callback of a job, as its ends see it. Added ones count from the generation they were added in.
struct CallbackRule {
    std::uint32_t number = 0;
    Trigger on = Trigger::end;
    std::uint32_t since_generation = 1;
};
// Which of them this end makes, in order of their numbers.
std::vector<CallbackOf> callbacks_made_by(JobId job, std::uint32_t generation, JobState ended_as,
                                          const std::vector<CallbackRule>& rules);
// All that must have been made so far. Earlier generations ended in quarantine: nothing else can be
// left (J3).
std::vector<CallbackOf> callbacks_owed(JobId job, std::uint32_t generation, JobState state,
                                       const std::vector<CallbackRule>& rules);

// Refusals that every store gives alike.
Error no_such_other(JobId other);
Error other_tenant_in_batch();
Error too_many_callbacks();

// The callback as a job of its own.
JobSpec made_from(const JobSpec& callback, const CallbackOf& of);

}  // namespace perdure
