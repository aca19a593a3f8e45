// The bug zoo: deliberate bugs, each leaving out one rule, that the simulator or the contract
// suite must catch. They exist in the programs built for that purpose only; in every other build
// zoo() is a constant and the compiler drops the branch.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace perdure {

enum class Bug {
    none,
    // Time: the simulator must catch them.
    each_server_adds_its_own_second,
    leases_expire_during_an_outage,
    unwritten_tick_is_told,
    // Ownership
    sweep_applied_after_a_renewal,
    late_ask_while_waiting_for_retry,
    start_at_once_for_exclusive,
    duplicate_opening_message,
    assignment_numbers_per_server,
    no_fence_on_heartbeat,
    fence_by_worker_name,
    silence_taken_for_did_not_run,
    no_self_kill_of_exclusive,
    result_forgotten_when_report_is_lost,
    late_checkpoint_after_begin,
    takeover_shortens_the_lease,
    gone_taken_for_lost_commits,
    // Commit
    ack_before_commit,
    blind_repeat_of_unknown_outcome,
    promotion_forgotten_on_free,
    leaked_slot,
    idempotency_key_ignored,
    needed_wake_up,
    limit_lowered_ignored,
    pause_forgotten,
    retention_early,
    // What the end of one job means to others
    callbacks_made_in_another_group,
    callbacks_without_generation,
    barrier_released_early,
    added_callback_lost_at_the_end,
    // Recovery
    counts_lost_on_reclaim,
    crash_not_counted,
    inverted_queue_timeout,
    once_retried_when_dirty,
    cancel_retried,
    last_rule_judges,
    rule_not_counted,
    worker_policy_ignored,
    // One history shows them at once, chance hardly ever: the stories must catch them.
    presumed_lost_never_reinstated,
    old_go_never_expires,
    waiters_never_refused,
    suspect_is_charged,
    crash_loop_goes_unjudged,
    lost_directory_taken_for_did_not_run,
    waits_count_from_the_last_tick,
    // Of a store: the contract suite must catch them.
    old_session_says_did_not_run,
    epoch_not_raised,
    key_not_checked,
    limit_counts_wrong,
    refused_change_leaves_traces,
    group_number_not_checked,
    fence_not_raised,
    id_high_water_forgotten,
    holders_not_freed_on_end,
    hold_keeps_holders,
    next_in_line_forgotten,
    queue_deadline_restarts_on_promotion,
    first_in_line_jumps_priority,
    paused_queue_is_claimed,
    older_stream_may_claim,
    renewal_lowers_the_deadline,
    takeover_raises_epoch,
    late_result_changes_state,
    move_waiting_unchecked,
    generation_keeps_counts,
    reinstate_after_claim,
    exclusive_is_reinstated,
    keeper_not_compared,
    suspect_beside_others,
    deaf_worker_not_noticed,
    unstarted_called_lost,
    turns_forgotten,
    debt_forgotten,
    unloaded_taken_for_absent,
    child_of_a_replaced_attempt,
    // Of the rest: tests/promises says which test must catch each.
    why_forgets_a_blocker,
    tree_left_alive,
    signal_called_exit,
};

constexpr std::array zoo_names = {
    std::string_view{"none"},
    std::string_view{"each_server_adds_its_own_second"},
    std::string_view{"leases_expire_during_an_outage"},
    std::string_view{"unwritten_tick_is_told"},
    std::string_view{"sweep_applied_after_a_renewal"},
    std::string_view{"late_ask_while_waiting_for_retry"},
    std::string_view{"start_at_once_for_exclusive"},
    std::string_view{"duplicate_opening_message"},
    std::string_view{"assignment_numbers_per_server"},
    std::string_view{"no_fence_on_heartbeat"},
    std::string_view{"fence_by_worker_name"},
    std::string_view{"silence_taken_for_did_not_run"},
    std::string_view{"no_self_kill_of_exclusive"},
    std::string_view{"result_forgotten_when_report_is_lost"},
    std::string_view{"late_checkpoint_after_begin"},
    std::string_view{"takeover_shortens_the_lease"},
    std::string_view{"gone_taken_for_lost_commits"},
    std::string_view{"ack_before_commit"},
    std::string_view{"blind_repeat_of_unknown_outcome"},
    std::string_view{"promotion_forgotten_on_free"},
    std::string_view{"leaked_slot"},
    std::string_view{"idempotency_key_ignored"},
    std::string_view{"needed_wake_up"},
    std::string_view{"limit_lowered_ignored"},
    std::string_view{"pause_forgotten"},
    std::string_view{"retention_early"},
    std::string_view{"callbacks_made_in_another_group"},
    std::string_view{"callbacks_without_generation"},
    std::string_view{"barrier_released_early"},
    std::string_view{"added_callback_lost_at_the_end"},
    std::string_view{"counts_lost_on_reclaim"},
    std::string_view{"crash_not_counted"},
    std::string_view{"inverted_queue_timeout"},
    std::string_view{"once_retried_when_dirty"},
    std::string_view{"cancel_retried"},
    std::string_view{"last_rule_judges"},
    std::string_view{"rule_not_counted"},
    std::string_view{"worker_policy_ignored"},
    std::string_view{"presumed_lost_never_reinstated"},
    std::string_view{"old_go_never_expires"},
    std::string_view{"waiters_never_refused"},
    std::string_view{"suspect_is_charged"},
    std::string_view{"crash_loop_goes_unjudged"},
    std::string_view{"lost_directory_taken_for_did_not_run"},
    std::string_view{"waits_count_from_the_last_tick"},
    std::string_view{"old_session_says_did_not_run"},
    std::string_view{"epoch_not_raised"},
    std::string_view{"key_not_checked"},
    std::string_view{"limit_counts_wrong"},
    std::string_view{"refused_change_leaves_traces"},
    std::string_view{"group_number_not_checked"},
    std::string_view{"fence_not_raised"},
    std::string_view{"id_high_water_forgotten"},
    std::string_view{"holders_not_freed_on_end"},
    std::string_view{"hold_keeps_holders"},
    std::string_view{"next_in_line_forgotten"},
    std::string_view{"queue_deadline_restarts_on_promotion"},
    std::string_view{"first_in_line_jumps_priority"},
    std::string_view{"paused_queue_is_claimed"},
    std::string_view{"older_stream_may_claim"},
    std::string_view{"renewal_lowers_the_deadline"},
    std::string_view{"takeover_raises_epoch"},
    std::string_view{"late_result_changes_state"},
    std::string_view{"move_waiting_unchecked"},
    std::string_view{"generation_keeps_counts"},
    std::string_view{"reinstate_after_claim"},
    std::string_view{"exclusive_is_reinstated"},
    std::string_view{"keeper_not_compared"},
    std::string_view{"suspect_beside_others"},
    std::string_view{"deaf_worker_not_noticed"},
    std::string_view{"unstarted_called_lost"},
    std::string_view{"turns_forgotten"},
    std::string_view{"debt_forgotten"},
    std::string_view{"unloaded_taken_for_absent"},
    std::string_view{"child_of_a_replaced_attempt"},
    std::string_view{"why_forgets_a_blocker"},
    std::string_view{"tree_left_alive"},
    std::string_view{"signal_called_exit"},
};

// Where each of the three groups begins.
inline constexpr Bug first_story_bug = Bug::presumed_lost_never_reinstated;
inline constexpr Bug first_contract_bug = Bug::old_session_says_did_not_run;

#ifdef PERDURE_ZOO
inline Bug zoo_bug = Bug::none;
inline bool zoo(Bug bug) { return zoo_bug == bug; }
#else
constexpr bool zoo(Bug) { return false; }
#endif

constexpr std::string_view to_string(Bug bug) { return zoo_names[static_cast<std::size_t>(bug)]; }

constexpr std::optional<Bug> bug_named(std::string_view name) {
    for (std::size_t i = 0; i < zoo_names.size(); ++i) {
        if (zoo_names[i] == name) return static_cast<Bug>(i);
    }
    return std::nullopt;
}

}  // namespace perdure
