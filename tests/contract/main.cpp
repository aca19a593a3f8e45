// The suite's own main: in the build with deliberate bugs it can be told to have one of them.
//   contract_zoo --bugs            lists the bugs that this suite must catch
//   contract_zoo --bug NAME ...    runs the suite with that bug
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "base/zoo.h"

namespace {

using perdure::Bug;

// Bugs of a store. The others are the simulator's to catch.
constexpr std::array store_bugs = {
    Bug::each_server_adds_its_own_second,
    Bug::sweep_applied_after_a_renewal,
    Bug::late_ask_while_waiting_for_retry,
    Bug::late_checkpoint_after_begin,
    Bug::assignment_numbers_per_server,
    Bug::fence_by_worker_name,
    Bug::promotion_forgotten_on_free,
    Bug::leaked_slot,
    Bug::idempotency_key_ignored,
    Bug::callbacks_made_in_another_group,
    Bug::callbacks_without_generation,
    Bug::barrier_released_early,
    Bug::added_callback_lost_at_the_end,
    Bug::counts_lost_on_reclaim,
    Bug::epoch_not_raised,
    Bug::key_not_checked,
    Bug::limit_counts_wrong,
    Bug::refused_change_leaves_traces,
    Bug::group_number_not_checked,
    Bug::fence_not_raised,
    Bug::id_high_water_forgotten,
    Bug::holders_not_freed_on_end,
    Bug::hold_keeps_holders,
    Bug::next_in_line_forgotten,
    Bug::queue_deadline_restarts_on_promotion,
    Bug::first_in_line_jumps_priority,
    Bug::paused_queue_is_claimed,
    Bug::older_stream_may_claim,
    Bug::renewal_lowers_the_deadline,
    Bug::takeover_raises_epoch,
    Bug::late_result_changes_state,
    Bug::move_waiting_unchecked,
    Bug::generation_keeps_counts,
    Bug::reinstate_after_claim,
    Bug::exclusive_is_reinstated,
    Bug::keeper_not_compared,
    Bug::deaf_worker_not_noticed,
    Bug::unstarted_called_lost,
    Bug::turns_forgotten,
    Bug::debt_forgotten,
    Bug::child_of_a_replaced_attempt,
    Bug::unloaded_taken_for_absent,
    Bug::takeover_shortens_the_lease,
    Bug::old_session_says_did_not_run,
    Bug::last_rule_judges,
    Bug::rule_not_counted,
    Bug::worker_policy_ignored,
};

int list_bugs() {
    for (const auto bug : store_bugs) std::puts(to_string(bug).data());
    return 0;
}

bool arm_bug([[maybe_unused]] Bug bug) {
#ifdef PERDURE_ZOO
    perdure::zoo_bug = bug;
    return true;
#else
    return false;
#endif
}

}  // namespace

int main(int count, char** arguments) {
    testing::InitGoogleTest(&count, arguments);
    if (count == 2 && std::string_view(arguments[1]) == "--bugs") return list_bugs();
    if (count == 3 && std::string_view(arguments[1]) == "--bug") {
        const auto bug = perdure::bug_named(arguments[2]);
        if (!bug || !arm_bug(*bug)) {
            std::fprintf(stderr, "there is no bug `%s` in this program\n", arguments[2]);
            return 2;
        }
    } else if (count != 1) {
        std::fprintf(stderr, "usage: %s [--bugs | --bug NAME]\n", arguments[0]);
        return 2;
    }
    return RUN_ALL_TESTS();
}
