// Reports: whose word about an end counts, and what the job does then (O1, E1, E3).
#include "tests/contract/audit.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

TEST_P(StoreContract, a_success_ends_the_job) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    const auto reported = get<Reported>(report(worker, attempt, success()));
    EXPECT_EQ(reported.answer, ReportAnswer::accept);
    EXPECT_EQ(state(id), JobState::succeeded);
    EXPECT_EQ(last_attempt(id).end, success());
    EXPECT_EQ(last_attempt(id).rule, job(id).rule);
    EXPECT_TRUE(session(worker).runs.empty());
}

TEST_P(StoreContract, a_failure_ends_the_job_with_its_cause) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    finish(worker, run_one(worker), exit_with(3));
    const auto view = job(id);
    EXPECT_EQ(view.state, JobState::failed);
    EXPECT_EQ(view.cause, Cause::exit);
    EXPECT_EQ(view.rule, "default/own_failure");
    EXPECT_EQ(view.attempts.back().end->exit_code, 3);
}

TEST_P(StoreContract, a_start_and_an_end_may_be_reported_together) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = claim_one(worker);
    const auto reply = commit({Start{worker, attempt}, Report{worker, attempt, success()}});
    EXPECT_TRUE(reply.replies[0].has_value());
    EXPECT_TRUE(reply.replies[1].has_value());
    EXPECT_EQ(state(id), JobState::succeeded);
}

TEST_P(StoreContract, an_end_counts_without_a_confirmed_start) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    finish(worker, claim_one(worker), success());
    EXPECT_EQ(state(id), JobState::succeeded);
}

TEST_P(StoreContract, a_repeated_report_is_acknowledged_and_changes_nothing) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    finish(worker, attempt, crash());
    const auto before = describe(audit());
    EXPECT_EQ(get<Reported>(report(worker, attempt, crash())).answer, ReportAnswer::repeated);
    EXPECT_EQ(get<Reported>(report(worker, attempt, success())).answer, ReportAnswer::repeated);
    EXPECT_EQ(describe(audit()), before);
}

TEST_P(StoreContract, a_report_by_a_session_that_never_owned_the_attempt_is_fenced) {
    const auto mine = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(mine);
    EXPECT_TRUE(refused(report(other, attempt, success()), Errc::fenced));
    EXPECT_TRUE(refused(report(mine, {id, Epoch{2}}, success()), Errc::fenced));
    EXPECT_TRUE(refused(report(mine, {JobId{next_id()}, Epoch{1}}, success()), Errc::fenced));
    EXPECT_EQ(state(id), JobState::running);
    EXPECT_EQ(audit().fenced, 3U);
}

TEST_P(StoreContract, finish_with_an_old_epoch_is_filed_late_and_changes_no_state) {
    const auto first = open_session({.name = "worker-1"});
    const auto second = open_session({.name = "worker-2"});
    const auto id = submit(Wanted::job());
    const auto old_attempt = run_one(first);
    lose(old_attempt);
    EXPECT_EQ(send_heartbeat(second).answer, HeartbeatAnswer::accept);
    pass_with_heartbeats(minutes(1));
    sweep();
    const auto attempt = run_one(second);
    ASSERT_EQ(attempt.job, id);

    const auto reported = get<Reported>(report(first, old_attempt, success()));
    EXPECT_EQ(reported.answer, ReportAnswer::file_late);
    EXPECT_EQ(state(id), JobState::running);
    EXPECT_EQ(job(id).attempts[0].late_result, success());
    EXPECT_FALSE(job(id).attempts[0].end->reported);
    EXPECT_EQ(audit().fenced, 1U);
    finish(second, attempt, exit_with(1));
    EXPECT_EQ(state(id), JobState::failed);
}

TEST_P(StoreContract, an_end_that_is_reported_is_no_presumption_whatever_it_says) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    auto end = crash();
    end.reported = false;
    finish(worker, attempt, end);
    EXPECT_TRUE(last_attempt(id).end->reported);
    EXPECT_EQ(get<Reported>(report(worker, attempt, success())).answer, ReportAnswer::repeated);
    EXPECT_EQ(list(worker, attempt).stop, std::vector{attempt}) << "it is not reinstated";
}

TEST_P(StoreContract, a_late_result_is_a_report_whatever_it_says) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = run_one(worker);
    lose(attempt);
    auto end = success();
    end.reported = false;
    EXPECT_EQ(get<Reported>(report(worker, attempt, end)).answer, ReportAnswer::file_late);
    EXPECT_EQ(last_attempt(id).late_result, success());
}

TEST_P(StoreContract, a_report_from_an_ended_session_counts) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    ASSERT_TRUE(apply(EndSession{worker}).has_value());
    finish(worker, attempt, success());
    EXPECT_EQ(state(id), JobState::succeeded);
}

TEST_P(StoreContract, a_report_from_the_life_that_was_taken_over_counts) {
    const auto old_life = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(old_life);
    ASSERT_TRUE(apply(takeover_of(old_life, {})).has_value());
    finish(old_life, attempt, success());
    EXPECT_EQ(state(id), JobState::succeeded);
}

// The heir may have started it meanwhile.
TEST_P(StoreContract, a_life_that_was_taken_over_cannot_say_that_it_did_not_run) {
    const auto old_life = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = claim_one(old_life);
    const auto heir = takeover_of(old_life, {});
    ASSERT_TRUE(apply(heir).has_value());
    ASSERT_TRUE(start(heir.session, attempt).has_value());
    EXPECT_TRUE(refused(report(old_life, attempt, did_not_run()), Errc::fenced));
    EXPECT_EQ(state(id), JobState::running);
    finish(heir.session, attempt, success());
}

TEST_P(StoreContract, an_ended_session_that_still_owns_an_attempt_may_say_that_it_did_not_run) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = claim_one(worker);
    ASSERT_TRUE(apply(EndSession{worker}).has_value());
    finish(worker, attempt, did_not_run());
    EXPECT_EQ(state(id), JobState::ready);
}

TEST_P(StoreContract, a_result_on_disk_counts_from_the_next_life_of_its_directory) {
    const auto old_life = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(old_life);
    lose(attempt);
    const auto heir = takeover_of(old_life, {.boot = "boot-2"});
    ASSERT_TRUE(apply(heir).has_value());
    EXPECT_EQ(get<Reported>(report(heir.session, attempt, success())).answer,
              ReportAnswer::correct);
    EXPECT_EQ(state(id), JobState::succeeded);
}

TEST_P(StoreContract, a_presumed_loss_is_corrected_by_the_true_end) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    EXPECT_TRUE(job(id).presumed_lost);
    EXPECT_EQ(get<Reported>(report(worker, attempt, success())).answer, ReportAnswer::correct);
    EXPECT_EQ(state(id), JobState::succeeded);
    EXPECT_FALSE(job(id).presumed_lost);
    EXPECT_EQ(last_attempt(id).end, success());
    EXPECT_EQ(job(id).attempts.size(), 1U);
}

TEST_P(StoreContract, a_corrected_end_is_decided_anew) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    ASSERT_EQ(state(id), JobState::scheduled);  // alone when it was lost: as after a crash
    EXPECT_EQ(get<Reported>(report(worker, attempt, conflict_with_somebody())).answer,
              ReportAnswer::correct);
    EXPECT_EQ(state(id), JobState::ready);
    EXPECT_EQ(send_heartbeat(worker).answer, HeartbeatAnswer::accept);
    claim_one(worker);
    EXPECT_EQ(job(id).run->counts[CauseClass::crash], 0U);
    EXPECT_EQ(job(id).run->counts[CauseClass::conflict], 1U);
}

TEST_P(StoreContract, a_correction_finds_the_job_blocked_as_well) {
    const auto worker = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    const auto id = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    const auto second = submit(Wanted::keyed("k"));
    lose(attempt);
    EXPECT_EQ(send_heartbeat(other).answer, HeartbeatAnswer::accept);
    EXPECT_EQ(claim_one(other).job, second);
    pass_with_heartbeats(seconds(2));
    sweep();
    EXPECT_TRUE(claim(other).empty());
    ASSERT_EQ(state(id), JobState::blocked);
    EXPECT_TRUE(job(id).presumed_lost);
    EXPECT_EQ(get<Reported>(report(worker, attempt, success())).answer, ReportAnswer::correct);
    EXPECT_EQ(state(id), JobState::succeeded);
}

TEST_P(StoreContract, a_correction_does_not_let_go_what_a_person_holds) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    ASSERT_TRUE(apply(Hold{id, true}).has_value());
    EXPECT_EQ(get<Reported>(report(worker, attempt, conflict_with_somebody())).answer,
              ReportAnswer::correct);
    EXPECT_EQ(state(id), JobState::blocked);
    EXPECT_EQ(last_attempt(id).end, conflict_with_somebody());
}

TEST_P(StoreContract, a_result_of_a_lost_attempt_of_a_cancelled_job_is_filed_late) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    ASSERT_TRUE(apply(Cancel{id}).has_value());
    EXPECT_EQ(get<Reported>(report(worker, attempt, success())).answer, ReportAnswer::file_late);
    EXPECT_EQ(state(id), JobState::cancelled);
    EXPECT_EQ(last_attempt(id).late_result, success());
}

TEST_P(StoreContract, the_first_late_result_is_kept) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = run_one(worker);
    lose(attempt);
    ASSERT_EQ(state(id), JobState::quarantined);
    EXPECT_EQ(get<Reported>(report(worker, attempt, success())).answer, ReportAnswer::file_late);
    EXPECT_EQ(get<Reported>(report(worker, attempt, crash())).answer, ReportAnswer::file_late);
    EXPECT_EQ(last_attempt(id).late_result, success());
    EXPECT_EQ(state(id), JobState::quarantined);
}

TEST_P(StoreContract, a_retry_later_waits_in_service_time) {
    const auto worker = open_session();
    auto spec = Wanted::job();
    spec.policy.retries = 1;
    spec.policy.retry_wait = seconds(7);
    const auto id = submit(spec);
    finish(worker, run_one(worker), exit_with(1));
    EXPECT_EQ(state(id), JobState::scheduled);
    EXPECT_EQ(job(id).due, now() + seconds(7));
    EXPECT_FALSE(job(id).date.has_value());
}

TEST_P(StoreContract, a_retry_at_a_date_waits_in_wall_time) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    finish(worker, run_one(worker), wants_to_run_at(wall + hours(1)));
    EXPECT_EQ(state(id), JobState::scheduled);
    EXPECT_EQ(job(id).date, wall + hours(1));
    EXPECT_FALSE(job(id).due.has_value());
}

TEST_P(StoreContract, a_retry_begins_a_new_stay_in_the_queue) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    pass_with_heartbeats(seconds(30));
    finish(worker, attempt, conflict_with_somebody());
    EXPECT_EQ(state(id), JobState::ready);
    EXPECT_EQ(job(id).queue_deadline, now() + job(id).spec->timeouts.queue);
}

TEST_P(StoreContract, the_third_crash_is_quarantined_and_none_is_forgotten) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    for (int crashes = 1; crashes <= 3; ++crashes) {
        EXPECT_FALSE(has_ended(state(id)));
        finish(worker, run_one(worker), crash());
        pass_with_heartbeats(minutes(1));
        sweep();
    }
    EXPECT_EQ(state(id), JobState::quarantined);
    EXPECT_EQ(job(id).attempts.size(), 3U);
}

TEST_P(StoreContract, a_report_decides_what_a_cancel_of_a_running_job_comes_to) {
    const auto worker = open_session();
    const auto lucky = submit(Wanted::job());
    const auto unlucky = submit(Wanted::job());
    const auto first = run_one(worker);
    const auto second = run_one(worker);
    ASSERT_TRUE(apply(Cancel{lucky}).has_value());
    ASSERT_TRUE(apply(Cancel{unlucky}).has_value());
    finish(worker, first, success());
    finish(worker, second, conflict_with_somebody());
    EXPECT_EQ(state(lucky), JobState::succeeded);
    EXPECT_EQ(state(unlucky), JobState::cancelled);
}

TEST_P(StoreContract, clean_is_what_was_committed_and_not_what_is_reported) {
    const auto worker = open_session();
    const auto id = submit(Wanted::resumable());
    auto end = crash();
    end.clean = true;
    finish(worker, run_one(worker), end);
    EXPECT_EQ(state(id), JobState::quarantined);
    EXPECT_TRUE(job(id).may_have_run);
    EXPECT_FALSE(last_attempt(id).end->clean);
}

TEST_P(StoreContract, a_once_job_that_may_have_run_is_never_run_again) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    finish(worker, run_one(worker), crash());
    EXPECT_EQ(state(id), JobState::quarantined);
    EXPECT_TRUE(job(id).may_have_run);
    EXPECT_TRUE(claim(worker).empty());
}

}  // namespace
}  // namespace perdure::contract
