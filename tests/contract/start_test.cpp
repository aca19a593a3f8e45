// Starts, begin and checkpoint: only the running attempt of the current session [P2] (O1, O4, O10).
#include "tests/contract/audit.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

constexpr auto begin = Progress::Kind::begin;
constexpr auto checkpoint = Progress::Kind::checkpoint;

TEST_P(StoreContract, a_go_is_committed_before_it_is_answered) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = claim_one(worker);
    EXPECT_EQ(state(id), JobState::starting);
    EXPECT_TRUE(start(worker, attempt).has_value());
    EXPECT_EQ(state(id), JobState::running);
    EXPECT_TRUE(last_attempt(id).start_committed);
}

TEST_P(StoreContract, a_repeated_ask_gets_the_same_answer) {
    const auto worker = open_session();
    submit(Wanted::once());
    const auto attempt = claim_one(worker);
    EXPECT_TRUE(start(worker, attempt).has_value());
    EXPECT_TRUE(start(worker, attempt).has_value());
    EXPECT_EQ(audit().fenced, 0U);
}

TEST_P(StoreContract, an_attempt_that_need_not_ask_confirms_its_start) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = claim_one(worker);
    EXPECT_TRUE(start(worker, attempt).has_value());
    EXPECT_EQ(state(id), JobState::running);
}

TEST_P(StoreContract, a_start_by_another_session_is_fenced) {
    const auto mine = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    const auto id = submit(Wanted::once());
    const auto attempt = claim_one(mine);
    EXPECT_TRUE(refused(start(other, attempt), Errc::fenced));
    EXPECT_TRUE(refused(start(SessionId{next_id()}, attempt), Errc::fenced));
    EXPECT_EQ(state(id), JobState::starting);
    EXPECT_EQ(audit().fenced, 2U);
}

TEST_P(StoreContract, a_start_by_an_earlier_life_of_the_same_worker_is_fenced) {
    const auto old_life = open_session();
    submit(Wanted::once());
    const auto attempt = claim_one(old_life);
    const auto heir = takeover_of(old_life, {});
    ASSERT_TRUE(apply(heir).has_value());
    EXPECT_TRUE(refused(start(old_life, attempt), Errc::fenced));
    EXPECT_TRUE(start(heir.session, attempt).has_value());
}

TEST_P(StoreContract, a_start_by_another_worker_of_the_same_name_is_fenced) {
    const auto mine = open_session();
    auto namesake = open_session_of({});
    namesake.directory.inode = 99;
    ASSERT_TRUE(apply(namesake).has_value());
    submit(Wanted::once());
    const auto attempt = claim_one(mine);
    EXPECT_TRUE(refused(start(namesake.session, attempt), Errc::fenced));
}

TEST_P(StoreContract, a_start_of_an_old_epoch_is_fenced) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto old_attempt = run_one(worker);
    finish(worker, old_attempt, conflict_with_somebody());
    const auto attempt = claim_one(worker);
    EXPECT_TRUE(refused(start(worker, old_attempt), Errc::fenced));
    EXPECT_TRUE(start(worker, attempt).has_value());
}

// Attempt 1 has failed, the job waits for its retry, and a delayed ask of attempt 1 arrives.
TEST_P(StoreContract, a_late_ask_while_the_job_waits_for_its_retry_is_fenced) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    finish(worker, attempt, crash());
    ASSERT_EQ(state(id), JobState::scheduled);
    EXPECT_TRUE(refused(start(worker, attempt), Errc::fenced));
    EXPECT_EQ(state(id), JobState::scheduled);
}

TEST_P(StoreContract, a_late_ask_after_a_silent_start_was_given_up_is_fenced) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = claim_one(worker);
    pass_with_heartbeats(timing.confirm);
    sweep();
    pass(timing.recall);
    sweep();
    EXPECT_EQ(state(id), JobState::ready);
    EXPECT_EQ(last_attempt(id).end->ran, Ran::no);
    EXPECT_TRUE(refused(start(worker, attempt), Errc::fenced));
    EXPECT_EQ(state(id), JobState::ready);
}

TEST_P(StoreContract, an_ask_after_a_cancel_is_fenced) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = claim_one(worker);
    ASSERT_TRUE(apply(Cancel{id}).has_value());
    EXPECT_TRUE(refused(start(worker, attempt), Errc::fenced));
    EXPECT_EQ(state(id), JobState::cancelled);
}

TEST_P(StoreContract, an_ask_of_an_attempt_that_is_to_be_killed_is_fenced) {
    const auto worker = open_session();
    auto spec = Wanted::once();
    spec.timeouts.total = seconds(1);
    submit(spec);
    const auto attempt = claim_one(worker);
    pass(seconds(1));
    sweep();
    EXPECT_TRUE(refused(start(worker, attempt), Errc::fenced));
}

TEST_P(StoreContract, a_start_by_an_ended_session_is_fenced) {
    const auto worker = open_session();
    submit(Wanted::once());
    const auto attempt = claim_one(worker);
    ASSERT_TRUE(apply(EndSession{worker}).has_value());
    EXPECT_TRUE(refused(start(worker, attempt), Errc::fenced));
}

TEST_P(StoreContract, a_start_of_an_unknown_job_is_fenced) {
    const auto worker = open_session();
    EXPECT_TRUE(refused(start(worker, {JobId{next_id()}, Epoch{1}}), Errc::fenced));
}

TEST_P(StoreContract, a_confirmed_start_is_not_overdue_any_more) {
    const auto worker = open_session();
    submit(Wanted::job());
    run_one(worker);
    pass_with_heartbeats(timing.confirm + seconds(1));
    EXPECT_TRUE(told().attempts.empty());
}

TEST_P(StoreContract, an_attempt_begins_dirty_and_is_clean_after_a_checkpoint) {
    const auto worker = open_session();
    const auto id = submit(Wanted::resumable());
    const auto attempt = run_one(worker);
    EXPECT_FALSE(job(id).run->clean);
    EXPECT_TRUE(progress(worker, attempt, checkpoint, "half").has_value());
    EXPECT_TRUE(job(id).run->clean);
    EXPECT_TRUE(progress(worker, attempt, begin).has_value());
    EXPECT_FALSE(job(id).run->clean);
}

TEST_P(StoreContract, an_attempt_that_goes_on_from_a_checkpoint_begins_dirty) {
    const auto worker = open_session();
    const auto id = submit(Wanted::resumable());
    const auto attempt = run_one(worker);
    ASSERT_TRUE(progress(worker, attempt, checkpoint, "half").has_value());
    lose(attempt);
    pass_with_heartbeats(minutes(1));
    sweep();
    run_one(worker);
    EXPECT_EQ(job(id).run->checkpoint, "half");
    EXPECT_FALSE(job(id).run->clean);
}

// Cut off, a clean job calls `begin`; an older checkpoint that was still under way comes after it.
TEST_P(StoreContract, a_checkpoint_that_was_overtaken_by_a_begin_is_fenced) {
    const auto worker = open_session();
    const auto id = submit(Wanted::resumable());
    const auto attempt = run_one(worker);
    ASSERT_TRUE(apply(Progress{begin, worker, attempt, "", 2}).has_value());
    EXPECT_TRUE(refused(apply(Progress{checkpoint, worker, attempt, "old", 1}), Errc::fenced));
    EXPECT_FALSE(job(id).run->clean);
    EXPECT_TRUE(apply(Progress{checkpoint, worker, attempt, "new", 3}).has_value());
    EXPECT_TRUE(job(id).run->clean);
}

TEST_P(StoreContract, repeated_progress_gets_the_same_answer_and_changes_nothing) {
    const auto worker = open_session();
    submit(Wanted::resumable());
    const auto attempt = run_one(worker);
    const Progress saved{checkpoint, worker, attempt, "x", 1};
    ASSERT_TRUE(apply(saved).has_value());
    const auto before = describe(audit());
    EXPECT_TRUE(apply(saved).has_value());
    EXPECT_EQ(describe(audit()), before);
}

TEST_P(StoreContract, progress_may_be_quicker_than_the_confirmation_of_its_start) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = claim_one(worker);
    EXPECT_TRUE(progress(worker, attempt, checkpoint, "x").has_value());
    EXPECT_TRUE(job(id).run->clean);
    EXPECT_EQ(state(id), JobState::starting);
}

TEST_P(StoreContract, progress_before_the_start_is_committed_is_fenced) {
    const auto worker = open_session();
    submit(Wanted::resumable());
    const auto attempt = claim_one(worker);
    EXPECT_TRUE(refused(progress(worker, attempt, begin), Errc::fenced));
}

TEST_P(StoreContract, progress_by_anybody_but_the_owner_is_fenced) {
    const auto worker = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    const auto id = submit(Wanted::resumable());
    const auto attempt = run_one(worker);
    EXPECT_TRUE(refused(progress(other, attempt, checkpoint, "x"), Errc::fenced));
    EXPECT_TRUE(refused(progress(worker, {id, Epoch{9}}, checkpoint, "x"), Errc::fenced));
    finish(worker, attempt, exit_with(1));
    EXPECT_TRUE(refused(progress(worker, attempt, checkpoint, "x"), Errc::fenced));
    EXPECT_EQ(audit().fenced, 3U);
}

}  // namespace
}  // namespace perdure::contract
