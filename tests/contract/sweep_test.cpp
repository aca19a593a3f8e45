// What sweeps end and heartbeats bring back (O1, O2), and ordered kills.
#include "tests/contract/audit.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

TEST_P(StoreContract, an_attempt_that_is_given_up_ends_as_it_was_judged) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    run_one(worker);
    pass(timing.lease);
    const auto swept = sweep();
    ASSERT_EQ(swept.attempts.size(), 1U);
    EXPECT_FALSE(job(id).run.has_value());
    EXPECT_EQ(last_attempt(id).end->cause, Cause::worker_lost);
    EXPECT_EQ(last_attempt(id).rule, swept.attempts[0].next.rule);
    EXPECT_TRUE(job(id).presumed_lost);
}

TEST_P(StoreContract, a_report_of_what_is_overdue_says_what_a_sweep_then_does) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    auto waiting = Wanted::job();
    waiting.timeouts.queue = seconds(1);
    waiting.queue = "another";
    run_one(worker);
    const auto other = submit(waiting);
    pass(timing.lease);
    const auto before = describe(audit());
    const auto telling = told();
    EXPECT_EQ(describe(audit()), before);
    const auto swept = sweep();
    ASSERT_EQ(telling.attempts.size(), 1U);
    ASSERT_EQ(swept.attempts.size(), 1U);
    EXPECT_EQ(telling.attempts[0].next, swept.attempts[0].next);
    EXPECT_EQ(telling.attempts[0].attempt.job, id);
    ASSERT_EQ(telling.waiting.size(), 1U);
    EXPECT_EQ(telling.waiting[0].newest.job, other);
    EXPECT_EQ(state(other), JobState::expired);
}

TEST_P(StoreContract, a_sweep_leaves_what_was_renewed_before_it) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    run_one(worker);
    pass(timing.lease);
    EXPECT_EQ(told().attempts.size(), 1U);
    send_heartbeat(worker);
    EXPECT_TRUE(get<Swept>(commit(other_server, {Sweep{}}).replies.front()).attempts.empty());
    EXPECT_EQ(state(id), JobState::running);
}

TEST_P(StoreContract, a_sweep_leaves_what_was_taken_over_before_it) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    run_one(worker);
    pass(timing.lease);
    EXPECT_EQ(told().attempts.size(), 1U);
    ASSERT_TRUE(apply(takeover_of(worker, {})).has_value());
    EXPECT_TRUE(get<Swept>(commit(other_server, {Sweep{}}).replies.front()).attempts.empty());
    EXPECT_EQ(state(id), JobState::running);
}

TEST_P(StoreContract, a_sweep_counts_once) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    run_one(worker);
    pass(timing.lease);
    const auto replies = commit({Sweep{}, Sweep{}}).replies;
    EXPECT_EQ(get<Swept>(replies[0]).attempts.size(), 1U);
    EXPECT_TRUE(get<Swept>(replies[1]).attempts.empty());
    EXPECT_EQ(job(id).attempts.size(), 1U);
}

// A once job whose worker fell silent would be quarantined; its author has cancelled it meanwhile.
TEST_P(StoreContract, what_was_cancelled_is_cancelled_when_its_worker_is_lost) {
    const auto worker = open_session();
    for (const auto& spec : {Wanted::once(), Wanted::job()}) {
        const auto id = submit(spec);
        const auto attempt = run_one(worker);
        ASSERT_TRUE(apply(Cancel{id}).has_value());
        lose(attempt);
        EXPECT_EQ(state(id), JobState::cancelled);
        send_heartbeat(worker);
    }
}

TEST_P(StoreContract, what_was_begun_after_its_checkpoint_is_not_clean_when_its_worker_is_lost) {
    const auto worker = open_session();
    submit(Wanted::resumable());
    const auto attempt = run_one(worker);
    ASSERT_TRUE(progress(worker, attempt, Progress::Kind::checkpoint, "x").has_value());
    ASSERT_TRUE(progress(worker, attempt, Progress::Kind::begin).has_value());
    lose(attempt);
    EXPECT_EQ(state(attempt.job), JobState::quarantined);
}

TEST_P(StoreContract, a_presumed_lost_attempt_comes_back_with_its_epoch) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    const auto number = job(id).run->assignment;
    lose(attempt);
    EXPECT_TRUE(list(worker, attempt).stop.empty());
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

// Nobody may claim the job before its result is here.
TEST_P(StoreContract, a_presumed_lost_attempt_that_has_a_result_comes_back) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    list(worker, attempt, Listed::Phase::ended);
    EXPECT_EQ(state(id), JobState::running);
}

TEST_P(StoreContract, an_attempt_comes_back_from_ready_and_from_a_persons_hold) {
    const auto worker = open_session();
    for (int i = 0; i < 2; ++i) submit(Wanted::job());
    const auto attempt = run_one(worker);
    run_one(worker);  // none of them was alone: both are tried again at once
    lose(attempt);
    ASSERT_EQ(state(attempt.job), JobState::ready);
    list(worker, attempt);
    EXPECT_EQ(state(attempt.job), JobState::running);
    lose(attempt);
    ASSERT_TRUE(apply(Hold{attempt.job, true}).has_value());
    list(worker, attempt);
    EXPECT_EQ(state(attempt.job), JobState::running);
}

TEST_P(StoreContract, an_attempt_does_not_come_back_after_the_next_claim) {
    const auto worker = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    const auto id = submit(Wanted::job());
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    run_one(worker);
    lose(attempt);
    send_heartbeat(other);
    const auto newer = run_one(other);
    EXPECT_FALSE(job(id).presumed_lost);
    EXPECT_EQ(list(worker, attempt).stop, std::vector{attempt});
    EXPECT_EQ(job(id).run->attempt, newer);
}

TEST_P(StoreContract, an_attempt_that_was_reported_ended_never_comes_back) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    finish(worker, attempt, crash());
    EXPECT_EQ(list(worker, attempt).stop, std::vector{attempt});
    submit(Wanted::job());
    const auto corrected = run_one(worker);
    lose(corrected);
    ASSERT_TRUE(report(worker, corrected, crash()).has_value());
    EXPECT_EQ(list(worker, corrected).stop, std::vector{corrected});
    EXPECT_FALSE(job(corrected.job).run.has_value());
}

// Nobody else will start it, and its result is the evidence that a person needs (O7).
TEST_P(StoreContract, an_attempt_of_a_quarantined_job_never_comes_back_and_may_end) {
    const auto worker = open_session();
    submit(Wanted::once());
    const auto attempt = run_one(worker);
    lose(attempt);
    EXPECT_TRUE(list(worker, attempt).stop.empty());
    EXPECT_EQ(state(attempt.job), JobState::quarantined);
}

// Somebody else may have its key by now.
TEST_P(StoreContract, an_exclusive_attempt_never_comes_back) {
    const auto worker = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    const auto id = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    lose(attempt);
    EXPECT_EQ(list(worker, attempt).stop, std::vector{attempt});
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
    EXPECT_EQ(list(worker, attempt).stop, std::vector{attempt});
    EXPECT_FALSE(job(attempt.job).run.has_value());
}

TEST_P(StoreContract, nobody_but_its_own_directory_brings_an_attempt_back) {
    const auto worker = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    EXPECT_EQ(list(other, attempt).stop, std::vector{attempt});
    ASSERT_TRUE(apply(EndSession{worker}).has_value());
    EXPECT_EQ(list(worker, attempt).answer, HeartbeatAnswer::session_ended);
    EXPECT_FALSE(job(attempt.job).run.has_value());
}

TEST_P(StoreContract, the_next_life_brings_an_attempt_back_under_a_number_of_its_own) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    auto heir = takeover_of(worker, {});
    heir.on_disk.push_back({.attempt = attempt, .phase = Listed::Phase::running});
    ASSERT_TRUE(apply(heir).has_value());
    EXPECT_EQ(job(attempt.job).run->session, heir.session);
    EXPECT_EQ(job(attempt.job).run->assignment, session(heir.session).assignments);
    finish(worker, attempt, success());  // the first owner's word counts as well
}

TEST_P(StoreContract, after_a_reboot_no_attempt_is_alive) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    auto heir = takeover_of(worker, {.boot = "boot-2"});
    heir.on_disk.push_back({.attempt = attempt, .phase = Listed::Phase::running});
    ASSERT_TRUE(apply(heir).has_value());
    EXPECT_FALSE(job(attempt.job).run.has_value());
    EXPECT_EQ(list(heir.session, attempt).stop, std::vector{attempt});
}

// A store that never gave out what a worker has must not answer for it (O6).
TEST_P(StoreContract, an_epoch_from_the_future_changes_nothing_and_is_told) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    run_one(worker);
    pass(seconds(1));
    const auto before = describe(session(worker));
    EXPECT_TRUE(list(worker, {id, Epoch{7}}).store_is_behind);
    EXPECT_EQ(describe(session(worker)), before);
    auto heir = takeover_of(worker, {});
    heir.on_disk.push_back({.attempt = {JobId{next_id() + 1'000}, Epoch{1}}});
    EXPECT_TRUE(get<SessionOpened>(apply(heir)).store_is_behind);
    EXPECT_EQ(describe(session(worker)), before);
}

TEST_P(StoreContract, an_ordered_kill_is_shown_until_the_report_decides) {
    const auto worker = open_session();
    auto spec = Wanted::job();
    spec.timeouts.total = seconds(1);
    const auto id = submit(spec);
    const auto attempt = run_one(worker);
    pass(seconds(1));
    sweep();
    EXPECT_EQ(job(id).run->kill_cause, Cause::timeout_total);
    EXPECT_EQ(session(worker).runs.front().kill_cause, Cause::timeout_total);
    const auto told = send_heartbeat(worker).kill;
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].attempt, attempt);
    EXPECT_EQ(told[0].cause, Cause::timeout_total);
    finish(worker, attempt, {.cause = Cause::timeout_total, .ran = Ran::yes});
    EXPECT_EQ(state(id), JobState::failed);
}

TEST_P(StoreContract, no_other_order_replaces_a_cancel) {
    const auto worker = open_session();
    auto spec = Wanted::job();
    spec.timeouts.total = seconds(1);
    const auto id = submit(spec);
    run_one(worker);
    ASSERT_TRUE(apply(Cancel{id}).has_value());
    pass(seconds(1));
    sweep();
    EXPECT_EQ(job(id).run->kill_cause, Cause::cancelled);
}

}  // namespace
}  // namespace perdure::contract
