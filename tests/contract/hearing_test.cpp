// A session that is heard and confirms no start (O3, E4): what becomes of its attempts, and of it.
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

class HearingContract : public StoreContract {
protected:
    explicit HearingContract(const Timing& with = {.unwritten = {}}) : StoreContract(with) {}

    // Its session goes on sending heartbeats, lists the attempt, and does not start it.
    void let_the_confirmation_pass() {
        pass_with_heartbeats(timing.confirm);
        sweep();
    }
    void leave_unstarted() {
        let_the_confirmation_pass();
        pass(timing.recall);
        sweep();
    }
    // Three starts of different jobs, none confirmed.
    void deafen(SessionId worker) {
        for (int i = 0; i < 3; ++i) submit(Wanted::job());
        EXPECT_EQ(claim(worker, 3).size(), 3U);
        leave_unstarted();
        for (const auto& view : audit().jobs) EXPECT_TRUE(apply(Cancel{view.id}).has_value());
    }
    std::size_t claimed(SessionId worker) {
        const auto reply = try_claim(worker);
        return reply ? std::get<Claimed>(*reply).assignments.size() : 0;
    }
};

TEST_P(HearingContract, what_a_session_that_is_heard_lists_as_unstarted_is_not_lost) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    claim_one(worker);
    let_the_confirmation_pass();
    EXPECT_TRUE(job(id).run.has_value()) << "it is ordered back first";
    pass(timing.recall);
    sweep();
    const auto end = last_attempt(id).end;
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->cause, Cause::evicted);
    EXPECT_EQ(end->ran, Ran::maybe);
    EXPECT_FALSE(end->counted);
    EXPECT_EQ(state(id), JobState::ready);
}

TEST_P(HearingContract, what_had_to_ask_and_is_given_up_did_not_run) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    claim_one(worker);
    leave_unstarted();
    EXPECT_EQ(last_attempt(id).end->ran, Ran::no);
    EXPECT_EQ(state(id), JobState::ready);
}

TEST_P(HearingContract, a_healthy_job_is_never_quarantined_for_it) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    for (int i = 0; i < 15; ++i) {
        ASSERT_EQ(claimed(worker), 1U);
        leave_unstarted();
    }
    EXPECT_EQ(state(id), JobState::ready);
}

TEST_P(HearingContract, what_is_handed_back_when_asked_for_did_not_run) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = claim_one(worker);
    let_the_confirmation_pass();
    EXPECT_TRUE(job(id).run->recalled);
    finish(worker, attempt, {.cause = Cause::evicted, .ran = Ran::no, .reported = true});
    EXPECT_EQ(state(id), JobState::ready);
    EXPECT_EQ(last_attempt(id).end->ran, Ran::no);
}

TEST_P(HearingContract, what_starts_after_it_was_ordered_back_goes_on) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = claim_one(worker);
    let_the_confirmation_pass();
    ASSERT_TRUE(start(worker, attempt).has_value());
    EXPECT_FALSE(job(id).run->recalled);
    pass_with_heartbeats(timing.confirm);
    sweep();
    EXPECT_EQ(state(id), JobState::running);
}

TEST_P(HearingContract, a_session_gets_nothing_while_it_is_asked_for_something_back) {
    const auto worker = open_session();
    submit(Wanted::job());
    claim_one(worker);
    let_the_confirmation_pass();
    submit(Wanted::job());
    EXPECT_TRUE(refused(try_claim(worker), Errc::conflict));
}

TEST_P(HearingContract, what_is_ordered_back_is_told_at_each_heartbeat_until_it_starts) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = claim_one(worker);
    let_the_confirmation_pass();
    EXPECT_EQ(send_heartbeat(worker).recall, std::vector{attempt});
    EXPECT_TRUE(sweep().attempts.empty()) << "once is enough";
    EXPECT_EQ(send_heartbeat(worker).recall, std::vector{attempt});
    ASSERT_TRUE(start(worker, attempt).has_value());
    EXPECT_TRUE(send_heartbeat(worker).recall.empty());
}

TEST_P(HearingContract, a_cancel_is_stronger_than_an_order_back) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    claim_one(worker);
    let_the_confirmation_pass();
    ASSERT_TRUE(apply(Cancel{id}).has_value());
    EXPECT_FALSE(job(id).run->recalled);
    pass(timing.recall);
    sweep();
    EXPECT_EQ(state(id), JobState::cancelled);
}

TEST_P(HearingContract, a_new_session_on_the_directory_may_start_what_was_ordered_back) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = claim_one(worker);
    let_the_confirmation_pass();
    const auto change = takeover_of(worker, {});
    ASSERT_TRUE(apply(change).has_value());
    EXPECT_FALSE(job(id).run->recalled);
    EXPECT_TRUE(start(change.session, attempt).has_value());
}

TEST_P(HearingContract, three_unconfirmed_starts_of_different_jobs_make_a_session_deaf) {
    const auto worker = open_session();
    deafen(worker);
    for (int i = 0; i < 5; ++i) submit(Wanted::job());
    EXPECT_TRUE(session(worker).hearing.is_deaf());
    EXPECT_EQ(claimed(worker), 0U);
    pass_with_heartbeats(timing.deaf_wait);
    EXPECT_EQ(claimed(worker), 1U) << "one at a time";
    EXPECT_EQ(claimed(worker), 0U);
    leave_unstarted();
    EXPECT_EQ(claimed(worker), 0U) << "the wait has doubled";
    pass_with_heartbeats(timing.deaf_wait * 2);
    EXPECT_EQ(claimed(worker), 1U);
}

// Its next claim is due before the start of the last one must be confirmed.
class ImpatientHearing : public HearingContract {
protected:
    ImpatientHearing() : HearingContract({.unwritten = {}, .deaf_wait = seconds(1)}) {}
};

TEST_P(ImpatientHearing, a_deaf_session_gets_nothing_more_while_it_has_not_started_the_last) {
    const auto worker = open_session();
    deafen(worker);
    for (int i = 0; i < 2; ++i) submit(Wanted::job());
    pass_with_heartbeats(timing.deaf_wait);
    EXPECT_EQ(claimed(worker), 1U);
    pass_with_heartbeats(timing.deaf_wait * 2);
    EXPECT_EQ(claimed(worker), 0U);
}

TEST_P(HearingContract, a_confirmed_start_makes_a_deaf_session_hear_again) {
    const auto worker = open_session();
    deafen(worker);
    for (int i = 0; i < 5; ++i) submit(Wanted::job());
    pass_with_heartbeats(timing.deaf_wait);
    run_one(worker);
    EXPECT_FALSE(session(worker).hearing.is_deaf());
    EXPECT_EQ(claimed(worker), 4U);
}

// Without it a worker that is only slow would stay deaf for ever.
TEST_P(HearingContract, a_start_that_comes_too_late_shows_that_the_session_hears) {
    const auto worker = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    for (int i = 0; i < 3; ++i) submit(Wanted::once());
    const auto late = claim(worker, 3).front().attempt;
    leave_unstarted();
    ASSERT_TRUE(session(worker).hearing.is_deaf());
    EXPECT_EQ(claim(other, 3).size(), 3U);
    EXPECT_TRUE(refused(start(worker, late), Errc::fenced));
    EXPECT_FALSE(session(worker).hearing.is_deaf());
}

TEST_P(HearingContract, a_session_that_runs_what_was_given_up_hears) {
    const auto worker = open_session();
    for (int i = 0; i < 3; ++i) submit(Wanted::job());
    const auto given_up = claim(worker, 3).front().attempt;
    leave_unstarted();
    ASSERT_TRUE(session(worker).hearing.is_deaf());
    EXPECT_TRUE(list(worker, given_up).stop.empty());
    ASSERT_EQ(state(given_up.job), JobState::running) << "it is reinstated";
    EXPECT_FALSE(session(worker).hearing.is_deaf());
}

TEST_P(HearingContract, a_session_that_turns_deaf_is_told_once) {
    const auto worker = open_session();
    for (int i = 0; i < 3; ++i) submit(Wanted::job());
    claim(worker, 3);
    let_the_confirmation_pass();
    pass(timing.recall);
    std::size_t told = 0;
    for (const auto& entry : commit({sweep_of(overdue())}).recoveries)
        told += entry.incident == Incident::worker_deaf ? 1 : 0;
    EXPECT_EQ(told, 1U);
}

TEST_P(HearingContract, nobody_waits_for_a_deaf_worker_instead_of_the_one_that_failed) {
    const auto deaf = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    deafen(deaf);
    const auto id = submit(Wanted::job());
    const auto attempt = claim_one(other);
    finish(other, attempt, did_not_run());
    ASSERT_EQ(state(id), JobState::ready);
    EXPECT_EQ(claimed(other), 1U);
}

INSTANTIATE_TEST_SUITE_P(Stores, HearingContract, testing::ValuesIn(store_factories()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Stores, ImpatientHearing, testing::ValuesIn(store_factories()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace perdure::contract
