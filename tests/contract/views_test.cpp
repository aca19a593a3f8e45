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
    AuditPlace after;
    for (int range = 0; range < 3; ++range) {
        const auto view = *run(store().audit(after, 2));
        EXPECT_EQ(view.holders.size(), range == 0 ? 1U : 0U);
        EXPECT_EQ(view.next.has_value(), range < 2);
        for (const auto& job : view.jobs) seen.push_back(job.id);
        after = {.job = seen.back()};
    }
    EXPECT_EQ(seen, all);
    EXPECT_TRUE(run(store().audit(after, 2))->jobs.empty());
    EXPECT_FALSE(run(store().audit(after, 2))->next.has_value());
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

// However many there are, each can be reached (C8).
TEST_P(StoreContract, attempts_are_shown_in_windows) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    for (int i = 0; i < 5; ++i) finish(worker, run_one(worker), conflict_with_somebody());
    const auto shown = [&](AttemptWindow window) {
        std::vector<std::uint32_t> epochs;
        const auto views = run(store().jobs({id}, window));
        for (const auto& attempt : views->front().attempts) epochs.push_back(attempt.epoch.value);
        const auto for_people =
            run(dynamic_cast<Catalogue&>(store()).job({.job = id, .attempts = window}));
        EXPECT_EQ(for_people->job.attempts.size(), epochs.size());
        EXPECT_EQ(for_people->workers.size(), epochs.empty() ? 0U : 1U);
        EXPECT_EQ(for_people->job.epoch, Epoch{5});
        return epochs;
    };
    using Epochs = std::vector<std::uint32_t>;
    EXPECT_EQ(shown({.max = 2}), (Epochs{4, 5}));
    EXPECT_EQ(shown({.before = Epoch{4}, .max = 2}), (Epochs{2, 3}));
    EXPECT_EQ(shown({.before = Epoch{2}, .max = 2}), (Epochs{1}));
    EXPECT_EQ(shown({.before = Epoch{1}, .max = 2}), Epochs{});
    EXPECT_EQ(shown(only(Epoch{3})), (Epochs{3}));
    EXPECT_EQ(shown(only(Epoch{6})), (Epochs{5})) << "it is not there yet";
    EXPECT_EQ(shown({.before = Epoch{100}, .max = 100}), (Epochs{1, 2, 3, 4, 5}));
}

TEST_P(StoreContract, the_owner_of_attempts_is_shown_without_them) {
    const auto worker = open_session({.name = "w-7"});
    const auto owner = run(store().owner(worker));
    ASSERT_TRUE(owner.has_value());
    EXPECT_EQ(owner->worker, "w-7");
    EXPECT_TRUE(owner->open);
    EXPECT_EQ(owner->lease_deadline, session(worker).lease_deadline);
    EXPECT_EQ(owner->clock.now, now());
    const SessionId nobody{worker.value + 1};
    EXPECT_TRUE(run(store().owner(nobody)).is(Errc::not_found));
    const auto owners = run(dynamic_cast<Catalogue&>(store()).owners({nobody, worker}));
    ASSERT_EQ(owners->size(), 1U);
    EXPECT_EQ(owners->front().session, worker);
}

}  // namespace
}  // namespace perdure::contract
