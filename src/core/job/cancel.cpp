#include "core/job/cancel.h"

namespace perdure {

CancelDecision decide_cancel(const CancelFacts& f) {
    using Kind = CancelDecision::Kind;
    if (has_ended(f.state)) return {Kind::already_ended, "E1/ended_before"};
    if (f.state == JobState::running) return {Kind::order_kill, "E1/report_decides"};
    // Under ask, `starting` means that nothing has started; a late ask will be fenced.
    const bool may_have_started = f.state == JobState::starting && !f.asks;
    if (may_have_started) return {Kind::order_kill, "E1/report_decides"};
    return {Kind::end_now, "E1/not_started"};
}

QuarantineDecision decide_quarantine(QuarantineAction action, const QuarantineFacts& f) {
    using Kind = QuarantineDecision::Kind;
    if (f.state != JobState::quarantined) return {.rule = "E2/not_quarantined"};
    const bool alive = !f.process_known_dead;
    // Who waits for this generation must not be told of the end of another one.
    const bool begins_another = action != QuarantineAction::discard;
    if (begins_another && f.is_still_told) return {.rule = "E2/still_told"};
    switch (action) {
        case QuarantineAction::release:
            if (alive && !f.may_still_run) return {.rule = "E2/may_still_run"};
            return {Kind::new_generation, JobState::ready, alive, "E2/released"};
        case QuarantineAction::accept: {
            if (!f.late_result) return {.rule = "E2/no_late_result"};
            const auto state = f.late_result->succeeded ? JobState::succeeded : JobState::failed;
            return {Kind::end_generation, state, false, rule_accepted};
        }
        case QuarantineAction::discard:
            if (f.discarded) return {.rule = "E2/discarded_before"};
            return {Kind::mark_discarded, JobState::quarantined, alive, "E2/discarded"};
    }
    return {.rule = "E2/not_quarantined"};
}

}  // namespace perdure
