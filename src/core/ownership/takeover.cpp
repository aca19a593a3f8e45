#include "core/ownership/takeover.h"

#include "base/zoo.h"

namespace perdure {

OpeningDecision decide_opening(const OpeningFacts& f, const Timing& timing) {
    if (!f.has_previous) return {Opening::fresh, "O5/new_directory"};
    if (f.life < f.previous_life) return {Opening::stale, "O5/earlier_life"};
    if (f.life == f.previous_life) {
        if (zoo(Bug::duplicate_opening_message)) return {Opening::take_over, "O5/takeover"};
        if (f.same_boot) return {Opening::repeated, "O5/counts_once"};
        return {Opening::stale, "O5/copied_directory"};
    }
    if (f.same_boot) return {Opening::take_over, "O5/takeover"};
    const bool alive = f.clock.now < f.previous_heard_at + timing.suspect;
    if (alive) return {Opening::clone, "O5/clone"};
    return {Opening::after_reboot, "O5/rebooted"};
}

InheritDecision decide_inherit(const InheritFacts& f) {
    using Phase = Listed::Phase;
    const bool has_result = f.listed && f.listed->phase == Phase::ended;
    if (has_result) return {std::nullopt, "O5/result_on_disk"};
    if (f.same_boot && f.listed) return {std::nullopt, "O5/on_disk"};
    // Without asking, `running` was committed after the start. Otherwise whoever holds the lock
    // knows: a directory without `started` in it never started (O4), and without a go none did.
    const bool start_was_confirmed = f.state == JobState::running && !f.asks;
    const bool listed_as_started = f.listed && f.listed->phase == Phase::running;
    // One that starts at once syncs neither its directory nor `started` before it does: after a
    // reboot, perhaps a power loss, their absence proves nothing.
    const bool nothing_was_synced = !f.same_boot && !f.asks;
    // One that asks has made its directory durable before: if its go was committed and there is no
    // directory, that was lost, and it may have run.
    const bool directory_was_lost = f.state == JobState::running && f.asks && !f.listed &&
                                    !zoo(Bug::lost_directory_taken_for_did_not_run);
    const bool may_have_started = listed_as_started || nothing_was_synced || directory_was_lost;
    const auto cause = f.same_boot ? Cause::worker_lost : Cause::host_lost;
    const auto ran = start_was_confirmed ? Ran::yes : may_have_started ? Ran::maybe : Ran::no;
    return {AttemptEnd{.cause = f.kill_cause.value_or(cause),
                       .ran = ran,
                       .clean = f.clean,
                       .reported = true,
                       .alone = f.alone},
            !f.same_boot         ? "O5/rebooted"
            : directory_was_lost ? "O5/directory_lost"
                                 : "O5/not_on_disk"};
}

}  // namespace perdure
