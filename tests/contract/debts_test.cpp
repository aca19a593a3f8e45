// Debts: what would touch too many rows for one group is owed by it and paid in pieces by those
// that follow; nobody is forgotten, and nobody is told twice (C8) [P7].
#include "ports/catalogue.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

constexpr std::uint32_t room = 10;
constexpr std::uint32_t crowd = 3 * room + 5;

class Debts : public StoreContract {
protected:
    Debts() : StoreContract({.group_room = room, .unwritten = {}}) { worker_ = open_session(); }

    static JobSpec waiting_for(JobId other, Trigger on = Trigger::success) {
        auto spec = Wanted::job();
        spec.after = {{other, on}};
        return spec;
    }
    std::vector<JobId> submit_all(std::uint32_t jobs, JobSpec spec) {
        SubmitAll batch;
        std::vector<JobId> ids;
        for (std::uint32_t i = 0; i < jobs; ++i) {
            batch.jobs.push_back(submit_of(spec));
            ids.push_back(batch.jobs.back().id);
        }
        EXPECT_FALSE(get<BatchSubmitted>(apply(batch)).refused);
        return ids;
    }
    std::uint32_t count(const std::vector<JobId>& ids, JobState in) {
        std::uint32_t found = 0;
        for (const auto id : ids) found += state(id) == in ? 1 : 0;
        return found;
    }
    // Groups that have nothing else to do, until nothing is owed. How many.
    std::uint32_t pay() {
        for (std::uint32_t groups = 1; groups <= crowd; ++groups)
            if (!commit({Sweep{}}).owes) return groups;
        ADD_FAILURE() << "nobody pays";
        return 0;
    }
    GroupReply end(AttemptKey attempt, const AttemptEnd& how) {
        return commit({Report{worker_, attempt, how}});
    }

    SessionId worker_;
};

TEST_P(Debts, an_end_tells_so_many_at_once_and_the_others_later) {
    const auto first = submit(Wanted::job());
    const auto waiters = submit_all(crowd, waiting_for(first));
    const auto attempt = run_one(worker_);
    EXPECT_TRUE(end(attempt, success()).owes);
    const auto told = count(waiters, JobState::ready);
    EXPECT_GT(told, 0U);
    EXPECT_LE(told, room);
    EXPECT_GE(pay(), (crowd - told) / room);
    EXPECT_EQ(count(waiters, JobState::ready), crowd);
    EXPECT_EQ(audit().repairs, 0U);
}

TEST_P(Debts, a_chain_that_is_cancelled_is_cancelled_to_its_end) {
    const auto first = submit(Wanted::job());
    std::vector<JobId> chain;
    for (std::uint32_t i = 0; i < crowd; ++i)
        chain.push_back(submit(waiting_for(i == 0 ? first : chain.back())));
    const auto attempt = run_one(worker_);
    EXPECT_TRUE(end(attempt, exit_with(3)).owes);
    EXPECT_LE(count(chain, JobState::cancelled), room + 1);
    pay();
    EXPECT_EQ(count(chain, JobState::cancelled), crowd);
}

TEST_P(Debts, who_joins_while_others_are_told_is_not_kept_waiting) {
    const auto first = submit(Wanted::job());
    submit_all(crowd, waiting_for(first));
    const auto attempt = run_one(worker_);
    EXPECT_TRUE(end(attempt, success()).owes);
    EXPECT_EQ(state(submit(waiting_for(first))), JobState::ready);
    pay();
}

TEST_P(Debts, nobody_is_released_before_all_know_of_its_end) {
    auto spec = Wanted::once();
    const auto first = submit(spec);
    const auto waiters = submit_all(crowd, waiting_for(first, Trigger::failure));
    const auto attempt = run_one(worker_);
    pass(timing.lease + timing.tick + seconds(1));
    pass(minutes(6));
    commit({sweep_of(overdue())});
    ASSERT_EQ(state(first), JobState::quarantined) << attempt.epoch.value;
    const DealWithQuarantined release{first, QuarantineAction::release, true};
    EXPECT_TRUE(refused(apply(release), Errc::conflict));
    pay();
    EXPECT_EQ(count(waiters, JobState::ready), crowd);
    EXPECT_TRUE(apply(release));
}

TEST_P(Debts, a_job_is_kept_until_all_know_of_its_end) {
    const auto first = submit(Wanted::job());
    const auto waiters = submit_all(crowd, waiting_for(first));
    const auto attempt = run_one(worker_);
    end(attempt, success());
    pass(days(400));
    EXPECT_TRUE(get<Forgotten>(apply(ForgetEnded{100})).jobs.empty());
    pay();
    EXPECT_EQ(get<Forgotten>(apply(ForgetEnded{100})).jobs, std::vector{first});
}

TEST_P(Debts, a_free_thing_is_offered_to_so_many_shapes_at_once_and_to_the_others_later) {
    define_limit("pool", 1);
    submit(Wanted::limited("pool"));
    const auto holder = run_one(worker_);
    std::vector<JobId> blocked;
    for (std::uint32_t i = 0; i < crowd; ++i) {
        auto spec = Wanted::limited("pool");
        spec.kind = "kind-" + std::to_string(i);
        blocked.push_back(submit(spec));
    }
    EXPECT_TRUE(claim(worker_).empty());
    EXPECT_EQ(count(blocked, JobState::blocked), crowd);
    EXPECT_TRUE(end(holder, success()).owes);
    EXPECT_LE(count(blocked, JobState::ready), room);
    pay();
    EXPECT_EQ(count(blocked, JobState::ready), crowd);
    EXPECT_EQ(audit().repairs, 0U);
}

INSTANTIATE_TEST_SUITE_P(Stores, Debts, testing::ValuesIn(store_factories()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace perdure::contract
