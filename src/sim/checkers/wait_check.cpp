// T2: no wait ends early. A retry's wait, a queue timeout and a total timeout count in service time
// from a group that was sent after what the wait begins with: the death of a process, or the first
// time that a client asked. Both are known here on the true clock, and so is the end of the wait.
#include <fmt/format.h>

#include "base/probe.h"
#include "sim/checkers/checker.h"

namespace perdure::sim {
namespace {

// The clock of a server is at most so much too fast (`drift`).
Duration drift_of(Duration wait) { return wait / 190 + milliseconds(1); }

}  // namespace

// With one server the wait begins with a tick of its own. Of several, one that knows another to
// tick leaves that to it: a wait may then end early by the time since the other's tick, which adds
// 1 s at most; and another tick may have been under way since before the wait began.
Duration Checker::earliness_allowed(Duration wait) const {
    const auto ticks =
        parts_.plan.servers > 1 ? parts_.plan.timing.tick_advance_max * 2 : Duration{};
    return drift_of(wait) + ticks;
}

void Checker::check_wait(const JobView& job, TrueTime from, Duration wait, const char* name) {
    reached<"wait_has_ended">();
    const auto took = parts_.world.now() - from;
    if (took + earliness_allowed(wait) < wait)
        report("T2", fmt::format("the {} of {}, {:.3f} s, was over after {:.3f} s", name,
                                 job.id.text(), wait.seconds(), took.seconds()));
}

// When the process of its last attempt died, if that is what its present wait begins with.
std::optional<TrueTime> Checker::died_at(const JobView& job) const {
    if (job.attempts.empty()) return std::nullopt;
    const auto& last = job.attempts.back();
    const auto* run = parts_.witness.run_of({job.id, last.epoch});
    if (!run || !last.end || !last.end->reported) return std::nullopt;
    return run->died;
}

// The wait before the next run, if it has just begun or goes on. Who is lost is given up by a
// server at a time that nobody else knows.
std::optional<Checker::Wait> Checker::retry_wait_of(const JobView& job, const Known& before) const {
    if (job.state != JobState::scheduled || !job.due) return std::nullopt;
    if (before.state == JobState::scheduled && before.epoch == job.epoch) return before.wait;
    const auto died = died_at(job);
    const auto session =
        died ? parts_.session(job.attempts.back().session) : std::optional<SessionView>{};
    if (!session) return std::nullopt;
    return Wait{*died, *job.due - session->clock.now};
}

void Checker::check_waits(const JobView& job, const Known& before) {
    // Ended by its time, not by a person.
    const bool goes_on = job.state == JobState::ready || job.run || job.blocked_on;
    if (before.wait && goes_on)
        check_wait(job, before.wait->from, before.wait->length, "retry wait");
    if (has_ended(before.state) || !has_ended(job.state)) return;
    const auto submit = parts_.history.submits.find(submit_key(*job.spec));
    const bool asked = !job.spec->callback_of && submit != parts_.history.submits.end();
    const auto asked_at = asked ? submit->second.asked_at : std::optional<TrueTime>{};
    const auto stays_since = job.attempts.empty() ? asked_at : died_at(job);
    const auto& timeouts = job.spec->timeouts;
    if (job.cause == Cause::timeout_queue && stays_since)
        check_wait(job, *stays_since, timeouts.queue, "queue timeout");
    if (job.cause == Cause::timeout_total && asked_at && timeouts.total)
        check_wait(job, *asked_at, *timeouts.total, "total timeout");
}

}  // namespace perdure::sim
