#include "server/pruner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "server/testing/server_stage.h"
#include "store/memory/memory_store.h"

namespace perdure {
namespace {

// What was removed, call by call.
class RemovedOutput final : public Blobs {
public:
    Task<Result<std::vector<std::uint64_t>>> append(std::vector<LogChunk>) override {
        co_return std::vector<std::uint64_t>{};
    }
    Task<Result<void>> cut(std::vector<LogCut>) override { co_return Result<void>{}; }
    Task<Result<LogPiece>> read(AttemptKey, std::uint64_t, std::size_t) override {
        co_return LogPiece{};
    }
    Task<Result<OutputRemoved>> remove(std::vector<JobId> jobs) override {
        if (failure) co_return *failure;
        ++asked;
        if (!jobs.empty()) calls.push_back(std::move(jobs));
        co_return OutputRemoved{.unfinished = pieces-- > 1};
    }

    std::vector<std::vector<JobId>> calls;
    int asked = 0;
    int pieces = 0;  // that it takes
    std::optional<Error> failure;
};

constexpr ServerId me{1};

class PrunerTest : public ServerStage<MemoryStore> {
protected:
    PrunerTest() { open(); }

    // So many that have ended and whose retention is over. Numbered from 100 on.
    void end_long_ago(std::uint64_t count) {
        submit_many(100, count, {.kind = "k"});
        std::vector<Change> cancels;
        for (std::uint64_t id = 100; id < 100 + count; ++id) cancels.push_back(Cancel{JobId{id}});
        for (const auto& reply : done(commits.commit_all(Lane::reports, std::move(cancels))))
            EXPECT_TRUE(reply);
        tick(days(400));
    }
    // Until this server is keeper, or knows that another one is.
    void begin(Blobs* blobs) {
        gate.spawn("tick", ticker.run(stop));
        clock.pass(seconds(3));
        pruner.emplace(clock, commits, ticker, blobs, Log(log, "prune"));
        gate.spawn("prune", pruner->run(stop));
        clock.run_ready();
    }
    std::size_t left(std::uint64_t count) {
        std::vector<JobId> ids;
        for (std::uint64_t id = 100; id < 100 + count; ++id) ids.push_back(JobId{id});
        return done(store.jobs(std::move(ids)))->size();
    }
    // The groups in which something was to be removed.
    std::size_t batches() const { return sent_groups_of<ForgetEnded>().size(); }

    Sweeper sweeper{store, clock, commits, Log{}};
    Ticker ticker{store, clock, commits, sweeper, me, timing, Log{}};
    RemovedOutput output;
    std::optional<Pruner> pruner;
};

TEST_F(PrunerTest, removes_what_has_been_kept_long_enough_with_what_it_printed) {
    end_long_ago(3);
    begin(&output);
    ASSERT_TRUE(ticker.is_keeper());
    EXPECT_EQ(left(3), 3U);
    clock.pass(seconds(31));
    EXPECT_EQ(left(3), 0U);
    ASSERT_EQ(output.calls.size(), 1U);
    EXPECT_EQ(output.calls[0], (std::vector{JobId{100}, JobId{101}, JobId{102}}));
}

TEST_F(PrunerTest, leaves_alone_what_is_still_kept) {
    submit(JobId{100});
    apply(Lane::reports, Cancel{JobId{100}});
    begin(&output);
    clock.pass(minutes(2));
    EXPECT_EQ(left(1), 1U);
    EXPECT_TRUE(output.calls.empty());
}

TEST_F(PrunerTest, a_server_that_is_not_the_keeper_removes_nothing) {
    end_long_ago(3);
    const KeeperRole nobody;
    const KeeperRole another{ServerId{2}, 1, commits.seen().clock.now + days(1)};
    apply(Lane::reports, TakeKeeper{nobody, another});
    begin(&output);
    clock.pass(minutes(2));
    ASSERT_FALSE(ticker.is_keeper());
    EXPECT_EQ(left(3), 3U);
    EXPECT_EQ(batches(), 0U);
}

// It keeps up with many, and lets others commit between two batches.
TEST_F(PrunerTest, removes_many_in_small_batches_one_soon_after_the_other) {
    end_long_ago(9'000);
    begin(&output);
    clock.pass(seconds(31));
    EXPECT_EQ(left(9'000), 0U);
    EXPECT_EQ(batches(), 3U);
    for (const auto& call : output.calls) EXPECT_LE(call.size(), 4'000U);
}

TEST_F(PrunerTest, without_much_to_do_it_comes_every_thirty_seconds) {
    begin(&output);
    clock.pass(seconds(95));
    EXPECT_EQ(batches(), 3U);
}

TEST_F(PrunerTest, what_the_store_refuses_is_tried_again_and_no_output_goes_before_its_job) {
    end_long_ago(3);
    begin(&output);
    store.before = [](const Group& group) -> std::optional<Error> {
        const auto forgets = [](const Change& c) { return std::holds_alternative<ForgetEnded>(c); };
        if (std::none_of(group.changes.begin(), group.changes.end(), forgets)) return std::nullopt;
        return error(Errc::unavailable, "no room on the disk");
    };
    clock.pass(seconds(31));
    EXPECT_EQ(left(3), 3U);
    EXPECT_TRUE(output.calls.empty());
    EXPECT_TRUE(log.has("warn: retention: will try again no room on the disk"));
    store.before = nullptr;
    clock.pass(seconds(31));
    EXPECT_EQ(left(3), 0U);
    EXPECT_EQ(output.calls.size(), 1U);
}

TEST_F(PrunerTest, output_that_cannot_be_removed_is_named_and_stops_nothing) {
    end_long_ago(600);
    output.failure = error(Errc::unavailable, "the log's disk is gone");
    begin(&output);
    clock.pass(seconds(31));
    EXPECT_EQ(left(600), 0U);
    EXPECT_TRUE(log.has("warn: retention: output left behind the log's disk is gone"));
}

// C8: however much it is, no transaction is long, and nobody waits half a minute for the next one.
TEST_F(PrunerTest, much_output_is_removed_in_pieces_one_soon_after_the_other) {
    end_long_ago(3);
    output.pieces = 40;
    begin(&output);
    clock.pass(seconds(31));
    EXPECT_EQ(output.asked, 40);
    EXPECT_EQ(output.calls.size(), 1U);
}

// Of an earlier life.
TEST_F(PrunerTest, output_that_is_owed_is_removed_although_no_job_is) {
    output.pieces = 3;
    begin(&output);
    clock.pass(seconds(31));
    EXPECT_EQ(output.asked, 3);
    clock.pass(minutes(2));
    EXPECT_EQ(output.asked, 3);
}

TEST_F(PrunerTest, where_jobs_print_nothing_there_is_nothing_else_to_remove) {
    end_long_ago(3);
    begin(nullptr);
    clock.pass(seconds(31));
    EXPECT_EQ(left(3), 0U);
}

TEST_F(PrunerTest, removes_nothing_any_more_when_it_is_told_to_stop) {
    end_long_ago(3);
    begin(&output);
    stop.request();
    clock.run_ready();
    EXPECT_EQ(batches(), 0U);
    for (const auto name : gate.waiting_for()) EXPECT_NE(name, "prune");
}

}  // namespace
}  // namespace perdure
