// What a person can do to a job: cancel (E1), hold, and deal with a quarantined one (E2).
#pragma once

#include <optional>
#include <string_view>

#include "core/job/job.h"
#include "core/policy/cause.h"

namespace perdure {

struct CancelFacts {
    JobState state = JobState::ready;
    bool asks = false;  // of the attempt in `run`
};
struct CancelDecision {
    enum class Kind { end_now, order_kill, already_ended } kind = Kind::already_ended;
    std::string_view rule;
};
CancelDecision decide_cancel(const CancelFacts& facts);

enum class QuarantineAction { release, accept, discard };
struct QuarantineFacts {
    JobState state = JobState::quarantined;
    bool discarded = false;
    bool process_known_dead = true;  // the last attempt's
    bool may_still_run = false;      // the person's flag --may-still-run
    std::optional<AttemptEnd> late_result;
    bool is_still_told = false;  // that it has ended: others wait for it, and not all know yet (C8)
};
struct QuarantineDecision {
    enum class Kind { refuse, new_generation, end_generation, mark_discarded } kind = Kind::refuse;
    JobState state = JobState::ready;  // of the new generation
    bool stop_old_process = false;
    std::string_view rule;
};
inline constexpr std::string_view rule_accepted = "E2/accepted";
QuarantineDecision decide_quarantine(QuarantineAction action, const QuarantineFacts& facts);

}  // namespace perdure
