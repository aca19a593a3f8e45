// A budget for everything: whatever a hundred thousand rows stand behind, one group touches few of
// them. Counted in rows, not in time (C8).
#include "store/memory/memory_store.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

constexpr std::uint32_t hundred_thousand = 100'000;
// Of what no change names, a group touches so many; each is read, changed and written, and may have
// relations.
constexpr std::uint64_t owed_budget = 10 * 10'000;
// Everything else.
constexpr std::uint64_t budget = 5'000;

class RowBudget : public StoreContract {
protected:
    std::vector<JobId> submit_many(const JobSpec& spec) {
        std::vector<JobId> ids;
        while (ids.size() < hundred_thousand) {
            SubmitAll batch;
            for (int i = 0; i < 10'000; ++i) batch.jobs.push_back(submit_of(spec));
            for (const auto& job : batch.jobs) ids.push_back(job.id);
            EXPECT_FALSE(get<BatchSubmitted>(apply(std::move(batch))).refused);
        }
        return ids;
    }
    std::uint64_t touched_by(std::vector<Change> changes) {
        auto& memory = dynamic_cast<MemoryStore&>(store());
        const auto before = memory.rows_touched();
        reply_ = commit(std::move(changes));
        return memory.rows_touched() - before;
    }
    // The most that a group touches until nothing is owed.
    std::uint64_t touched_by_paying() {
        std::uint64_t most = 0;
        while (reply_.owes) most = std::max(most, touched_by({Sweep{}}));
        return most;
    }
    std::size_t count(const std::vector<JobId>& ids, JobState in) {
        std::size_t found = 0;
        const auto views = run(store().jobs(ids));
        for (const auto& view : *views) found += view.state == in ? 1 : 0;
        return found;
    }

    GroupReply reply_;
};

TEST_P(RowBudget, an_end_that_all_wait_for) {
    const auto worker = open_session();
    const auto first = submit(Wanted::job());
    auto spec = Wanted::job();
    spec.after = {{first, Trigger::success}};
    const auto waiters = submit_many(spec);
    const auto attempt = run_one(worker);
    EXPECT_LE(touched_by({Report{worker, attempt, success()}}), owed_budget);
    EXPECT_TRUE(reply_.owes);
    EXPECT_LE(touched_by_paying(), owed_budget);
    EXPECT_EQ(count(waiters, JobState::ready), waiters.size());
}

TEST_P(RowBudget, a_chain_of_cancelled_ones) {
    const auto first = submit(Wanted::job());
    std::vector<JobId> chain;
    for (auto last = first; chain.size() < hundred_thousand; last = chain.back()) {
        auto spec = Wanted::job();
        spec.after = {{last, Trigger::success}};
        chain.push_back(submit(spec));
    }
    EXPECT_LE(touched_by({Cancel{first}}), owed_budget);
    EXPECT_LE(touched_by_paying(), owed_budget);
    EXPECT_EQ(count(chain, JobState::cancelled), chain.size());
}

TEST_P(RowBudget, a_limit_that_all_are_blocked_on) {
    define_limit("pool", 1);
    const auto worker = open_session({.slots = 8});
    submit(Wanted::limited("pool"));
    const auto holder = run_one(worker);
    submit_many(Wanted::limited("pool"));
    // A claim that meets nothing but blocked ones moves them away a piece at a time.
    EXPECT_LE(touched_by({Claim{worker, session(worker).stream, 1}}), budget);
    for (int i = 0; i < 200; ++i) claim(worker, 1);
    EXPECT_LE(touched_by({DefineLimit{"default", "pool", 50'000}}), budget);
    EXPECT_LE(touched_by({Report{worker, holder, success()}}), budget);
}

TEST_P(RowBudget, what_waits_its_time_or_has_ended) {
    auto spec = Wanted::job();
    spec.run_at = wall + hours(1);
    submit_many(spec);
    EXPECT_LE(touched_by({PauseQueue{"default", "default", true}}), budget);
    EXPECT_LE(touched_by({PauseQueue{"default", "default", false}}), budget);
    wall = wall + hours(2);
    const auto due = overdue();
    EXPECT_EQ(due.waiting.size(), 1'000U);
    EXPECT_LE(touched_by({sweep_of(due)}), budget);
}

TEST_P(RowBudget, retention) {
    for (const auto id : submit_many(Wanted::job())) EXPECT_TRUE(apply(Cancel{id}));
    pass(days(400));
    EXPECT_LE(touched_by({ForgetEnded{100}}), budget);
}

TEST_P(RowBudget, a_heartbeat_and_a_claim_among_many) {
    submit_many(Wanted::job());
    const auto many = open_session({.name = "many", .slots = hundred_thousand});
    const auto few = open_session({.name = "few", .slots = 8});
    for (int i = 0; i < 90; ++i) claim(many, 1'000);
    claim(few, 8);
    EXPECT_LE(touched_by({heartbeat_of(few)}), budget);
    EXPECT_LE(touched_by({Claim{many, session(many).stream, 1}}), budget);
}

INSTANTIATE_TEST_SUITE_P(Memory, RowBudget, testing::Values(store_factories().front()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace perdure::contract
