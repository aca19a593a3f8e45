// A submit, or the end of a job, and the claim that gives an idle worker its next job share one
// commit.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

#include "platform/asio_clock.h"
#include "platform/entropy.h"
#include "platform/stderr_log.h"
#include "server/server.h"
#include "store/memory/memory_store.h"

namespace perdure {
namespace {

class Inbox final : public Outbox {
public:
    void send(StreamMessage message) override { messages.push_back(std::move(message)); }
    void close() override {}
    std::vector<StreamMessage> messages;
};

class ServerWithAWorker {
public:
    // What the store says of the job at the very moment at which its submit is answered.
    JobState state_when_submitted() {
        play(&ServerWithAWorker::submit_one);
        return seen_;
    }
    // What it says of one that waited when the end of the one before it is answered.
    JobState state_when_another_has_ended() {
        play(&ServerWithAWorker::end_one);
        return seen_;
    }
    const Inbox& inbox() const { return *inbox_; }

private:
    void play(Task<void> (ServerWithAWorker::*story)()) {
        server_.start();
        gate_.spawn("test", play_with_a_session(story));
        context_.run();
    }

    Task<void> play_with_a_session(Task<void> (ServerWithAWorker::*story)()) {
        const auto alarm = clock_.make_alarm();
        while (!server_.ready()) co_await alarm->wait(milliseconds(1));
        OpenRequest request{.directory = {"m", "b", 1, 1}, .life = 1, .worker = "w", .slots = 1};
        const auto opened = co_await server_.sessions().open(std::move(request));
        session_ = opened->session;
        const auto stream = co_await server_.sessions().open_stream(session_, inbox_);
        EXPECT_TRUE(stream);
        // One loop, and a store that never waits: what the stream has set off runs before a timer.
        co_await alarm->wait(milliseconds(20));

        co_await (this->*story)();
        co_await alarm->wait(milliseconds(20));
        context_.stop();
    }

    Task<void> submit_one() {
        const auto job = co_await submitted();
        seen_ = co_await state_of(job);
    }

    Task<void> end_one() {
        const auto first = co_await submitted();
        const auto second = co_await submitted();
        EXPECT_EQ(co_await state_of(second), JobState::ready);
        ReportRequest report{.session = session_};
        report.items.push_back({.attempt = {first, Epoch{1}},
                                .kind = ReportItem::Kind::ended,
                                .end = {.cause = Cause::exit, .ran = Ran::yes, .succeeded = true}});
        const auto answered = co_await server_.sessions().report(std::move(report));
        EXPECT_EQ(answered->answers, std::vector{ItemAnswer::ok});
        seen_ = co_await state_of(second);
    }

    Task<JobId> submitted() {
        JobSpec spec{.kind = "k"};
        const auto answer = co_await server_.jobs().submit(std::move(spec));
        co_return answer->id;
    }
    Task<JobState> state_of(JobId id) {
        const auto job = co_await server_.jobs().job(id);
        co_return job->state;
    }

    Timing timing_;
    MemoryStore store_{timing_};
    boost::asio::io_context context_{1};
    AsioClock clock_{context_};
    Entropy random_;
    StderrLog sink_{Level::critical};
    Server server_{{.store = store_, .clock = clock_, .random = random_, .fatal = {}},
                   timing_,
                   Log(sink_, "server")};
    std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
    Gate gate_{clock_.executor()};
    SessionId session_;
    JobState seen_ = JobState::ready;
};

TEST(SubmitAndClaim, an_idle_worker_has_the_job_by_the_commit_that_accepts_it) {
    ServerWithAWorker world;
    EXPECT_EQ(world.state_when_submitted(), JobState::starting);
    ASSERT_EQ(world.inbox().messages.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<Assignment>(world.inbox().messages.front()));
}

TEST(SubmitAndClaim, a_worker_has_the_next_job_by_the_commit_that_ends_its_last) {
    ServerWithAWorker world;
    EXPECT_EQ(world.state_when_another_has_ended(), JobState::starting);
    EXPECT_EQ(world.inbox().messages.size(), 2U);
}

}  // namespace
}  // namespace perdure
