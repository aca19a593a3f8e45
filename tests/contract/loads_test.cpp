// Loads: how often a group asks its tables for rows. Each is a round trip if they are far away, so
// that it must not grow with the group, even if the working set knows nothing at its beginning
// (store/engine/state/group_rows.h). Counted, not timed.
#include <functional>

#include "store/memory/memory_store.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

constexpr std::uint32_t loaded_jobs = 200;

class Loads : public StoreContract {
protected:
    std::uint64_t loads_of(std::vector<Change> changes) {
        auto& memory = dynamic_cast<MemoryStore&>(store());
        memory.restart();
        const auto before = memory.loads();
        replies_ = commit(std::move(changes)).replies;
        for (const auto& reply : replies_) EXPECT_TRUE(reply.has_value());
        return memory.loads() - before;
    }
    std::vector<JobId> submit_many(const std::function<JobSpec(std::uint32_t)>& spec) {
        std::vector<JobId> ids;
        for (std::uint32_t i = 0; i < loaded_jobs; ++i) ids.push_back(submit(spec(i)));
        return ids;
    }
    static std::string named(std::uint32_t number) { return "n" + std::to_string(number); }

    std::vector<ChangeReply> replies_;
};

TEST_P(Loads, of_many_reports) {
    const auto worker = open_session({.slots = loaded_jobs});
    submit_many([](auto) { return Wanted::job(); });
    std::vector<Change> reports;
    for (const auto& assignment : claim(worker, loaded_jobs))
        reports.push_back(Report{worker, assignment.attempt, success()});
    ASSERT_EQ(reports.size(), loaded_jobs);
    EXPECT_LE(loads_of(std::move(reports)), 1U);
}

// More of them than there is room for among those that wait.
TEST_P(Loads, of_reports_of_what_runs) {
    constexpr std::size_t running = 17'000;
    constexpr std::uint32_t at_once = 1'000;
    const auto worker = open_session({.slots = running});
    std::vector<Assignment> all;
    while (all.size() < running) {
        std::vector<Change> submits;
        for (std::uint32_t i = 0; i < at_once; ++i) submits.emplace_back(submit_of(Wanted::job()));
        commit(std::move(submits));
        const auto some = claim(worker, at_once);
        ASSERT_EQ(some.size(), at_once);
        all.insert(all.end(), some.begin(), some.end());
    }
    const auto& memory = dynamic_cast<MemoryStore&>(store());
    const auto before = memory.loads();
    std::vector<Change> reports;
    for (std::size_t i = 0; i < at_once; ++i)
        reports.push_back(Report{worker, all[i].attempt, success()});
    commit(std::move(reports));
    EXPECT_EQ(memory.loads(), before);
}

TEST_P(Loads, of_many_ends_that_free_keys_and_let_waiters_go_on) {
    const auto worker = open_session({.slots = loaded_jobs});
    std::vector<JobId> waiters;
    const auto ids = submit_many([](std::uint32_t i) { return Wanted::keyed(named(i)); });
    std::vector<Change> reports;
    for (const auto& assignment : claim(worker, loaded_jobs))
        reports.push_back(Report{worker, assignment.attempt, success()});
    ASSERT_EQ(reports.size(), loaded_jobs);
    const auto blocked = submit_many([](std::uint32_t i) { return Wanted::keyed(named(i)); });
    for (const auto id : ids) {
        auto spec = Wanted::job();
        spec.after = {{id, Trigger::success}};
        waiters.push_back(submit(spec));
    }
    const auto other = open_session({.name = "other", .slots = loaded_jobs});
    EXPECT_TRUE(claim(other, loaded_jobs).empty());
    EXPECT_LE(loads_of(std::move(reports)), 12U);
    for (const auto id : blocked) EXPECT_EQ(state(id), JobState::ready);
    for (const auto id : waiters) EXPECT_EQ(state(id), JobState::ready);
}

TEST_P(Loads, of_many_idempotency_keys) {
    const auto spec = [](std::uint32_t i) {
        auto keyed = Wanted::job();
        keyed.idempotency_key = named(i);
        return keyed;
    };
    const auto ids = submit_many(spec);
    std::vector<Change> again;
    for (std::uint32_t i = 0; i < loaded_jobs; ++i) again.emplace_back(submit_of(spec(i)));
    EXPECT_LE(loads_of(std::move(again)), 10U);
    for (std::uint32_t i = 0; i < loaded_jobs; ++i)
        EXPECT_EQ(get<Submitted>(replies_[i]).id, ids[i]) << i;
}

TEST_P(Loads, of_a_claim_from_many_lines) {
    submit_many([](std::uint32_t i) {
        auto spec = Wanted::job();
        spec.queue = named(i);
        return spec;
    });
    const auto worker = open_session({.slots = loaded_jobs});
    const auto stream = session(worker).stream;
    EXPECT_LE(loads_of({Claim{worker, stream, loaded_jobs}}), 3U);
    EXPECT_EQ(get<Claimed>(replies_.front()).assignments.size(), loaded_jobs);
}

// Their fronts are known, and their jobs were let go.
TEST_P(Loads, of_claims_from_many_lines_that_are_known) {
    auto& memory = dynamic_cast<MemoryStore&>(store());
    memory.be_far_away(loaded_jobs);
    for (int i = 0; i < 3; ++i) {
        submit_many([](std::uint32_t number) {
            auto spec = Wanted::job();
            spec.queue = named(number);
            return spec;
        });
    }
    const auto worker = open_session({.slots = 3 * loaded_jobs});
    for (int i = 0; i < 3; ++i) {
        const auto before = memory.loads();
        EXPECT_EQ(claim(worker, loaded_jobs).size(), loaded_jobs);
        EXPECT_LE(memory.loads() - before, 5U);
    }
    EXPECT_TRUE(claim(worker, loaded_jobs).empty());
}

TEST_P(Loads, of_a_sweep_that_ends_many) {
    const auto worker = open_session({.slots = loaded_jobs});
    const auto ids = submit_many([](auto) { return Wanted::once(); });
    for (const auto& assignment : claim(worker, loaded_jobs))
        EXPECT_TRUE(start(worker, assignment.attempt));
    pass(hours(1));
    EXPECT_LE(loads_of({Sweep{}}), 3U);
    for (const auto id : ids) EXPECT_EQ(state(id), JobState::quarantined);
}

// What is beyond is left to later groups, and none of it is forgotten (C8) [P7].
TEST_P(Loads, are_bounded_and_whoever_waits_behind_them_has_its_turn) {
    dynamic_cast<MemoryStore&>(store()).be_far_away(2);
    std::vector<JobId> chain{submit(Wanted::job())};
    while (chain.size() < loaded_jobs) {
        auto spec = Wanted::job();
        spec.after = {{chain.back(), Trigger::success}};
        chain.push_back(submit(spec));
    }
    auto reply = commit({Cancel{chain.front()}});
    EXPECT_TRUE(reply.owes);
    for (std::uint32_t groups = 0; reply.owes; ++groups) {
        ASSERT_LT(groups, loaded_jobs);
        reply = commit({Sweep{}});
    }
    for (const auto id : chain) EXPECT_EQ(state(id), JobState::cancelled);
    EXPECT_EQ(audit().repairs, 0U);
}

INSTANTIATE_TEST_SUITE_P(Memory, Loads, testing::Values(store_factories().front()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace perdure::contract
