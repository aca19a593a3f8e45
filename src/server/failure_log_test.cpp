#include "server/failure_log.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/asio_clock.h"
#include "platform/entropy.h"
#include "server/server.h"
#include "store/memory/memory_store.h"

namespace perdure {
namespace {

TEST(DecideFailureLevel, is_the_jobs_word_before_the_servers_and_alarming_before_both) {
    const std::optional<Level> said[] = {std::nullopt, Level::debug, Level::warn};
    for (const auto& of_job : said)
        for (const bool is_callback : {false, true})
            for (const bool alarming : {false, true}) {
                const FailureLevels levels{Level::info, Level::error};
                auto expected = of_job.value_or(is_callback ? Level::error : Level::info);
                if (alarming) expected = Level::critical;
                EXPECT_EQ(decide_failure_level({of_job, is_callback, alarming}, levels), expected);
            }
}

class Lines final : public LogSink {
public:
    struct Line {
        Level level;
        std::string event;
        std::vector<Field> fields;

        std::string field(std::string_view name) const {
            for (const auto& each : fields)
                if (each.name == name) return each.value;
            return "";
        }
    };
    bool wants(Level) const override { return true; }
    void write(Level level, std::string_view, std::string_view event,
               const std::vector<Field>& fields) override {
        lines.push_back({level, std::string(event), fields});
    }
    std::vector<Line> about(JobId job) const {
        std::vector<Line> found;
        for (const auto& line : lines)
            if (line.field("job") == job.text()) found.push_back(line);
        return found;
    }
    std::vector<Line> lines;
};

class SilentOutbox final : public Outbox {
public:
    void send(StreamMessage message) override {
        if (const auto* given = std::get_if<Assignment>(&message)) attempt = given->attempt;
    }
    void close() override {}
    std::optional<AttemptKey> attempt;
};

// A server whose only worker ends every attempt in the same way.
class FailingWorld {
public:
    JobId run_one(JobSpec spec, const AttemptEnd& end) {
        server_.start();
        gate_.spawn("test", play(std::move(spec), end));
        context_.run();
        return job_;
    }
    Server& server() { return server_; }
    const Lines& log() const { return sink_; }

private:
    Task<void> play(JobSpec spec, AttemptEnd end) {
        const auto alarm = clock_.make_alarm();
        while (!server_.ready()) co_await alarm->wait(milliseconds(1));
        OpenRequest request{.directory = {"m", "b", 1, 1}, .life = 1, .worker = "w", .slots = 1};
        const auto opened = co_await server_.sessions().open(std::move(request));
        const auto stream = co_await server_.sessions().open_stream(opened->session, outbox_);
        EXPECT_TRUE(stream);
        const auto submitted = co_await server_.jobs().submit(std::move(spec));
        job_ = submitted->id;
        while (!outbox_->attempt) co_await alarm->wait(milliseconds(1));
        ReportRequest report{.session = opened->session};
        report.items.push_back({.attempt = *outbox_->attempt, .end = end});
        report.items.back().evidence =
            std::make_shared<const Evidence>(Evidence{.detail = "it cannot be read"});
        const auto answer = co_await server_.sessions().report(std::move(report));
        EXPECT_TRUE(answer);
        for (int i = 0; i < 1'000 && sink_.about(job_).empty() && !end.succeeded; ++i)
            co_await alarm->wait(milliseconds(1));
        context_.stop();
    }

    Timing timing_;
    MemoryStore store_{timing_};
    boost::asio::io_context context_{1};
    AsioClock clock_{context_};
    Entropy random_;
    Lines sink_;
    Server server_{{.store = store_, .clock = clock_, .random = random_, .fatal = {}},
                   timing_,
                   Log(sink_, "server")};
    std::shared_ptr<SilentOutbox> outbox_ = std::make_shared<SilentOutbox>();
    Gate gate_{clock_.executor()};
    JobId job_;
};

const AttemptEnd failure{.cause = Cause::exit, .ran = Ran::yes, .exit_code = 3};
const AttemptEnd crash{.cause = Cause::crash_signal, .ran = Ran::yes, .exit_code = 11};

TEST(FailureLog, tells_a_failed_job_once_with_its_cause_and_rule) {
    FailingWorld world;
    const auto job = world.run_one({.kind = "k"}, failure);
    const auto lines = world.log().about(job);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines.front().level, Level::error);
    EXPECT_EQ(lines.front().field("state"), "failed");
    EXPECT_EQ(lines.front().field("cause"), "exit");
    EXPECT_EQ(lines.front().field("rule"), "default/own_failure");
}

TEST(FailureLog, says_what_was_run_and_how_it_exited) {
    FailingWorld world;
    JobSpec spec;
    spec.argv = {"cp", "a file", std::string(300, 'x')};
    const auto lines = world.log().about(world.run_one(std::move(spec), failure));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines.front().field("exit_code"), "3");
    EXPECT_EQ(lines.front().field("command"), "cp a file " + std::string(190, 'x') + "...");
    EXPECT_EQ(lines.front().field("detail"), "it cannot be read");
}

TEST(FailureLog, is_as_loud_as_the_job_says) {
    FailingWorld world;
    const auto job = world.run_one({.kind = "k", .failure_level = Level::info}, failure);
    EXPECT_EQ(world.log().about(job).front().level, Level::info);
}

TEST(FailureLog, is_as_loud_as_the_server_says_if_the_job_says_nothing) {
    FailingWorld world;
    world.server().failures().use({Level::warn, Level::critical});
    const auto job = world.run_one({.kind = "k"}, failure);
    EXPECT_EQ(world.log().about(job).front().level, Level::warn);
}

TEST(FailureLog, a_crash_that_may_go_on_for_ever_is_critical_each_time) {
    FailingWorld world;
    JobSpec spec{.kind = "k"};
    spec.policy.name = PolicyName::forever;
    const auto lines = world.log().about(world.run_one(std::move(spec), crash));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines.front().level, Level::critical);
}

// Nobody can look at jobs so fast that any number of them could wait for it (C8).
TEST(FailureLog, what_is_beyond_its_bound_is_counted_in_a_line_of_its_own) {
    MemoryStore store{Timing{}};
    boost::asio::io_context context{1};
    AsioClock clock{context};
    Lines sink;
    FailureLog log(store, clock, Log(sink, "server"));
    const ChangeReply failed{Reported{.next = Next{.state = JobState::failed}}};
    for (std::uint64_t id = 1; id <= FailureLog::waiting_max + 7; ++id)
        log.observe(Report{SessionId{1}, {JobId{id}, Epoch{1}}, failure}, failed);
    Stop stop;
    Gate gate{clock.executor()};
    gate.spawn("failure log", log.run(stop));
    context.poll();
    ASSERT_EQ(sink.lines.size(), 1U);
    EXPECT_EQ(sink.lines.front().field("jobs"), "7");
    stop.request();
    context.poll();
}

}  // namespace
}  // namespace perdure
