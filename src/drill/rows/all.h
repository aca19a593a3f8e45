// The functions behind the rows, by what is made to fail. Each plays its failure once, on the site
// of its lane, and answers the seconds that count.
#pragma once

#include "drill/row.h"

namespace perdure::drill {

// scenario_rows.cpp: a part of rows()
const std::vector<Row>& scenario_rows();

// jobs.cpp: a single job and its supervisor
Result<double> cannot_be_launched(const Run& run);
Result<double> killed_before_checkpoint(const Run& run);
Result<double> killed_after_checkpoint(const Run& run);
Result<double> hangs(const Run& run);
Result<double> exits_without_a_word(const Run& run);
Result<double> leaves_a_tree_behind(const Run& run);
Result<double> slot_is_free_again(const Run& run);
Result<double> shim_is_killed(const Run& run);
Result<double> is_cancelled(const Run& run);
Result<double> is_poison(const Run& run);

// policies.cpp: what the author said should happen
Result<double> fails_by_itself(const Run& run);
Result<double> conflicts_by_default(const Run& run);
Result<double> conflicts_with_never(const Run& run);
Result<double> conflicts_for_ever(const Run& run);
Result<double> is_disconnected(const Run& run);
Result<double> asks_for_a_time(const Run& run);
Result<double> waits_too_long(const Run& run);
Result<double> retry_now_keeps_its_limit(const Run& run);
Result<double> retry_later_frees_its_limit(const Run& run);

// losses.cpp: workers and hosts
Result<double> worker_and_watchdog_are_killed(const Run& run);
Result<double> host_is_gone(const Run& run);
Result<double> host_is_cut_off(const Run& run);
Result<double> host_is_cut_off_with_key(const Run& run);
Result<double> host_is_cut_off_with_once(const Run& run);
Result<double> host_is_paused(const Run& run);
Result<double> host_is_gone_with_never(const Run& run);
Result<double> host_is_gone_with_forever(const Run& run);
Result<double> is_interrupted_ten_times(const Run& run);

// partings.cpp: workers that stop, messages that get lost
Result<double> worker_is_stopped(const Run& run);
Result<double> worker_is_stopped_with_never(const Run& run);
Result<double> worker_is_replaced(const Run& run);
Result<double> report_is_lost(const Run& run);
Result<double> assigned_to_a_worker_that_stops(const Run& run);
Result<double> kills_its_worker(const Run& run);

// faults.cpp: what only a fault point can make happen at will
Result<double> assignment_is_lost(const Run& run);
Result<double> shim_is_not_launched(const Run& run);
Result<double> lock_is_held(const Run& run);
Result<double> process_cannot_be_set_up(const Run& run);
Result<double> clean_up_fails(const Run& run);
Result<double> store_conflicts(const Run& run);
Result<double> worker_is_deaf(const Run& run);

// restarts.cpp: our own processes
Result<double> worker_is_killed(const Run& run);
Result<double> server_is_killed(const Run& run);
Result<double> everything_is_killed(const Run& run);
Result<double> servers_are_down(const Run& run);
Result<double> disk_is_full(const Run& run);

}  // namespace perdure::drill
