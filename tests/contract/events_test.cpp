// What a group's reply tells about jobs to those who count: each claim, each end of an attempt,
// each end of a job, once.
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

std::vector<std::string> ends_of(const GroupReply& reply) {
    std::vector<std::string> ends;
    for (const auto& event : reply.events)
        if (event.end)
            ends.push_back(event.spec->queue + " " + std::string(to_string(event.end->state)) +
                           " " + std::string(to_string(event.end->cause)));
    return ends;
}

TEST_P(StoreContract, a_claim_tells_how_long_the_job_waited) {
    const auto worker = open_session();
    submit(Wanted::job());
    pass_with_heartbeats(seconds(3));
    const auto reply = commit({Claim{worker, session(worker).stream, 1}});
    ASSERT_EQ(reply.events.size(), 1U);
    EXPECT_EQ(reply.events[0].waited, seconds(3));
    EXPECT_FALSE(reply.events[0].ran || reply.events[0].end);
}

TEST_P(StoreContract, an_end_tells_queue_state_cause_and_how_long_it_ran) {
    const auto worker = open_session();
    auto spec = Wanted::job();
    spec.queue = "mail";
    submit(spec);
    const auto attempt = run_one(worker);
    pass_with_heartbeats(seconds(2));
    const auto reply = commit({Report{worker, attempt, exit_with(3)}});
    EXPECT_EQ(ends_of(reply), std::vector<std::string>{"mail failed exit"});
    ASSERT_EQ(reply.events.size(), 1U);
    EXPECT_EQ(reply.events[0].ran, seconds(2));
    EXPECT_FALSE(reply.events[0].waited);
    const auto again = commit({Report{worker, attempt, exit_with(3)}});
    EXPECT_TRUE(again.events.empty()) << "it was told before";
}

TEST_P(StoreContract, an_attempt_that_is_lost_has_run_and_its_job_has_not_ended) {
    const auto worker = open_session();
    submit(Wanted::job());
    run_one(worker);
    pass(minutes(1));
    const auto reply = commit({sweep_of(overdue())});
    ASSERT_EQ(reply.events.size(), 1U);
    EXPECT_TRUE(reply.events[0].ran);
    EXPECT_FALSE(reply.events[0].end);
}

TEST_P(StoreContract, an_attempt_that_comes_back_is_no_claim) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    auto heartbeat = heartbeat_of(worker);
    heartbeat.attempts = {{.attempt = attempt, .assignment = 1, .phase = Listed::Phase::running}};
    const auto reply = commit({heartbeat});
    EXPECT_EQ(state(attempt.job), JobState::running);
    EXPECT_TRUE(reply.events.empty());
}

TEST_P(StoreContract, what_a_cancel_ends_down_a_chain_is_told_of_each) {
    auto first = submit_of(Wanted::job());
    auto spec = Wanted::job();
    spec.after = {{first.id}};
    auto second = submit_of(spec);
    commit({first, second});
    const auto reply = commit({Cancel{first.id}});
    EXPECT_EQ(ends_of(reply), (std::vector<std::string>{"default cancelled cancelled",
                                                        "default cancelled cancelled"}));
}

}  // namespace
}  // namespace perdure::contract
