// Promotion: much becomes free at once, and many wait for it. A transaction promotes a bounded
// piece; the rest follows as the first ones leave, and nobody is forgotten (C4, C8) [P7].
#include "ports/catalogue.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

constexpr std::uint32_t many = 5 * promotion_window;

class Promotion : public StoreContract {
protected:
    // One job holds the only slot of `pool`; `many` others are blocked on it.
    void SetUp() override {
        define_limit("pool", 1);
        worker_ = open_session({.slots = 2 * many});
        submit(Wanted::limited("pool"));
        holder_ = run_one(worker_);
        submit_many();
        EXPECT_TRUE(claim(worker_).empty());
        EXPECT_EQ(count(JobState::blocked), many);
    }

    void submit_many() {
        SubmitAll batch;
        for (std::uint32_t i = 0; i < many; ++i)
            batch.jobs.push_back(submit_of(Wanted::limited("pool")));
        EXPECT_FALSE(get<BatchSubmitted>(apply(batch)).refused);
    }

    std::uint64_t count(JobState state) {
        const auto overview = run(read_overview(dynamic_cast<Catalogue&>(store()), "default"));
        return overview->queues.front().jobs[static_cast<std::size_t>(state)];
    }

    JobId first_ready() {
        const auto page =
            run(dynamic_cast<Catalogue&>(store()).list({.states = {JobState::ready}, .limit = 1}));
        return page->jobs.front().id;
    }

    SessionId worker_;
    AttemptKey holder_;
};

TEST_P(Promotion, raising_a_limit_promotes_a_bounded_piece) {
    const auto reply = commit({DefineLimit{"default", "pool", many}});
    EXPECT_TRUE(reply.work_appeared);
    EXPECT_EQ(count(JobState::ready), promotion_window);
    EXPECT_TRUE(overdue().free_permits.empty());
}

TEST_P(Promotion, the_rest_is_claimed_behind_the_first) {
    define_limit("pool", 2 * many);
    std::size_t claimed = 0;
    for (int i = 0; i < 10; ++i) claimed += claim(worker_, 100).size();
    EXPECT_EQ(claimed, many);
    EXPECT_EQ(count(JobState::blocked), 0U);
    EXPECT_EQ(audit().repairs, 0U);
}

TEST_P(Promotion, it_is_in_claim_order) {
    define_limit("pool", 2 * many);
    JobId last;
    for (const auto& assignment : claim(worker_, many)) {
        EXPECT_LT(last, assignment.attempt.job);
        last = assignment.attempt.job;
    }
}

TEST_P(Promotion, the_rest_goes_on_when_the_first_leave_without_a_claim) {
    define_limit("pool", 2 * many);
    for (std::uint32_t i = 0; i < many; ++i) {
        ASSERT_GT(count(JobState::ready), 0U) << i << " left, and nobody is offered the free limit";
        ASSERT_TRUE(apply(Cancel{first_ready()}).has_value());
        ASSERT_LE(count(JobState::ready), promotion_window);
        ASSERT_TRUE(overdue().free_permits.empty());
    }
    EXPECT_EQ(count(JobState::cancelled), many);
}

TEST_P(Promotion, raising_and_lowering_again_and_again_promotes_no_more) {
    for (int i = 0; i < 5; ++i) {
        define_limit("pool", many);
        EXPECT_EQ(count(JobState::ready), promotion_window);
        define_limit("pool", 1);
        EXPECT_EQ(count(JobState::ready), promotion_window);
    }
    // What is ready in vain is blocked by the next claim, and promoted as before.
    EXPECT_TRUE(claim(worker_).empty());
    EXPECT_EQ(count(JobState::blocked), many);
    define_limit("pool", 11);
    EXPECT_EQ(count(JobState::ready), 10U);
}

// Those who come later are `ready` at once; they must not keep the earlier ones blocked for ever.
TEST_P(Promotion, each_end_lets_one_more_of_those_who_wait_go_on) {
    submit_many();
    define_limit("pool", 4 * many);
    EXPECT_EQ(count(JobState::blocked), many);
    finish(worker_, holder_, success());
    EXPECT_EQ(count(JobState::blocked), many - 1);
    EXPECT_EQ(claim_one(worker_).job.value, holder_.job.value + 1);
}

TEST_P(Promotion, a_sweep_finds_nothing_to_repair) {
    define_limit("pool", many);
    sweep();
    ASSERT_TRUE(apply(Sweep{.permits = {{Permit::Kind::limit, "default", "pool"}}}).has_value());
    EXPECT_EQ(audit().repairs, 0U);
    EXPECT_EQ(count(JobState::ready), promotion_window);
}

INSTANTIATE_TEST_SUITE_P(Stores, Promotion, testing::ValuesIn(store_factories()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace perdure::contract
