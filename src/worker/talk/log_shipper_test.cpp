// What becomes of what attempts print (O1), through the worker that has them.
#include "worker/talk/log_shipper.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/worker/worker_rules.h"
#include "worker/testing/fakes.h"

namespace perdure::log_shipper_test {
namespace {

constexpr AttemptKey loud{JobId{1}, Epoch{1}};
constexpr AttemptEnd success{.cause = Cause::exit, .ran = Ran::yes, .succeeded = true};

class LogShipperTest : public testing::Test {
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
        clock.run_ready();
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

    // The reader has just found nothing more, and its answer takes a moment.
    Task<void> print_more_behind_the_first_piece() {
        if (servers.kept[loud] != "hello" || std::exchange(has_printed_more, true)) co_return;
        processes.print(loud, ", world");
        const auto alarm = clock.make_alarm();
        co_await alarm->wait(milliseconds(1));
    }

    bool has_printed_more = false;
    ManualClock clock;
    CountingRandom random;
    Journal journal;
    FakeServers servers{clock.executor(), journal};
    FakeProcesses processes{clock.executor(), journal};
    std::optional<Worker> worker;
};

TEST_F(LogShipperTest, is_waited_for_while_it_is_being_taken) {
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

TEST_F(LogShipperTest,
       holds_an_end_back_for_thirty_seconds_at_most_and_its_end_says_what_is_missing) {
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

TEST_F(LogShipperTest, that_nobody_takes_is_given_up_soon_and_its_end_says_so) {
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

TEST_F(LogShipperTest, is_not_given_up_while_no_server_answers) {
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

TEST_F(LogShipperTest, that_is_fenced_is_counted_at_the_end) {
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

TEST_F(LogShipperTest, that_is_fenced_is_the_last_that_is_sent_of_its_attempt) {
    begin();
    run(loud);
    servers.on_chunk = [](const LogChunk&) { return ItemAnswer::fenced; };
    processes.print(loud, "hello");
    clock.pass(seconds(1));
    processes.print(loud, ", world");
    clock.pass(seconds(1));
    EXPECT_EQ(servers.log_requests.size(), 1U);
}

// O1: the next heartbeat brings a presumed-lost attempt back.
TEST_F(LogShipperTest, that_is_to_be_sent_again_arrives_complete) {
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

TEST_F(LogShipperTest, of_many_attempts_is_sent_in_turns) {
    begin();
    for (std::uint64_t n = 1; n <= 40; ++n) run({JobId{n}, Epoch{1}});
    answer_slowly(seconds(1));
    for (std::uint64_t n = 1; n <= 40; ++n)
        processes.print({JobId{n}, Epoch{1}}, std::string(100 * log_chunk_max, 'x'));
    clock.pass(seconds(4));
    EXPECT_EQ(servers.kept.size(), 40U);
}

// One that must wait keeps nobody else back.
TEST_F(LogShipperTest, of_one_attempt_that_must_be_sent_again_does_not_slow_the_others) {
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

TEST_F(LogShipperTest, output_is_sent_in_pieces_in_order_and_each_once) {
    begin();
    run(loud);
    std::string text;
    for (std::size_t i = 0; text.size() < 3 * log_chunk_max + 7; ++i) text += std::to_string(i);
    processes.print(loud, text);
    clock.pass(milliseconds(100));
    processes.print(loud, " and more");
    clock.pass(milliseconds(100));
    EXPECT_EQ(servers.kept[loud], text + " and more");
    std::uint64_t end = 0;
    for (const auto& request : servers.log_requests) {
        ASSERT_EQ(request.chunks.size(), 1U);
        EXPECT_EQ(request.chunks[0].offset, end);
        EXPECT_LE(request.chunks[0].bytes.size(), log_chunk_max);
        end += request.chunks[0].bytes.size();
    }
}

TEST_F(LogShipperTest, one_request_carries_a_piece_of_sixteen_attempts_at_most) {
    begin();
    answer_slowly(seconds(1));
    for (std::uint64_t n = 1; n <= 40; ++n) run({JobId{n}, Epoch{1}});
    for (std::uint64_t n = 1; n <= 40; ++n) processes.print({JobId{n}, Epoch{1}}, "x");
    clock.pass(seconds(5));
    std::size_t most = 0;
    for (const auto& request : servers.log_requests) most = std::max(most, request.chunks.size());
    EXPECT_EQ(most, 16U);
}

TEST_F(LogShipperTest, a_request_whose_answer_is_lost_is_repeated_from_the_same_place) {
    begin();
    run(loud);
    servers.logs_failure = error(Errc::unavailable, "the reply was lost");
    processes.print(loud, "hello");
    clock.pass(seconds(2));
    ASSERT_GE(servers.log_requests.size(), 2U);
    for (const auto& request : servers.log_requests) EXPECT_EQ(request.chunks[0].offset, 0U);
    const auto tried = servers.log_requests.size();
    EXPECT_LE(tried, 10U);  // ever longer pauses
    servers.logs_failure.reset();
    clock.pass(seconds(2));
    EXPECT_EQ(servers.kept[loud], "hello");
}

TEST_F(LogShipperTest, what_is_printed_while_its_file_is_read_is_sent_as_well) {
    begin();
    run(loud);
    processes.while_reading = [this] { return print_more_behind_the_first_piece(); };
    processes.print(loud, "hello");
    clock.pass(milliseconds(100));
    ASSERT_TRUE(has_printed_more);
    EXPECT_EQ(servers.kept[loud], "hello, world");
}

TEST_F(LogShipperTest, output_that_cannot_be_read_does_not_hold_the_end_back_and_is_said_with_it) {
    begin();
    run(loud);
    processes.output_failure = error(Errc::unavailable, "no such file");
    processes.print(loud, "hello");
    processes.end(loud, success);
    clock.pass(seconds(1));
    ASSERT_TRUE(has_ended(loud));
    EXPECT_GE(undelivered(loud), 1U);
}

// What an ended session is told says nothing about the one that took its attempts over.
TEST_F(LogShipperTest, a_fenced_answer_to_an_ended_session_loses_nothing) {
    begin();
    run(loud);
    answer_slowly(seconds(1));
    servers.on_chunk = [this](const LogChunk&) {
        return servers.log_requests.size() == 1 ? ItemAnswer::fenced : ItemAnswer::ok;
    };
    servers.on_heartbeat = [](const HeartbeatRequest& request) {
        const bool old = request.session == SessionId{1};
        return HeartbeatAnswerMessage{.answer = old ? HeartbeatAnswer::session_ended
                                                    : HeartbeatAnswer::accept};
    };
    clock.pass(milliseconds(1'500));  // the next heartbeat is 500 ms away
    processes.print(loud, "hello");
    clock.pass(seconds(5));
    ASSERT_EQ(servers.log_requests.front().session, SessionId{1});
    ASSERT_EQ(servers.log_requests.back().session, SessionId{2});
    EXPECT_EQ(servers.kept[loud], "hello");
}

TEST_F(LogShipperTest, without_a_session_nothing_is_sent_and_with_the_next_one_everything) {
    begin();
    run(loud);
    servers.on_heartbeat = [](const HeartbeatRequest&) {
        return HeartbeatAnswerMessage{.answer = HeartbeatAnswer::session_ended};
    };
    servers.on_open = [](const OpenRequest&) { return error(Errc::unavailable, "down"); };
    clock.pass(seconds(3));
    processes.print(loud, "hello");
    clock.pass(seconds(3));
    EXPECT_TRUE(servers.log_requests.empty());
    servers.on_open = nullptr;
    servers.on_heartbeat = nullptr;
    clock.pass(seconds(3));
    EXPECT_EQ(servers.kept[loud], "hello");
}

// How much of it a server has is not known to a new life: the server leaves out what it has.
TEST_F(LogShipperTest, what_an_earlier_life_left_is_sent_from_its_beginning) {
    processes.life.found = {
        {.attempt = loud, .assignment = 1, .started = true, .shim_alive = true}};
    processes.printed[loud] = "hello";
    begin();
    clock.pass(seconds(1));
    EXPECT_EQ(servers.kept[loud], "hello");
}

}  // namespace
}  // namespace perdure::log_shipper_test
