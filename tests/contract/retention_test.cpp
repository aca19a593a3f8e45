// Retention: what has ended is kept for a while and then removed, with its history; its idempotency
// key outlives it (C5).
#include <algorithm>

#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

class Retention : public StoreContract {
protected:
    std::vector<JobId> forget(std::uint32_t max = 100) {
        return get<Forgotten>(apply(ForgetEnded{max})).jobs;
    }
    bool is_there(JobId id) {
        auto found = run(store().jobs({id}));
        return found.has_value() && !found->empty();
    }
    // Submitted, run and ended with success.
    JobId ended(const JobSpec& spec) {
        const auto worker = open_session({.name = "worker-" + std::to_string(next_id())});
        const auto id = submit(spec);
        finish(worker, run_one(worker), success());
        return id;
    }
};

TEST_P(Retention, an_ended_job_is_kept_until_its_retention_is_over) {
    const auto id = ended(Wanted::job());
    EXPECT_EQ(*job(id).forget_at, *job(id).ended_at + timing.retention);
    pass(timing.retention - seconds(1));
    EXPECT_TRUE(forget().empty());
    EXPECT_TRUE(is_there(id));
    pass(seconds(1));
    EXPECT_EQ(forget(), std::vector{id});
    EXPECT_FALSE(is_there(id));
    EXPECT_TRUE(forget().empty());
}

TEST_P(Retention, goes_in_small_batches_oldest_first) {
    std::vector<JobId> ids;
    for (int i = 0; i < 5; ++i) {
        ids.push_back(ended(Wanted::job()));
        pass(seconds(1));
    }
    pass(timing.retention);
    EXPECT_EQ(forget(2), (std::vector{ids[0], ids[1]}));
    EXPECT_EQ(forget(2), (std::vector{ids[2], ids[3]}));
    EXPECT_EQ(forget(2), (std::vector{ids[4]}));
}

// Else what a busy hour has left is removed in one transaction, or six jobs a second (C8).
TEST_P(Retention, says_that_there_may_be_more_of_jobs_and_of_keys) {
    for (int i = 0; i < 5; ++i) {
        auto spec = Wanted::job();
        spec.idempotency_key = "k" + std::to_string(i);
        ended(spec);
    }
    const auto is_unfinished = [&] { return get<Forgotten>(apply(ForgetEnded{2})).unfinished; };
    EXPECT_FALSE(is_unfinished());
    pass(timing.retention);
    EXPECT_TRUE(is_unfinished());
    EXPECT_TRUE(is_unfinished());
    EXPECT_FALSE(is_unfinished()) << "the fifth was the last one";
    pass(timing.keep_key);
    EXPECT_TRUE(is_unfinished()) << "their keys go as slowly";
    EXPECT_TRUE(is_unfinished());
    EXPECT_FALSE(is_unfinished());
}

TEST_P(Retention, never_touches_a_job_that_has_not_ended) {
    const auto waiting = submit(Wanted::job());
    auto later = Wanted::job();
    later.run_at = wall + days(3650);
    const auto scheduled = submit(later);
    const auto worker = open_session();
    run_one(worker);
    pass(timing.retention + timing.unresolved);
    EXPECT_TRUE(forget().empty());
    EXPECT_TRUE(is_there(waiting));
    EXPECT_TRUE(is_there(scheduled));
}

TEST_P(Retention, what_is_in_quarantine_waits_for_a_person) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    lose(run_one(worker));
    ASSERT_EQ(state(id), JobState::quarantined);
    pass(timing.retention);
    EXPECT_TRUE(forget().empty());
    const DealWithQuarantined discard{.job = id, .action = QuarantineAction::discard};
    ASSERT_TRUE(apply(discard).has_value());
    EXPECT_EQ(forget(), std::vector{id});
}

TEST_P(Retention, a_key_is_kept_as_long_as_its_submit_has_asked_for) {
    auto spec = Wanted::job();
    spec.idempotency_key = "a-little-longer";
    spec.keep_key = timing.retention + hours(1);
    auto brief = spec;
    brief.idempotency_key = "for-an-hour";
    brief.keep_key = hours(1);
    ended(spec);
    ended(brief);
    pass(timing.retention);
    EXPECT_EQ(forget().size(), 2U);
    EXPECT_TRUE(refused(apply(submit_of(spec)), Errc::gone));
    EXPECT_TRUE(
        get<Submitted>(apply(submit_of(brief))).created);  // the job itself was there longer
    pass(hours(1));
    EXPECT_TRUE(get<Submitted>(apply(submit_of(spec))).created);
}

// Ids do not tell who came first: the clock of the server that drew this one was years ahead.
TEST_P(Retention, a_session_stays_while_a_job_is_there_that_was_submitted_before_it_ended) {
    const auto first = open_session({.name = "first"});
    auto early = submit_of(Wanted::job());
    early.id = JobId{IdSource(0, 0).next(wall + days(4'000))};
    ASSERT_TRUE(apply(early).has_value());
    finish(first, run_one(first), wants_to_run_at(wall + days(3'000)));
    pass(days(3));
    const auto low = submit(Wanted::job());
    ASSERT_LT(low, early.id);
    forget();
    EXPECT_TRUE(run(store().owner(first)).has_value()) << "an attempt names it";
    for (const auto id : {low, early.id}) ASSERT_TRUE(apply(Cancel{id}).has_value());
    pass(timing.retention + days(1));
    forget();
    EXPECT_TRUE(run(store().owner(first)).is(Errc::not_found));
}

TEST_P(Retention, a_session_goes_when_no_attempt_can_name_it) {
    const Worker same{.name = "same"};
    const auto first = open_session(same);
    const auto id = submit(Wanted::job());
    finish(first, run_one(first), success());
    const auto later = takeover_of(first, same);
    ASSERT_TRUE(apply(later).has_value());
    const auto busy = open_session({.name = "busy"});
    const auto running = submit(Wanted::once());
    run_one(busy);
    const auto is_known = [&](SessionId session) {
        return run(store().session(session)).has_value();
    };

    // All are silent for long; but the first job names the first session, the second one the third.
    pass(timing.retention - seconds(1));
    EXPECT_TRUE(forget().empty());
    EXPECT_TRUE(is_known(first));
    EXPECT_TRUE(is_known(busy));
    pass(seconds(1));
    EXPECT_EQ(forget(), std::vector{id});
    EXPECT_TRUE(is_known(first)) << "a job that was there with it is there";
    const DealWithQuarantined discard{.job = running, .action = QuarantineAction::discard};
    sweep();
    ASSERT_TRUE(apply(discard).has_value());
    pass(timing.retention);
    EXPECT_EQ(forget(), std::vector{running});
    EXPECT_FALSE(is_known(first));
    EXPECT_FALSE(is_known(later.session));
    EXPECT_FALSE(is_known(busy));

    // A directory that comes back is a new one, and what runs is kept.
    const auto back = open_session(same);
    submit(Wanted::once());
    run_one(back);
    pass(timing.retention);
    EXPECT_TRUE(forget().empty());
    EXPECT_TRUE(is_known(back));
}

TEST_P(Retention, the_key_of_a_removed_job_says_gone_until_its_own_time_is_over) {
    auto spec = Wanted::job();
    spec.idempotency_key = "once-only";
    const auto id = ended(spec);
    const auto ended_at = *job(id).ended_at;
    pass(timing.retention);
    ASSERT_EQ(forget(), std::vector{id});

    const auto again = apply(submit_of(spec));
    ASSERT_TRUE(refused(again, Errc::gone));
    EXPECT_NE(again.error().what.find(id.text()), std::string::npos);
    EXPECT_NE(again.error().what.find("succeeded"), std::string::npos);
    auto other = spec;
    other.priority = 1;
    EXPECT_TRUE(refused(apply(submit_of(other)), Errc::conflict));

    pass(ended_at + timing.keep_key - now());
    const auto fresh = get<Submitted>(apply(submit_of(spec)));
    EXPECT_TRUE(fresh.created);
    EXPECT_NE(fresh.id, id);
}

TEST_P(Retention, a_released_job_begins_a_new_time_at_its_next_end) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    lose(run_one(worker));
    pass(timing.retention);
    const DealWithQuarantined release{
        .job = id, .action = QuarantineAction::release, .may_still_run = true};
    ASSERT_TRUE(apply(release).has_value());
    const auto next = open_session({.name = "worker-2"});
    finish(next, run_one(next), success());
    EXPECT_EQ(*job(id).forget_at, now() + timing.retention);
}

TEST_P(Retention, evidence_is_kept_with_the_attempt) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    const auto evidence = std::make_shared<const Evidence>(
        Evidence{.result = R"({"answer":42})",
                 .detail = "a sentence",
                 .last_lines = std::string("one\ntwo\0three\n", 15),
                 .host = "h1",
                 .peak_memory = 4096,
                 .ran_for = milliseconds(12)});
    ASSERT_TRUE(apply(Report{worker, attempt, success(), evidence}).has_value());
    ASSERT_TRUE(last_attempt(id).evidence);
    EXPECT_EQ(*last_attempt(id).evidence, *evidence);
    EXPECT_EQ(last_attempt(id).claimed_on, wall);
    EXPECT_EQ(last_attempt(id).ended_on, wall);
    EXPECT_EQ(job(id).ended_on, wall);
}

TEST_P(Retention, the_evidence_of_a_late_result_is_kept) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = run_one(worker);
    lose(attempt);
    const auto evidence = std::make_shared<const Evidence>(Evidence{.result = "1"});
    ASSERT_TRUE(apply(Report{worker, attempt, success(), evidence}).has_value());
    ASSERT_TRUE(last_attempt(id).late_result);
    ASSERT_TRUE(last_attempt(id).evidence);
    EXPECT_EQ(*last_attempt(id).evidence, *evidence);
}

INSTANTIATE_TEST_SUITE_P(Stores, Retention, testing::ValuesIn(store_factories()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace perdure::contract
