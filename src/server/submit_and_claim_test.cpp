// A submit and the claim that gives its job to an idle worker share one commit.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

#include "runtime/asio_clock.h"
#include "runtime/entropy.h"
#include "runtime/stderr_log.h"
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
    JobState state_when_answered() {
        server_.start();
        gate_.spawn("test", play());
        context_.run();
        return seen_;
    }
    const Inbox& inbox() const { return *inbox_; }

private:
    Task<void> play() {
        const auto alarm = clock_.make_alarm();
        while (!server_.ready()) co_await alarm->wait(milliseconds(1));
        OpenRequest request{.directory = {"m", "b", 1, 1}, .life = 1, .worker = "w", .slots = 1};
        const auto opened = co_await server_.sessions().open(std::move(request));
        const auto stream = co_await server_.sessions().open_stream(opened->session, inbox_);
        EXPECT_TRUE(stream);
        // One loop, and a store that never waits: what the stream has set off runs before a timer.
        co_await alarm->wait(milliseconds(20));

        JobSpec spec{.kind = "k"};
        const auto submitted = co_await server_.jobs().submit(std::move(spec));
        const auto job = co_await server_.jobs().job(submitted->id);
        seen_ = job->state;
        co_await alarm->wait(milliseconds(20));
        context_.stop();
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
    JobState seen_ = JobState::ready;
};

TEST(SubmitAndClaim, an_idle_worker_has_the_job_by_the_commit_that_accepts_it) {
    ServerWithAWorker world;
    EXPECT_EQ(world.state_when_answered(), JobState::starting);
    ASSERT_EQ(world.inbox().messages.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<Assignment>(world.inbox().messages.front()));
}

}  // namespace
}  // namespace perdure
