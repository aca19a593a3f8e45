// Views that are not covered where their content is made: jobs, audit, order.
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

TEST_P(StoreContract, jobs_are_shown_in_the_order_asked_and_unknown_ones_left_out) {
    const auto first = submit(Wanted::job());
    const auto second = submit(Wanted::job());
    const auto views = *run(store().jobs({second, JobId{next_id()}, first}));
    ASSERT_EQ(views.size(), 2U);
    EXPECT_EQ(views[0].id, second);
    EXPECT_EQ(views[1].id, first);
    EXPECT_TRUE(run(store().jobs({}))->empty());
}

TEST_P(StoreContract, an_audit_goes_through_all_jobs_in_ranges) {
    const auto worker = open_session();
    std::vector<JobId> all{submit(Wanted::keyed("k"))};
    run_one(worker);
    for (int i = 0; i < 4; ++i) all.push_back(submit(Wanted::job()));
    std::vector<JobId> seen;
    JobId after;
    for (int range = 0; range < 3; ++range) {
        const auto view = *run(store().audit(after, 2));
        EXPECT_EQ(view.holders.size(), range == 0 ? 1U : 0U);
        EXPECT_EQ(view.more, range < 2);
        for (const auto& job : view.jobs) seen.push_back(job.id);
        after = seen.back();
    }
    EXPECT_EQ(seen, all);
    EXPECT_TRUE(run(store().audit(after, 2))->jobs.empty());
    EXPECT_FALSE(run(store().audit(after, 2))->more);
}

TEST_P(StoreContract, runs_are_shown_in_order_of_their_assignment_numbers) {
    const auto worker = open_session();
    const auto last = submit_of(Wanted::job());
    for (int i = 0; i < 3; ++i) {
        submit(Wanted::job());
        claim_one(worker);
    }
    ASSERT_TRUE(apply(last).has_value());  // the lowest id, the highest number
    claim_one(worker);
    const auto runs = session(worker).runs;
    ASSERT_EQ(runs.size(), 4U);
    for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i].assignment, i + 1);
    EXPECT_EQ(runs.back().attempt.job, last.id);
    EXPECT_EQ(session(worker).clock.now, now());
}

TEST_P(StoreContract, attempts_are_shown_in_order_of_their_epochs) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    for (int i = 0; i < 3; ++i) finish(worker, run_one(worker), conflict_with_somebody());
    const auto attempts = job(id).attempts;
    ASSERT_EQ(attempts.size(), 3U);
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(attempts[i].epoch, Epoch{i + 1});
}

}  // namespace
}  // namespace perdure::contract
