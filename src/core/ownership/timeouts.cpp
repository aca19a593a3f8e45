#include "core/ownership/timeouts.h"

#include "base/zoo.h"

namespace perdure {

WaitDecision decide_wait(const WaitFacts& f) {
    using Kind = WaitDecision::Kind;
    if (has_ended(f.state)) return {Kind::wait, Cause::timeout_queue, "E5/ended"};
    if (f.total_deadline && f.now >= *f.total_deadline) {
        const bool in_run = place_of(f.state).place == Place::run;
        if (!in_run) return {Kind::fail, Cause::timeout_total, "E5/total"};
        if (!f.kill_ordered) return {Kind::order_kill, Cause::timeout_total, "E5/total"};
        return {Kind::wait, Cause::timeout_total, "E5/kill_is_ordered"};
    }
    const bool queued =
        f.state == JobState::ready || f.state == JobState::blocked || f.state == JobState::waiting;
    if (queued && f.queue_deadline) {
        bool over = f.now >= *f.queue_deadline;
        if (zoo(Bug::inverted_queue_timeout)) over = !over;
        if (over) return {Kind::expire, Cause::timeout_queue, "E5/queue"};
    }
    if (f.kept_until && f.now >= *f.kept_until)
        return {Kind::free_holders, Cause::timeout_queue, "C4/kept_too_long"};
    if (f.state == JobState::scheduled || f.state == JobState::waiting) {
        const bool due = (f.due && f.now >= *f.due) || (f.date && f.wall >= *f.date);
        if (due) return {Kind::make_ready, Cause::timeout_queue, "E5/due"};
    }
    return {Kind::wait, Cause::timeout_queue, "E5/not_yet"};
}

Duration decide_retention(JobState ended_as, bool discarded, const Timing& timing) {
    const bool waits_for_a_person = ended_as == JobState::quarantined && !discarded;
    const auto kept = waits_for_a_person ? timing.unresolved : timing.retention;
    return zoo(Bug::retention_early) ? kept / 2 : kept;
}

}  // namespace perdure
