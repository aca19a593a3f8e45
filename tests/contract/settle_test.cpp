// What servers settle and undo: sweeps under guard (O2), reinstatement (O1), ordered kills.
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

TEST_P(StoreContract, a_settled_attempt_ends_as_it_was_decided) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    const auto change = settle_of(attempt);
    EXPECT_TRUE(apply(change).has_value());
    EXPECT_EQ(state(id), JobState::ready);
    EXPECT_EQ(last_attempt(id).end, change.end);
    EXPECT_EQ(last_attempt(id).rule, change.next.rule);
    EXPECT_TRUE(job(id).presumed_lost);
}

TEST_P(StoreContract, a_sweep_that_was_decided_before_a_renewal_is_refused) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    run_one(worker);
    pass(timing.lease);
    const auto changes = decided(overdue());
    ASSERT_EQ(changes.size(), 1U);
    ASSERT_TRUE(renew(worker).has_value());
    EXPECT_TRUE(refused(commit(other_server, changes).replies.front(), Errc::conflict));
    EXPECT_EQ(state(id), JobState::running);
}

TEST_P(StoreContract, a_sweep_that_was_decided_before_a_takeover_is_refused) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    run_one(worker);
    pass(timing.lease);
    const auto changes = decided(overdue());
    ASSERT_TRUE(apply(takeover_of(worker, {})).has_value());
    EXPECT_TRUE(refused(commit(other_server, changes).replies.front(), Errc::conflict));
    EXPECT_EQ(state(id), JobState::running);
}

TEST_P(StoreContract, a_sweep_counts_once) {
    const auto worker = open_session();
    submit(Wanted::job());
    run_one(worker);
    pass(timing.lease);
    const auto changes = decided(overdue());
    EXPECT_TRUE(commit(server, changes).replies.front().has_value());
    EXPECT_TRUE(refused(commit(other_server, changes).replies.front(), Errc::conflict));
}

TEST_P(StoreContract, a_settlement_for_another_state_is_refused) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = claim_one(worker);
    auto change = settle_of(attempt);
    change.end.ran = Ran::no;
    ASSERT_TRUE(start(worker, attempt).has_value());
    EXPECT_TRUE(refused(apply(change), Errc::conflict));
    EXPECT_EQ(state(id), JobState::running);
}

TEST_P(StoreContract, a_settlement_for_another_epoch_is_refused) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    const auto change = settle_of(attempt);
    finish(worker, attempt, conflict_with_somebody());
    EXPECT_TRUE(refused(apply(change), Errc::conflict));
    run_one(worker);
    EXPECT_TRUE(refused(apply(change), Errc::conflict));
    EXPECT_EQ(state(attempt.job), JobState::running);
}

TEST_P(StoreContract, a_settlement_of_an_unknown_job_is_not_found) {
    EXPECT_TRUE(refused(apply(Settle{.attempt = {JobId{next_id()}, Epoch{1}}}), Errc::not_found));
}

// A once job whose worker fell silent would be quarantined; its author has cancelled it meanwhile.
TEST_P(StoreContract, an_end_that_was_decided_before_a_cancel_is_refused) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto change = settle_of(run_one(worker));
    ASSERT_EQ(change.next.state, JobState::quarantined);
    ASSERT_TRUE(apply(Cancel{id}).has_value());
    EXPECT_TRUE(refused(apply(change), Errc::conflict));
    EXPECT_TRUE(apply(settle_of(change.attempt)).has_value());
    EXPECT_EQ(state(id), JobState::cancelled);
}

// The sweep reads, the cancel is answered, the sweep is applied: the cancel must not be lost.
TEST_P(StoreContract, a_retry_that_was_decided_before_a_cancel_is_refused) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    const auto change = settle_of(attempt);
    ASSERT_TRUE(apply(Cancel{id}).has_value());
    EXPECT_TRUE(refused(apply(change), Errc::conflict));
    EXPECT_TRUE(apply(settle_of(attempt)).has_value());
    EXPECT_EQ(state(id), JobState::cancelled);
}

TEST_P(StoreContract, a_clean_end_that_was_decided_before_a_begin_is_refused) {
    const auto worker = open_session();
    submit(Wanted::resumable());
    const auto attempt = run_one(worker);
    ASSERT_TRUE(progress(worker, attempt, Progress::Kind::checkpoint, "x").has_value());
    pass(timing.lease);
    const auto changes = decided(overdue());
    ASSERT_TRUE(progress(worker, attempt, Progress::Kind::begin).has_value());
    EXPECT_TRUE(refused(commit(changes).replies.front(), Errc::conflict));
    sweep();
    EXPECT_EQ(state(attempt.job), JobState::quarantined);
}

TEST_P(StoreContract, a_presumed_lost_attempt_comes_back_with_its_epoch) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    const auto number = job(id).run->assignment;
    lose(attempt);
    EXPECT_TRUE(apply(Reinstate{worker, attempt}).has_value());
    const auto view = job(id);
    EXPECT_EQ(view.state, JobState::running);
    EXPECT_EQ(view.epoch, attempt.epoch);
    EXPECT_EQ(view.run->session, worker);
    EXPECT_EQ(view.run->assignment, number);
    EXPECT_FALSE(view.presumed_lost);
    EXPECT_FALSE(view.attempts.back().end.has_value());
    finish(worker, attempt, success());
    EXPECT_EQ(state(id), JobState::succeeded);
}

TEST_P(StoreContract, an_attempt_comes_back_from_ready_and_from_a_persons_hold) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    ASSERT_TRUE(apply(settle_of(attempt)).has_value());
    ASSERT_EQ(state(attempt.job), JobState::ready);
    EXPECT_TRUE(apply(Reinstate{worker, attempt}).has_value());
    ASSERT_TRUE(apply(settle_of(attempt)).has_value());
    ASSERT_TRUE(apply(Hold{attempt.job, true}).has_value());
    EXPECT_TRUE(apply(Reinstate{worker, attempt}).has_value());
    EXPECT_EQ(state(attempt.job), JobState::running);
}

TEST_P(StoreContract, an_attempt_does_not_come_back_after_the_next_claim) {
    const auto worker = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    ASSERT_TRUE(apply(settle_of(attempt)).has_value());
    const auto newer = run_one(other);
    EXPECT_FALSE(job(id).presumed_lost);
    EXPECT_TRUE(refused(apply(Reinstate{worker, attempt}), Errc::conflict));
    EXPECT_EQ(job(id).run->attempt, newer);
}

TEST_P(StoreContract, an_attempt_that_was_reported_ended_never_comes_back) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    finish(worker, attempt, crash());
    EXPECT_TRUE(refused(apply(Reinstate{worker, attempt}), Errc::conflict));
    submit(Wanted::job());
    const auto corrected = run_one(worker);
    lose(corrected);
    ASSERT_TRUE(report(worker, corrected, crash()).has_value());
    EXPECT_TRUE(refused(apply(Reinstate{worker, corrected}), Errc::conflict));
}

TEST_P(StoreContract, an_attempt_of_an_ended_job_never_comes_back) {
    const auto worker = open_session();
    submit(Wanted::once());
    const auto attempt = run_one(worker);
    lose(attempt);
    EXPECT_TRUE(refused(apply(Reinstate{worker, attempt}), Errc::conflict));
    EXPECT_EQ(state(attempt.job), JobState::quarantined);
}

// Somebody else may have its key by now.
TEST_P(StoreContract, an_exclusive_attempt_never_comes_back) {
    const auto worker = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    const auto id = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    lose(attempt);
    EXPECT_TRUE(refused(apply(Reinstate{worker, attempt}), Errc::conflict));
    EXPECT_FALSE(job(id).run.has_value());
    EXPECT_TRUE(session(other).runs.empty());
}

TEST_P(StoreContract, an_attempt_that_never_got_its_go_does_not_come_back) {
    const auto worker = open_session();
    submit(Wanted::resumable());
    const auto attempt = claim_one(worker);
    pass_with_heartbeats(timing.confirm);
    sweep();
    pass(timing.recall);
    sweep();
    ASSERT_TRUE(job(attempt.job).presumed_lost);
    EXPECT_TRUE(refused(apply(Reinstate{worker, attempt}), Errc::conflict));
}

TEST_P(StoreContract, nobody_but_its_own_directory_brings_an_attempt_back) {
    const auto worker = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    EXPECT_TRUE(refused(apply(Reinstate{other, attempt}), Errc::fenced));
    EXPECT_TRUE(refused(apply(Reinstate{SessionId{next_id()}, attempt}), Errc::not_found));
    ASSERT_TRUE(apply(EndSession{worker}).has_value());
    EXPECT_TRUE(refused(apply(Reinstate{worker, attempt}), Errc::fenced));
}

TEST_P(StoreContract, the_next_life_brings_an_attempt_back_under_a_number_of_its_own) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    const auto heir = takeover_of(worker, {});
    ASSERT_TRUE(apply(heir).has_value());
    EXPECT_TRUE(apply(Reinstate{heir.session, attempt}).has_value());
    EXPECT_EQ(job(attempt.job).run->session, heir.session);
    EXPECT_EQ(job(attempt.job).run->assignment, session(heir.session).assignments);
    finish(worker, attempt, success());  // the first owner's word counts as well
}

TEST_P(StoreContract, after_a_reboot_no_attempt_is_alive) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    const auto heir = takeover_of(worker, {.boot = "boot-2"});
    ASSERT_TRUE(apply(heir).has_value());
    EXPECT_TRUE(refused(apply(Reinstate{heir.session, attempt}), Errc::fenced));
}

TEST_P(StoreContract, an_ordered_kill_is_shown_until_the_report_decides) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    EXPECT_TRUE(apply(OrderKill{attempt, Cause::timeout_total}).has_value());
    EXPECT_EQ(job(id).run->order, Cause::timeout_total);
    EXPECT_EQ(session(worker).runs.front().order, Cause::timeout_total);
    finish(worker, attempt, {.cause = Cause::timeout_total, .ran = Ran::yes});
    EXPECT_EQ(state(id), JobState::failed);
    EXPECT_TRUE(refused(apply(OrderKill{attempt, Cause::timeout_total}), Errc::conflict));
    EXPECT_TRUE(refused(apply(OrderKill{{JobId{next_id()}, Epoch{1}}}), Errc::not_found));
}

TEST_P(StoreContract, no_other_order_replaces_a_cancel) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    ASSERT_TRUE(apply(Cancel{id}).has_value());
    EXPECT_TRUE(apply(OrderKill{attempt, Cause::timeout_total}).has_value());
    EXPECT_EQ(job(id).run->order, Cause::cancelled);
}

}  // namespace
}  // namespace perdure::contract
