// The stream down to a worker: a hint that may break at any time (O3).
#include "worker/talk/stream_reader.h"

#include <gtest/gtest.h>

#include <optional>

#include "worker/testing/fakes.h"

namespace perdure::stream_reader_test {
namespace {

constexpr AttemptKey given{JobId{1}, Epoch{1}};

class StreamReaderTest : public testing::Test {
protected:
    void begin() {
        worker.emplace(WorkerPorts{clock, random, servers, processes},
                       WorkerOptions{.name = "w", .slots = 4}, Log{});
        worker->start();
        clock.pass(milliseconds(10));
    }
    void TearDown() override {
        worker.reset();
        for (auto& stream : servers.streams) stream->abandon();
        clock.run_ready();
    }
    void end_the_session() {
        servers.on_heartbeat = [](const HeartbeatRequest& request) {
            const bool old = request.session == SessionId{1};
            return HeartbeatAnswerMessage{.answer = old ? HeartbeatAnswer::session_ended
                                                        : HeartbeatAnswer::accept};
        };
        clock.pass(seconds(3));
    }
    bool knows(AttemptKey key) const { return worker->attempts().contains(key); }

    ManualClock clock;
    CountingRandom random;
    Journal journal;
    FakeServers servers{clock.executor(), journal};
    FakeProcesses processes{clock.executor(), journal};
    std::optional<Worker> worker;
};

// T4: a server that has just started gives nothing to a session before it has heard it.
TEST_F(StreamReaderTest, a_heartbeat_is_sent_at_once_when_a_stream_is_back) {
    begin();
    clock.pass(milliseconds(100));
    ASSERT_EQ(servers.heartbeats.size(), 1U);
    servers.stream->close();
    clock.pass(milliseconds(200));
    ASSERT_EQ(servers.streams.size(), 2U);
    EXPECT_EQ(servers.heartbeats.size(), 2U);
}

TEST_F(StreamReaderTest, the_first_stream_of_a_session_asks_for_no_second_heartbeat) {
    begin();
    clock.pass(seconds(1));
    EXPECT_EQ(servers.streams.size(), 1U);
    EXPECT_EQ(servers.heartbeats.size(), 1U);
}

TEST_F(StreamReaderTest, a_broken_stream_ends_nothing) {
    begin();
    servers.stream->push(Assignment{.attempt = given, .number = 1});
    clock.pass(milliseconds(10));
    for (int i = 0; i < 5; ++i) {
        servers.stream->close();
        clock.pass(seconds(1));
    }
    EXPECT_TRUE(knows(given));
    EXPECT_TRUE(processes.killed.empty());
    EXPECT_EQ(servers.opens.size(), 1U);
}

TEST_F(StreamReaderTest, streams_that_break_at_once_are_opened_ever_more_slowly) {
    begin();
    servers.stream_failure = error(Errc::unavailable, "down");
    servers.stream->close();
    clock.pass(seconds(10));
    EXPECT_GE(servers.stream_calls, 8U);
    EXPECT_LE(servers.stream_calls, 25U);
    servers.stream_failure.reset();
    clock.pass(seconds(1));
    EXPECT_EQ(servers.streams.size(), 2U);
}

// Only a heartbeat's answer tells whether the session is over.
TEST_F(StreamReaderTest, a_fenced_stream_asks_with_a_heartbeat_whether_the_session_is_over) {
    begin();
    clock.pass(milliseconds(100));
    const auto before = servers.heartbeats.size();
    servers.stream_failure = error(Errc::fenced, "another stream is newer");
    servers.stream->close();
    clock.pass(milliseconds(150));
    EXPECT_GT(servers.heartbeats.size(), before);
}

// What it was given has been settled when the next session was opened.
TEST_F(StreamReaderTest, what_came_just_before_its_session_ended_is_not_taken) {
    begin();
    servers.on_heartbeat = [this](const HeartbeatRequest& request) {
        const bool old = request.session == SessionId{1};
        if (old) servers.stream->push(Assignment{.attempt = given, .number = 1});
        return HeartbeatAnswerMessage{.answer = old ? HeartbeatAnswer::session_ended
                                                    : HeartbeatAnswer::accept};
    };
    clock.pass(seconds(3));
    ASSERT_EQ(servers.opens.size(), 2U);
    EXPECT_FALSE(knows(given));
    EXPECT_TRUE(processes.prepared.empty());
}

TEST_F(StreamReaderTest, a_stream_that_opens_after_its_session_has_ended_is_closed) {
    servers.stream_alarm = clock.make_alarm();
    servers.streams_take = seconds(3);
    begin();
    end_the_session();
    servers.streams_take = {};
    clock.pass(seconds(3));
    ASSERT_GE(servers.streams.size(), 2U);
    servers.streams.front()->push(Assignment{.attempt = given, .number = 1});
    clock.pass(milliseconds(100));
    EXPECT_FALSE(knows(given));
    EXPECT_TRUE(servers.streams.front()->is_closed());
    EXPECT_FALSE(servers.streams.back()->is_closed());
}

TEST_F(StreamReaderTest, an_order_to_drain_drains) {
    begin();
    servers.stream->push(DrainOrder{});
    clock.pass(seconds(5));
    EXPECT_EQ(servers.heartbeats.back().slots, 0U);
    EXPECT_TRUE(worker->finished());
}

}  // namespace
}  // namespace perdure::stream_reader_test
