// Keys and limits: taken by the claim, freed and promoted in one transaction (C4, E5).
#include <set>

#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

Permit key(const std::string& name) { return {Permit::Kind::key, "default", name}; }
Permit limit(const std::string& name) { return {Permit::Kind::limit, "default", name}; }

TEST_P(StoreContract, jobs_of_one_key_run_one_at_a_time) {
    const auto worker = open_session();
    const auto first = submit(Wanted::keyed("k"));
    const auto second = submit(Wanted::keyed("k"));
    const auto claimed = claim(worker);
    ASSERT_EQ(claimed.size(), 1U);
    EXPECT_EQ(claimed[0].attempt.job, first);
    EXPECT_EQ(state(second), JobState::blocked);
    EXPECT_EQ(job(second).blocked_on, key("k"));

    const auto reply = commit({Report{worker, claimed[0].attempt, success()}});
    EXPECT_TRUE(reply.work_appeared);
    EXPECT_EQ(state(second), JobState::ready);
    EXPECT_EQ(claim_one(worker).job, second);
}

TEST_P(StoreContract, keys_of_two_tenants_have_nothing_to_do_with_each_other) {
    const auto mine = open_session({.name = "worker-1"});
    const auto theirs = open_session({.name = "worker-2", .offer = {.tenant = "other"}});
    submit(Wanted::keyed("k"));
    auto spec = Wanted::keyed("k");
    spec.tenant = "other";
    submit(spec);
    EXPECT_EQ(claim(mine).size(), 1U);
    EXPECT_EQ(claim(theirs).size(), 1U);
}

TEST_P(StoreContract, a_limit_lets_as_many_run_as_it_says) {
    define_limit("gpu", 2);
    const auto worker = open_session();
    for (int i = 0; i < 5; ++i) submit(Wanted::limited("gpu"));
    const auto running = claim(worker);
    EXPECT_EQ(running.size(), 2U);
    std::set<std::uint32_t> slots;
    for (const auto& holder : audit().holders) {
        EXPECT_EQ(holder.permit, limit("gpu"));
        slots.insert(holder.slot);
    }
    EXPECT_EQ(slots, (std::set<std::uint32_t>{1, 2}));

    finish(worker, running[0].attempt, success());
    EXPECT_EQ(claim(worker).size(), 1U);
    EXPECT_TRUE(claim(worker).empty());
}

TEST_P(StoreContract, a_raised_limit_lets_as_many_more_in_at_once) {
    define_limit("gpu", 1);
    const auto worker = open_session();
    for (int i = 0; i < 5; ++i) submit(Wanted::limited("gpu"));
    EXPECT_EQ(claim(worker).size(), 1U);
    const auto raised = commit({DefineLimit{"default", "gpu", 3}});
    EXPECT_TRUE(raised.work_appeared);
    EXPECT_EQ(claim(worker).size(), 2U);
}

TEST_P(StoreContract, a_lowered_limit_lets_nobody_in_before_it_is_kept_again) {
    define_limit("gpu", 2);
    const auto worker = open_session();
    for (int i = 0; i < 3; ++i) submit(Wanted::limited("gpu"));
    const auto running = claim(worker);
    ASSERT_EQ(running.size(), 2U);
    define_limit("gpu", 1);
    finish(worker, running[1].attempt, success());
    EXPECT_TRUE(claim(worker).empty());
    finish(worker, running[0].attempt, success());
    EXPECT_EQ(claim(worker).size(), 1U);
}

TEST_P(StoreContract, a_limit_below_one_is_invalid) {
    EXPECT_TRUE(refused(apply(DefineLimit{"default", "gpu", 0}), Errc::invalid));
}

TEST_P(StoreContract, every_kind_of_end_frees_the_key) {
    const auto worker = open_session();
    for (const auto& end : {success(), exit_with(3), crash()}) {
        submit(Wanted::keyed("k"));
        submit(Wanted::keyed("k"));
        finish(worker, run_one(worker), end);
        const auto second = run_one(worker);
        finish(worker, second, success());
        // What will be retried later must not come in between the next two.
        for (const auto& view : audit().jobs) EXPECT_TRUE(apply(Cancel{view.id}).has_value());
    }
}

TEST_P(StoreContract, a_wait_for_a_retry_frees_the_key) {
    const auto worker = open_session();
    const auto first = submit(Wanted::keyed("k"));
    const auto second = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    finish(worker, attempt, crash());
    EXPECT_EQ(state(first), JobState::scheduled);
    EXPECT_EQ(claim_one(worker).job, second);
}

TEST_P(StoreContract, a_retry_at_once_keeps_its_key) {
    const auto worker = open_session();
    const auto first = submit(Wanted::keyed("k"));
    const auto second = submit(Wanted::keyed("k"));
    finish(worker, run_one(worker), conflict_with_somebody());
    EXPECT_EQ(state(first), JobState::ready);
    EXPECT_EQ(job(first).kept_until, now() + timing.kept_holders);
    const auto claimed = claim(worker);
    ASSERT_EQ(claimed.size(), 1U);
    EXPECT_EQ(claimed[0].attempt, (AttemptKey{first, Epoch{2}}));
    EXPECT_EQ(state(second), JobState::blocked);
    EXPECT_EQ(audit().holders.size(), 1U);
}

TEST_P(StoreContract, nobody_else_gets_a_kept_key) {
    const auto first = open_session({.name = "worker-1", .slots = 1});
    open_session({.name = "worker-2"});
    const auto id = submit(Wanted::keyed("k"));
    const auto attempt = run_one(first);
    // It may not go back to the same worker at once, so it waits and keeps its key.
    finish(first, attempt, did_not_run());
    ASSERT_TRUE(job(id).kept_until.has_value());
    const auto other = submit(Wanted::keyed("k"));
    EXPECT_TRUE(claim(first).empty());
    EXPECT_EQ(state(other), JobState::blocked);
}

TEST_P(StoreContract, a_key_that_is_kept_too_long_is_freed_and_the_job_stays_first_in_line) {
    const auto worker = open_session({.slots = 1});
    const auto first = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    const auto second = submit(Wanted::keyed("k"));
    finish(worker, attempt, conflict_with_somebody());
    pass_with_heartbeats(timing.kept_holders - microseconds(1));
    sweep();
    EXPECT_TRUE(job(first).kept_until.has_value());
    pass(microseconds(1));
    sweep();
    EXPECT_FALSE(job(first).kept_until.has_value());
    EXPECT_TRUE(audit().holders.empty());
    EXPECT_EQ(claim_one(worker).job, first);
    EXPECT_EQ(state(second), JobState::ready);
}

TEST_P(StoreContract, holding_a_job_frees_its_kept_key) {
    const auto worker = open_session();
    const auto first = submit(Wanted::keyed("k"));
    const auto second = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    finish(worker, attempt, conflict_with_somebody());
    EXPECT_EQ(state(second), JobState::blocked);
    ASSERT_TRUE(apply(Hold{first, true}).has_value());
    EXPECT_FALSE(job(first).kept_until.has_value());
    EXPECT_TRUE(audit().holders.empty());
    EXPECT_EQ(state(second), JobState::ready);
}

TEST_P(StoreContract, cancelling_a_job_frees_its_kept_key) {
    const auto worker = open_session();
    const auto first = submit(Wanted::keyed("k"));
    const auto second = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    finish(worker, attempt, conflict_with_somebody());
    EXPECT_EQ(state(second), JobState::blocked);
    ASSERT_TRUE(apply(Cancel{first}).has_value());
    EXPECT_FALSE(job(first).kept_until.has_value());
    EXPECT_TRUE(audit().holders.empty());
    EXPECT_EQ(state(second), JobState::ready);
}

TEST_P(StoreContract, pausing_a_queue_frees_the_kept_keys_of_its_jobs) {
    const auto worker = open_session();
    const auto first = submit(Wanted::keyed("k"));
    const auto second = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    finish(worker, attempt, conflict_with_somebody());
    EXPECT_EQ(state(second), JobState::blocked);
    ASSERT_TRUE(apply(PauseQueue{"default", "default", true}).has_value());
    EXPECT_FALSE(job(first).kept_until.has_value());
    EXPECT_TRUE(audit().holders.empty());
    EXPECT_EQ(state(second), JobState::ready);
}

TEST_P(StoreContract, a_kept_key_is_freed_when_the_job_expires) {
    const auto worker = open_session();
    auto spec = Wanted::keyed("k");
    spec.timeouts.queue = seconds(5);
    const auto first = submit(spec);
    const auto second = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    finish(worker, attempt, conflict_with_somebody());
    pass(seconds(5));
    sweep();
    EXPECT_EQ(state(first), JobState::expired);
    EXPECT_EQ(state(second), JobState::ready);
}

TEST_P(StoreContract, a_retry_at_once_in_a_paused_queue_keeps_nothing) {
    const auto worker = open_session();
    const auto first = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    ASSERT_TRUE(apply(PauseQueue{"default", "default", true}).has_value());
    finish(worker, attempt, conflict_with_somebody());
    EXPECT_EQ(state(first), JobState::ready);
    EXPECT_FALSE(job(first).kept_until.has_value());
}

TEST_P(StoreContract, promotion_does_not_restart_the_queue_timeout) {
    const auto worker = open_session();
    submit(Wanted::keyed("k"));
    const auto second = submit(Wanted::keyed("k"));
    const auto deadline = job(second).queue_deadline;
    const auto attempt = run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    EXPECT_EQ(job(second).queue_deadline, deadline);
    pass_with_heartbeats(seconds(30));
    finish(worker, attempt, success());
    EXPECT_EQ(state(second), JobState::ready);
    EXPECT_EQ(job(second).queue_deadline, deadline);
}

TEST_P(StoreContract, a_promoted_job_has_kept_its_place_in_the_line) {
    const auto worker = open_session();
    submit(Wanted::keyed("k"));
    const auto blocked = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    pass_with_heartbeats(seconds(10));
    submit(Wanted::job());
    finish(worker, attempt, success());
    EXPECT_EQ(claim_one(worker).job, blocked);
}

TEST_P(StoreContract, freeing_promotes_the_first_of_each_shape) {
    define_limit("gpu", 1);
    const auto worker = open_session();
    auto mail = Wanted::limited("gpu");
    mail.queue = "mail";
    submit(Wanted::limited("gpu"));
    const auto attempt = run_one(worker);
    const auto a1 = submit(Wanted::limited("gpu"));
    const auto a2 = submit(Wanted::limited("gpu"));
    const auto b1 = submit(mail);
    const auto b2 = submit(mail);
    EXPECT_TRUE(claim(worker).empty());
    finish(worker, attempt, success());
    EXPECT_EQ(state(a1), JobState::ready);
    EXPECT_EQ(state(b1), JobState::ready);
    EXPECT_EQ(state(a2), JobState::blocked);
    EXPECT_EQ(state(b2), JobState::blocked);
    // The claim checks again: one gets it, the other is blocked once more.
    EXPECT_EQ(claim(worker).size(), 1U);
    EXPECT_NE(state(a1) == JobState::blocked, state(b1) == JobState::blocked);
}

TEST_P(StoreContract, a_free_thing_that_was_offered_is_nobodys_mistake) {
    const auto worker = open_session();
    for (int i = 0; i < 3; ++i) submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    finish(worker, attempt, success());
    // One is promoted and not claimed yet, one is still blocked, and the key is free.
    EXPECT_TRUE(overdue().free_permits.empty());
    ASSERT_TRUE(apply(Sweep{.permits = {key("k")}}).has_value());
    EXPECT_EQ(audit().repairs, 0U);
}

TEST_P(StoreContract, asking_to_promote_for_a_taken_thing_promotes_nobody) {
    define_limit("gpu", 1);
    const auto worker = open_session();
    submit(Wanted::limited("gpu"));
    const auto second = submit(Wanted::limited("gpu"));
    EXPECT_EQ(claim(worker).size(), 1U);
    ASSERT_TRUE(apply(Sweep{.permits = {limit("gpu")}}).has_value());
    EXPECT_EQ(state(second), JobState::blocked);
    EXPECT_TRUE(get<Swept>(apply(Sweep{.permits = {limit("undefined")}})).permits.empty());
}

TEST_P(StoreContract, a_promoted_job_that_leaves_lets_the_next_one_have_it) {
    const auto worker = open_session();
    const auto first = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    std::vector<JobId> line;
    for (int i = 0; i < 4; ++i) line.push_back(submit(Wanted::keyed("k")));
    EXPECT_TRUE(claim(worker).empty());
    finish(worker, attempt, success());
    EXPECT_EQ(state(first), JobState::succeeded);
    EXPECT_EQ(state(line[0]), JobState::ready);
    ASSERT_TRUE(apply(Cancel{line[0]}).has_value());
    EXPECT_EQ(state(line[1]), JobState::ready);
    ASSERT_TRUE(apply(Hold{line[1], true}).has_value());
    EXPECT_EQ(state(line[2]), JobState::ready);
    EXPECT_EQ(state(line[3]), JobState::blocked);
}

TEST_P(StoreContract, a_promoted_job_that_expires_lets_the_next_one_have_it) {
    const auto worker = open_session();
    submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    auto impatient = Wanted::keyed("k");
    impatient.timeouts.queue = seconds(3);
    const auto second = submit(impatient);
    const auto third = submit(Wanted::keyed("k"));
    EXPECT_TRUE(claim(worker).empty());
    finish(worker, attempt, success());
    EXPECT_EQ(state(second), JobState::ready);
    pass(seconds(3));
    sweep();
    EXPECT_EQ(state(second), JobState::expired);
    EXPECT_EQ(state(third), JobState::ready);
}

// One transaction frees the key while the limit is taken, another one the limit while the key is
// taken: without a second look nobody would promote.
TEST_P(StoreContract, a_job_that_needs_two_things_gets_them_whatever_is_freed_first) {
    define_limit("gpu", 1);
    auto both = Wanted::keyed("k");
    both.limits = {"gpu"};
    for (const bool key_first : {true, false}) {
        const auto worker = open_session({.name = key_first ? "worker-1" : "worker-2"});
        submit(Wanted::keyed("k"));
        submit(Wanted::limited("gpu"));
        const auto holders = claim(worker);
        ASSERT_EQ(holders.size(), 2U);
        const auto wants_both = submit(both);
        const auto wants_limit = submit(Wanted::limited("gpu"));
        EXPECT_TRUE(claim(worker).empty());
        finish(worker, holders[key_first ? 0 : 1].attempt, success());
        for (const auto& a : claim(worker)) finish(worker, a.attempt, success());
        finish(worker, holders[key_first ? 1 : 0].attempt, success());
        for (int i = 0; i < 3; ++i)
            for (const auto& a : claim(worker)) finish(worker, a.attempt, success());
        EXPECT_EQ(state(wants_both), JobState::succeeded);
        EXPECT_EQ(state(wants_limit), JobState::succeeded);
    }
}

TEST_P(StoreContract, a_job_blocked_on_its_key_does_not_sit_on_a_free_limit) {
    define_limit("gpu", 1);
    auto both = Wanted::keyed("k");
    both.limits = {"gpu"};
    const auto worker = open_session();
    submit(Wanted::keyed("k"));
    submit(Wanted::limited("gpu"));
    const auto holders = claim(worker);
    ASSERT_EQ(holders.size(), 2U);
    // Blocked on the limit, not on the key, which is free when it is looked at.
    finish(worker, holders[0].attempt, success());
    const auto first = submit(both);
    EXPECT_TRUE(claim(worker).empty());
    EXPECT_EQ(job(first).blocked_on, limit("gpu"));
    const auto second = submit(Wanted::limited("gpu"));
    EXPECT_TRUE(claim(worker).empty());
    // Now somebody takes the key, and the limit is freed: the first one is promoted, cannot have
    // its key, and the second one must get the limit.
    auto urgent = Wanted::keyed("k");
    urgent.priority = 0;
    submit(urgent);
    const auto keyed = claim_one(worker);
    finish(worker, holders[1].attempt, success());
    EXPECT_EQ(state(first), JobState::ready);
    EXPECT_EQ(state(second), JobState::blocked);
    EXPECT_EQ(claim_one(worker).job, second);
    EXPECT_EQ(job(first).blocked_on, key("k"));
    finish(worker, keyed, success());
}

TEST_P(StoreContract, a_long_line_behind_one_key_costs_its_neighbours_nothing) {
    const auto worker = open_session({.slots = 2});
    for (int i = 0; i < 50; ++i) submit(Wanted::keyed("k"));
    const auto last = submit(Wanted::job());
    const auto claimed = claim(worker);
    ASSERT_EQ(claimed.size(), 2U);
    EXPECT_EQ(claimed[1].attempt.job, last);
    EXPECT_EQ(get<Claimed>(try_claim(worker)).left, 0U);
}

TEST_P(StoreContract, claims_get_past_a_very_long_line_piece_by_piece) {
    const auto worker = open_session({.slots = 2});
    std::vector<Change> line;
    for (int i = 0; i < 3'000; ++i) line.push_back(submit_of(Wanted::keyed("k")));
    commit(std::move(line));
    const auto last = submit(Wanted::job());
    std::vector<Assignment> claimed;
    std::size_t left = 1;
    for (int claims = 0; claims < 10 && left > 0; ++claims) {
        const auto some = get<Claimed>(try_claim(worker));
        claimed.insert(claimed.end(), some.assignments.begin(), some.assignments.end());
        left = some.left;
    }
    ASSERT_EQ(claimed.size(), 2U);
    EXPECT_EQ(claimed[1].attempt.job, last);
    EXPECT_EQ(left, 0U);
}

// A line of jobs that can only be blocked is worked off, claim by claim, without a pause.
TEST_P(StoreContract, a_claim_that_could_only_block_says_that_it_is_not_finished) {
    const auto worker = open_session({.slots = 4});
    SubmitAll batch;
    for (int i = 0; i < 1'500; ++i) batch.jobs.push_back(submit_of(Wanted::keyed("k")));
    ASSERT_FALSE(get<BatchSubmitted>(apply(batch)).refused);
    const auto other = submit(Wanted::job());
    const auto first = get<Claimed>(try_claim(worker));
    EXPECT_EQ(first.assignments.size(), 1U);
    EXPECT_TRUE(first.unfinished);
    const auto second = get<Claimed>(try_claim(worker));
    ASSERT_EQ(second.assignments.size(), 1U);
    EXPECT_EQ(second.assignments.front().attempt.job, other);
    EXPECT_FALSE(second.unfinished);
}

TEST_P(StoreContract, a_claim_without_free_slots_is_finished) {
    const auto worker = open_session({.slots = 1});
    submit(Wanted::job());
    submit(Wanted::job());
    const auto claimed = get<Claimed>(try_claim(worker));
    EXPECT_EQ(claimed.assignments.size(), 1U);
    EXPECT_FALSE(claimed.unfinished);
    EXPECT_EQ(claimed.left, 1U);
}

}  // namespace
}  // namespace perdure::contract
