// What becomes of what attempts print (O1).
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/worker_rules.h"
#include "worker/fakes_for_tests.h"

namespace perdure::output_test {
namespace {

constexpr AttemptKey loud{JobId{1}, Epoch{1}};
constexpr AttemptEnd success{.cause = Cause::exit, .ran = Ran::yes, .succeeded = true};

class OutputTest : public testing::Test {
protected:
    void begin(std::uint32_t slots = 40) {
        worker.emplace(WorkerPorts{clock, random, servers, processes},
                       WorkerOptions{.name = "w", .slots = slots}, Log{});
        worker->start();
        clock.pass(milliseconds(10));
    }
    void TearDown() override {
        worker.reset();
        for (auto& stream : servers.streams) stream->abandon();
        clock.settle();
    }
    void run(AttemptKey attempt) {
        servers.stream->push(Assignment{.attempt = attempt, .number = attempt.job.value});
        clock.pass(milliseconds(1));
    }
    bool has_ended(AttemptKey attempt) const {
        return servers.reports_of(attempt, ReportItem::Kind::ended) > 0;
    }
    std::uint64_t undelivered(AttemptKey attempt) const {
        const auto* report = servers.last_report_of(attempt);
        return report && report->evidence ? report->evidence->output_undelivered : 0;
    }
    void answer_slowly(Duration each) {
        servers.log_alarm = clock.make_alarm();
        servers.logs_take = each;
    }

    ManualClock clock;
    CountingRandom random;
    Journal journal;
    FakeServers servers{clock.executor(), journal};
    FakeProcesses processes{clock.executor(), journal};
    std::optional<Worker> worker;
};

TEST_F(OutputTest, is_waited_for_while_it_is_being_taken) {
    begin();
    run(loud);
    answer_slowly(seconds(1));
    const std::string text(12 * log_chunk_max, 'x');
    processes.print(loud, text);
    processes.end(loud, success);
    clock.pass(seconds(10));
    EXPECT_FALSE(has_ended(loud));
    clock.pass(seconds(5));
    ASSERT_TRUE(has_ended(loud));
    EXPECT_EQ(servers.kept[loud].size(), text.size());
    EXPECT_EQ(undelivered(loud), 0U);
}

TEST_F(OutputTest, holds_an_end_back_for_thirty_seconds_at_most_and_its_end_says_what_is_missing) {
    begin();
    run(loud);
    answer_slowly(seconds(1));
    const std::string text(100 * log_chunk_max, 'x');
    processes.print(loud, text);
    processes.end(loud, success);
    clock.pass(seconds(29));
    EXPECT_FALSE(has_ended(loud));
    clock.pass(seconds(3));
    ASSERT_TRUE(has_ended(loud));
    EXPECT_EQ(undelivered(loud) + servers.kept[loud].size(), text.size());
    EXPECT_GT(undelivered(loud), 0U);
}

TEST_F(OutputTest, that_nobody_takes_is_given_up_soon_and_its_end_says_so) {
    begin();
    run(loud);
    servers.on_chunk = [](const LogChunk&) { return ItemAnswer::again; };
    processes.print(loud, "hello");
    processes.end(loud, success);
    clock.pass(output_patience - milliseconds(500));
    EXPECT_FALSE(has_ended(loud));
    clock.pass(seconds(2));
    ASSERT_TRUE(has_ended(loud));
    EXPECT_EQ(undelivered(loud), 5U);
}

TEST_F(OutputTest, is_not_given_up_while_no_server_answers) {
    begin();
    run(loud);
    servers.on_heartbeat = [](const HeartbeatRequest&) { return error(Errc::unavailable, "down"); };
    bool down = true;
    servers.on_chunk = [&](const LogChunk&) { return down ? ItemAnswer::again : ItemAnswer::ok; };
    clock.pass(seconds(3));
    processes.print(loud, "hello");
    processes.end(loud, success);
    clock.pass(minutes(2));
    EXPECT_FALSE(has_ended(loud));
    servers.on_heartbeat = nullptr;
    down = false;
    clock.pass(seconds(3));
    EXPECT_EQ(servers.kept[loud], "hello");
    ASSERT_TRUE(has_ended(loud));
    EXPECT_EQ(undelivered(loud), 0U);
}

TEST_F(OutputTest, that_is_fenced_is_counted_at_the_end) {
    begin();
    run(loud);
    servers.on_chunk = [](const LogChunk&) { return ItemAnswer::fenced; };
    processes.print(loud, "hello");
    clock.pass(seconds(1));
    processes.print(loud, ", world");
    processes.end(loud, success);
    clock.pass(seconds(1));
    ASSERT_TRUE(has_ended(loud));
    EXPECT_EQ(undelivered(loud), 12U);
}

// O1: the next heartbeat brings a presumed-lost attempt back.
TEST_F(OutputTest, that_is_to_be_sent_again_arrives_complete) {
    begin();
    run(loud);
    int refused = 3;
    servers.on_chunk = [&](const LogChunk&) {
        return refused-- > 0 ? ItemAnswer::again : ItemAnswer::ok;
    };
    processes.print(loud, "hello");
    processes.end(loud, success);
    clock.pass(seconds(3));
    EXPECT_EQ(servers.kept[loud], "hello");
    EXPECT_EQ(undelivered(loud), 0U);
}

TEST_F(OutputTest, of_many_attempts_is_sent_in_turns) {
    begin();
    for (std::uint64_t n = 1; n <= 40; ++n) run({JobId{n}, Epoch{1}});
    answer_slowly(seconds(1));
    for (std::uint64_t n = 1; n <= 40; ++n)
        processes.print({JobId{n}, Epoch{1}}, std::string(100 * log_chunk_max, 'x'));
    clock.pass(seconds(4));
    EXPECT_EQ(servers.kept.size(), 40U);
}

// One that must wait keeps nobody else back.
TEST_F(OutputTest, of_one_attempt_that_must_be_sent_again_does_not_slow_the_others) {
    begin();
    const AttemptKey other{JobId{2}, Epoch{1}};
    run(loud);
    run(other);
    servers.on_chunk = [](const LogChunk& chunk) {
        return chunk.attempt == loud ? ItemAnswer::again : ItemAnswer::ok;
    };
    processes.print(loud, "hello");
    processes.print(other, std::string(100 * log_chunk_max, 'x'));
    clock.pass(milliseconds(10));
    EXPECT_EQ(servers.kept[other].size(), 100 * log_chunk_max);
}

}  // namespace
}  // namespace perdure::output_test
