// Output that comes while its attempt is given up: what it may no longer say is taken back [P2].
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "base/assert.h"
#include "core/job/submit.h"
#include "platform/asio_clock.h"
#include "server/sessions/session_service.h"
#include "store/memory/memory_store.h"

namespace perdure {
namespace {

// One text, and something that happens while it is appended to.
class OneText final : public Blobs {
public:
    Task<Result<std::vector<std::uint64_t>>> append(std::vector<LogChunk> chunks) override {
        for (const auto& chunk : chunks)
            if (refused && chunk.attempt.job == refused->first) co_return refused->second;
        const std::vector<std::uint64_t> ends_before{text.size()};
        text += chunks.front().bytes;
        if (meanwhile) co_await meanwhile();
        co_return ends_before;
    }
    Task<Result<void>> cut(std::vector<LogCut> cuts) override {
        text.resize(cuts.front().end);
        co_return Result<void>{};
    }
    Task<Result<LogPiece>> read(AttemptKey, std::uint64_t, std::size_t) override {
        co_return LogPiece{text, text.size()};
    }
    Task<Result<OutputRemoved>> remove(std::vector<JobId>) override { co_return OutputRemoved{}; }

    std::string text;
    std::function<Task<void>()> meanwhile;
    std::optional<std::pair<JobId, Error>> refused;  // a job whose output cannot be kept, and why
};

class SessionLogs : public testing::Test {
protected:
    SessionLogs() {
        EXPECT_TRUE(run(store_.open_server(ServerId{1}, WallTime{})));
        run(commit({OpenSession{.session = session_,
                                .directory = {"m", "b", 1, 1},
                                .life = 1,
                                .worker = "w",
                                .slots = 8,
                                .lease = seconds(10)}}));
        run(commit({OpenStream{session_}}));
    }

    void run_one(JobSpec spec) { run_as(attempt_, std::move(spec)); }
    void run_as(AttemptKey attempt, JobSpec spec) {
        const auto hash = body_hash(spec);
        run(commit({Submit{attempt.job, std::make_shared<const JobSpec>(std::move(spec)), hash}}));
        run(commit({Claim{session_, 1, 1}, Start{session_, attempt}}));
    }
    static JobSpec quarantined_when_lost() {
        JobSpec spec{.kind = "k"};
        CustomRule rule;
        rule.causes = {Cause::worker_lost};
        rule.then = LastResort::quarantine;
        spec.policy.rules = {rule};
        return spec;
    }

    Task<bool> commit(std::vector<Change> changes) {
        Group group{.server = ServerId{1}, .number = ++groups_, .changes = std::move(changes)};
        const auto reply = co_await store_.commit(std::move(group));
        co_return reply.has_value();
    }
    Task<void> report_its_end() {
        const AttemptEnd end{
            .cause = Cause::exit, .ran = Ran::yes, .succeeded = true, .reported = true};
        const std::vector<Change> changes{Report{session_, attempt_, end}};
        co_await commit(changes);
    }
    // Its lease ends, and a sweep acts.
    Task<void> give_it_up() {
        const std::vector<Change> tick{Tick{0, {1, ServiceTime{minutes(1).us}, ServiceTime{}}}};
        co_await commit(tick);
        const std::vector<Change> sweep{Sweep{}};
        co_await commit(sweep);
    }

    // The worker of this place opens a session in another boot.
    void reboot(SessionId next, std::uint64_t inode) {
        run(commit({Tick{0, {1, ServiceTime{seconds(20).us}, ServiceTime{}}},
                    OpenSession{.session = next,
                                .directory = {"m", "b2", 1, inode},
                                .life = 2,
                                .worker = "w",
                                .slots = 8,
                                .lease = seconds(10)}}));
    }

    ItemAnswer send(std::string bytes, std::uint64_t offset, SessionId by = SessionId{9}) {
        LogRequest request{.session = by};
        request.chunks.push_back(
            {.attempt = attempt_, .offset = offset, .bytes = std::move(bytes)});
        const auto response = run(sessions_.logs(std::move(request), blobs_));
        EXPECT_TRUE(response);
        return response->answers.front();
    }

    // What is answered about the output of two attempts, sent together, if the first one's cannot
    // be kept.
    std::vector<ItemAnswer> send_two(Errc why) {
        const AttemptKey first{JobId{99}, Epoch{1}};
        run_as(first, {.kind = "k"});
        run_one({.kind = "k"});
        blobs_.refused = {first.job, error(why, "it cannot be kept")};
        LogRequest request{.session = session_};
        request.chunks.push_back({.attempt = first, .offset = 0, .bytes = "lost"});
        request.chunks.push_back({.attempt = attempt_, .offset = 0, .bytes = "hello"});
        const auto response = run(sessions_.logs(std::move(request), blobs_));
        EXPECT_TRUE(response);
        EXPECT_EQ(blobs_.text, "hello");
        return response ? response->answers : std::vector<ItemAnswer>{};
    }

    template <class T>
    T run(Task<T> task) {
        std::optional<T> result;
        boost::asio::co_spawn(context_, keep(std::move(task), result),
                              [](std::exception_ptr why) { PERDURE_ASSERT(why == nullptr); });
        context_.restart();
        context_.run();
        return std::move(*result);
    }

    OneText blobs_;

private:
    template <class T>
    static Task<void> keep(Task<T> task, std::optional<T>& result) {
        result = co_await std::move(task);
    }

    const JobId job_{100};
    const SessionId session_{9};
    const AttemptKey attempt_{job_, Epoch{1}};
    std::uint64_t groups_ = 0;
    MemoryStore store_{Timing{}};
    boost::asio::io_context context_{1};
    AsioClock clock_{context_};
    GroupCommit commits_{store_, clock_, {}, {}, Log{}};
    Dispatcher dispatcher_{clock_, commits_, Log{}};
    SessionService sessions_{store_, commits_, dispatcher_, Timing{}, {}, Log{}};
};

TEST_F(SessionLogs, what_a_running_attempt_prints_is_kept) {
    run_one({.kind = "k"});
    EXPECT_EQ(send("hello ", 0), ItemAnswer::ok);
    EXPECT_EQ(send("world", 6), ItemAnswer::ok);
    EXPECT_EQ(blobs_.text, "hello world");
}

TEST_F(SessionLogs, what_comes_while_its_attempt_is_given_up_is_taken_back) {
    run_one(quarantined_when_lost());
    EXPECT_EQ(send("hello ", 0), ItemAnswer::ok);
    blobs_.meanwhile = [this] { return give_it_up(); };
    EXPECT_EQ(send("world", 6), ItemAnswer::fenced);
    EXPECT_EQ(blobs_.text, "hello ");
}

TEST_F(SessionLogs, what_comes_while_its_attempt_is_presumed_lost_is_asked_for_again) {
    run_one({.kind = "k"});
    blobs_.meanwhile = [this] { return give_it_up(); };
    EXPECT_EQ(send("hello", 0), ItemAnswer::again);
}

TEST_F(SessionLogs, what_a_rebooted_host_still_has_is_kept) {
    run_one({.kind = "k"});
    EXPECT_EQ(send("hello ", 0), ItemAnswer::ok);
    reboot(SessionId{10}, 1);
    EXPECT_EQ(send("world", 6, SessionId{10}), ItemAnswer::ok);
    EXPECT_EQ(blobs_.text, "hello world");
}

TEST_F(SessionLogs, what_another_directory_has_of_an_attempt_that_ended_here_is_fenced) {
    run_one({.kind = "k"});
    reboot(SessionId{10}, 1);
    run(commit({OpenSession{.session = SessionId{11},
                            .directory = {"m", "b2", 1, 2},
                            .life = 1,
                            .worker = "other",
                            .slots = 8,
                            .lease = seconds(10)}}));
    EXPECT_EQ(send("hello", 0, SessionId{11}), ItemAnswer::fenced);
    EXPECT_EQ(blobs_.text, "");
}

TEST_F(SessionLogs, a_gap_in_one_attempts_output_does_not_hold_up_the_others) {
    using enum ItemAnswer;
    EXPECT_EQ(send_two(Errc::conflict), (std::vector{again, ok}));
}

TEST_F(SessionLogs, damaged_output_of_one_attempt_ends_there_and_does_not_hold_up_the_others) {
    using enum ItemAnswer;
    EXPECT_EQ(send_two(Errc::corrupt), (std::vector{fenced, ok}));
}

TEST_F(SessionLogs, what_comes_while_its_end_is_reported_is_kept) {
    run_one({.kind = "k"});
    blobs_.meanwhile = [this] { return report_its_end(); };
    EXPECT_EQ(send("hello", 0), ItemAnswer::ok);
    EXPECT_EQ(blobs_.text, "hello");
}

}  // namespace
}  // namespace perdure
