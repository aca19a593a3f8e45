#include "server/group_commit.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "runtime/asio_clock.h"
#include "store/memory/memory_store.h"

namespace perdure {
namespace {

// Reads are to show what a reply has not told yet.
const Timing everything_written{.unwritten = {}};

class Bell final : public Alarm {
public:
    Task<void> wait(Duration) override { co_return; }
    void ring() override { ++rings; }
    int rings = 0;
};

class CommitsOfOneServer {
public:
    // How often somebody was told to claim after a group of these alone.
    int rings_after(Lane lane, Change change) {
        commits_.on_work(bell_);
        gate_.spawn("test", play(lane, std::move(change)));
        context_.run();
        return bell_.rings;
    }

private:
    Task<void> play(Lane lane, Change change) {
        const ServerId me{1};
        co_await commits_.open(me, stop_);
        gate_.spawn("group commit", commits_.run(stop_));
        co_await commits_.commit(lane, std::move(change));
        context_.stop();
    }

    Timing timing_ = everything_written;
    MemoryStore store_{timing_};
    boost::asio::io_context context_{1};
    AsioClock clock_{context_};
    GroupCommit commits_{store_, clock_, {.timing = timing_}, {}, Log{}};
    Stop stop_;
    Bell bell_;
    Gate gate_{clock_.executor()};
};

// Its claim may have gone before it, when the slot was not free yet.
TEST(GroupCommit, an_end_that_no_claim_has_seen_rings_for_one) {
    const AttemptKey attempt{JobId{1}, Epoch{1}};
    EXPECT_EQ(CommitsOfOneServer().rings_after(Lane::reports, Report{SessionId{1}, attempt}), 1);
}

TEST(GroupCommit, what_frees_nothing_rings_for_nobody) {
    EXPECT_EQ(CommitsOfOneServer().rings_after(Lane::reports, Cancel{JobId{1}}), 0);
}

// A store that understands no request, and says why.
class Refusing final : public MemoryStore {
public:
    using MemoryStore::MemoryStore;
    Task<Result<GroupReply>> commit(Group) override {
        co_return error(Errc::corrupt, "row 7 of `run` cannot be understood");
    }
};

class ErrorLines final : public LogSink {
public:
    bool wants(Level level) const override { return level >= Level::error; }
    void write(Level, std::string_view, std::string_view event,
               const std::vector<Field>& fields) override {
        text += event;
        for (const auto& field : fields) text += " " + field.value;
    }
    std::string text;
};

class CommitsToOneThatRefuses {
public:
    ChangeReply commit_one() {
        gate_.spawn("test", play());
        context_.run();
        return reply_;
    }
    const std::string& logged() const { return lines_.text; }

private:
    Task<void> play() {
        const ServerId me{1};
        co_await commits_.open(me, stop_);
        gate_.spawn("group commit", commits_.run(stop_));
        const Cancel change{JobId{1}};
        reply_ = co_await commits_.commit(Lane::reports, change);
        context_.stop();
    }

    Refusing store_{everything_written};
    boost::asio::io_context context_{1};
    AsioClock clock_{context_};
    ErrorLines lines_;
    GroupCommit commits_{store_, clock_, {}, {}, Log(lines_, "commit")};
    Stop stop_;
    ChangeReply reply_{Applied{}};
    Gate gate_{clock_.executor()};
};

TEST(GroupCommit, what_the_store_cannot_take_is_answered_and_logged_in_the_stores_own_words) {
    CommitsToOneThatRefuses commits;
    const auto reply = commits.commit_one();
    ASSERT_TRUE(reply.is(Errc::invalid));
    EXPECT_EQ(reply.error().what,
              "the store cannot take this request: row 7 of `run` cannot be understood");
    EXPECT_NE(commits.logged().find("row 7 of `run`"), std::string::npos) << commits.logged();
}

// A store that never answers a group.
class Hanging final : public MemoryStore {
public:
    using MemoryStore::MemoryStore;
    Task<Result<GroupReply>> commit(Group) override {
        co_await suspend([this](Suspended me) { hung_.push_back(std::move(me)); });
        co_return error(Errc::unavailable, "gone");
    }

    // Who waits must be gone before what it refers to is.
    void let_go() { hung_.clear(); }

private:
    std::vector<Suspended> hung_;
};

class CommitsToOneThatHangs {
public:
    // What the last of so many is told, each of one row, in lanes of three.
    ChangeReply commit_many(int count) {
        gate_.spawn("test", play(count));
        context_.run();
        store_.let_go();
        return reply_;
    }

private:
    Task<void> play(int count) {
        const ServerId me{1};
        co_await commits_.open(me, stop_);
        gate_.spawn("group commit", commits_.run(stop_));
        for (int i = 1; i < count; ++i) gate_.spawn("one of many", commit_one());
        const Cancel change{JobId{1}};
        reply_ = co_await commits_.commit(Lane::reports, change);
        context_.stop();
    }
    Task<void> commit_one() {
        const Cancel change{JobId{1}};
        co_await commits_.commit(Lane::reports, change);
    }

    Hanging store_{everything_written};
    boost::asio::io_context context_{1};
    AsioClock clock_{context_};
    GroupCommit commits_{store_, clock_, {.lane_max = 3}, {}, Log{}};
    Stop stop_;
    ChangeReply reply_{Applied{}};
    Gate gate_{clock_.executor()};
};

// A store that carries out what it is sent, and does not say so.
class Silent final : public MemoryStore {
public:
    using MemoryStore::MemoryStore;
    Task<Result<GroupReply>> commit(Group group) override {
        auto reply = co_await MemoryStore::commit(std::move(group));
        co_await suspend([this](Suspended me) { waiting_.push_back(std::move(me)); });
        co_return reply;
    }

    // Who waits must be gone before what it refers to is.
    void let_go() { waiting_.clear(); }

private:
    std::vector<Suspended> waiting_;
};

class CommitsToOneThatIsSilent {
public:
    GroupCommit::Seen seen_by_a_read_after_a_tick() {
        gate_.spawn("test", play());
        context_.run();
        store_.let_go();
        return commits_.seen();
    }

private:
    Task<void> play() {
        const ServerId me{1};
        co_await commits_.open(me, stop_);
        gate_.spawn("group commit", commits_.run(stop_));
        gate_.spawn("tick", tick());
        for (;;) {
            const auto asked_at = clock_.boot();
            const auto view = co_await store_.service();
            commits_.saw(view->clock, asked_at);
            if (view->clock.tick > 0) break;
            co_await clock_.make_alarm()->wait(milliseconds(1));
        }
        context_.stop();
    }
    Task<void> tick() {
        const Tick change;
        co_await commits_.commit(Lane::tick, change);
    }

    Silent store_{everything_written};
    boost::asio::io_context context_{1};
    AsioClock clock_{context_};
    GroupCommit commits_{store_, clock_, {}, {}, Log{}};
    Stop stop_;
    Gate gate_{clock_.executor()};
};

// Else it would leave the leading ticks to a server that is not there, and waits would end early.
TEST(GroupCommit, knows_its_own_tick_when_a_read_shows_it_before_the_reply) {
    const auto seen = CommitsToOneThatIsSilent().seen_by_a_read_after_a_tick();
    EXPECT_FALSE(seen.of_another);
    EXPECT_TRUE(seen.sent_at.has_value());
}

TEST(GroupCommit, what_finds_its_lane_full_is_told_at_once) {
    EXPECT_TRUE(CommitsToOneThatHangs().commit_many(20).is(Errc::overloaded));
}

}  // namespace
}  // namespace perdure
