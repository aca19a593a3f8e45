#include "server/group_sender.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/testing/server_stage.h"
#include "store/memory/memory_store.h"

namespace perdure {
namespace {

// A queue's name tells requests apart; the store does not care which queues there are.
std::string name_of(const CommitRequest& request) {
    const auto& change = request.changes.front();
    if (const auto* pause = std::get_if<PauseQueue>(&change)) return pause->queue;
    if (const auto* submit = std::get_if<Submit>(&change)) return submit->spec->queue;
    return "tick";
}

class RecordingOwner final : public GroupSender::Owner {
public:
    CommitBatch led_by_a_tick(CommitBatch batch) const override {
        ++led;
        return batch;
    }
    Tick next_tick(BootTime, const std::optional<SentTick>& ahead) const override {
        ticks_ahead.push_back(ahead ? ahead->clock.tick : 0);
        const auto seen = ahead ? ahead->clock.tick : 0;
        return {.seen_tick = seen, .next = {.tick = seen + 1}};
    }
    void committed(SentGroup& group) override {
        for (const auto& request : group.batch) done.push_back(name_of(*request));
    }
    void committed_unanswered(const SentGroup& group) override {
        unanswered.push_back(group.number);
    }
    void refuse(CommitRequest& request, const Error& why) override {
        refused[name_of(request)] = why;
        request.waiter.reset();
    }
    void send_again(CommitBatch batch) override {
        for (auto& request : batch) again.push_back(std::move(request));
    }
    void has_room() override { ++rooms; }
    void fenced_off(const std::string& why) override { fatal.push_back(why); }

    std::vector<std::string> names_again() const {
        std::vector<std::string> names;
        for (const auto& request : again) names.push_back(name_of(*request));
        return names;
    }
    bool has_heard_nothing() const { return done.empty() && refused.empty() && again.empty(); }

    mutable int led = 0;
    mutable std::vector<std::uint64_t> ticks_ahead;
    std::vector<std::string> done;
    std::vector<std::uint64_t> unanswered;
    std::map<std::string, Error> refused;
    CommitBatch again;
    int rooms = 0;
    std::vector<std::string> fatal;
};

using Names = std::vector<std::string>;

class GroupSenderTest : public testing::Test {
protected:
    ~GroupSenderTest() override { store.let_go(); }

    void open() {
        gate.spawn("open", open_one());
        clock.run_ready();
    }
    // Whoever asked for it waits.
    std::unique_ptr<CommitRequest> request(Change change) {
        auto made = std::make_unique<CommitRequest>();
        made->changes.push_back(std::move(change));
        made->deadline = clock.boot() + seconds(5);
        gate.spawn("waiter", wait_for(*made));
        clock.run_ready();
        return made;
    }
    CommitBatch pauses(const Names& queues) {
        CommitBatch batch;
        for (const auto& queue : queues) batch.push_back(request(PauseQueue{"default", queue}));
        return batch;
    }
    std::unique_ptr<CommitRequest> submit(std::uint64_t id, const std::string& queue) {
        auto spec = std::make_shared<JobSpec>();
        spec->kind = "k";
        spec->queue = queue;
        const auto hash = body_hash(*spec);
        return request(Submit{JobId{id}, std::move(spec), hash});
    }
    void send(CommitBatch batch) {
        sender.send(std::move(batch));
        clock.run_ready();
    }
    void send_again() { send(std::exchange(owner.again, {})); }
    // The next group, and no other.
    void fail_next(StagedStore<MemoryStore>::Failure& when, Error why) {
        when = [why = std::move(why), is_over = false](const Group&) mutable {
            return std::exchange(is_over, true) ? std::nullopt : std::optional(why);
        };
    }
    void release_oldest() {
        store.release_oldest(clock.executor());
        clock.run_ready();
    }

    ManualClock clock;
    StagedStore<MemoryStore> store{Timing{}};
    RecordingOwner owner;
    LogLines log;
    GroupSender sender{store, clock, owner, Log(log, "sender")};
    std::optional<ServerOpened> opened;
    std::unique_ptr<Alarm> pause = clock.make_alarm();
    Stop stop;
    Gate gate{clock.executor()};

private:
    Task<void> open_one() {
        const ServerId me{1};
        opened = co_await sender.open(me, stop, *pause);
    }
    static Task<void> wait_for(CommitRequest& request) {
        co_await suspend([&request](Suspended me) { request.waiter.emplace(std::move(me)); });
    }
};

class OpenGroupSenderTest : public GroupSenderTest {
protected:
    OpenGroupSenderTest() { open(); }
};

const Error unknown = error(Errc::outcome_unknown, "the reply was lost");

TEST_F(GroupSenderTest, opens_when_the_store_does) {
    store.open_failure = error(Errc::unavailable, "locked");
    open();
    clock.pass(seconds(1));
    EXPECT_FALSE(sender.is_open());
    EXPECT_TRUE(log.has("warn: store does not open locked"));
    store.open_failure.reset();
    clock.pass(milliseconds(200));
    EXPECT_TRUE(sender.is_open());
    EXPECT_TRUE(opened);
}

TEST_F(GroupSenderTest, does_not_open_any_more_when_it_is_told_to_stop) {
    store.open_failure = error(Errc::unavailable, "locked");
    stop.wakes(*pause);
    open();
    stop.request();
    clock.run_ready();
    EXPECT_TRUE(gate.empty());
    EXPECT_FALSE(opened);
}

TEST_F(OpenGroupSenderTest, groups_are_numbered_and_carry_the_highest_id) {
    send(pauses({"a"}));
    const auto id = sender.next_id();
    send(pauses({"b"}));
    ASSERT_EQ(store.sent.size(), 2U);
    EXPECT_EQ(store.sent[0].number, 1U);
    EXPECT_EQ(store.sent[1].number, 2U);
    EXPECT_EQ(store.sent[1].id_high_water, id);
    EXPECT_EQ(owner.done, (Names{"a", "b"}));
}

TEST_F(OpenGroupSenderTest, two_groups_are_under_way_at_most) {
    store.holds_groups = true;
    send(pauses({"a"}));
    EXPECT_TRUE(sender.is_ready());
    send(pauses({"b"}));
    EXPECT_FALSE(sender.is_ready());
    EXPECT_EQ(owner.rooms, 0);
    release_oldest();
    EXPECT_TRUE(sender.is_ready());
    EXPECT_EQ(owner.rooms, 1);
    EXPECT_FALSE(sender.is_idle());
    release_oldest();
    EXPECT_TRUE(sender.is_idle());
}

TEST_F(OpenGroupSenderTest, what_was_sent_first_is_told_first) {
    store.holds_replies = true;
    send(pauses({"a"}));
    send(pauses({"b"}));
    store.release_newest(clock.executor());
    clock.run_ready();
    EXPECT_TRUE(owner.has_heard_nothing());
    release_oldest();
    EXPECT_EQ(owner.done, (Names{"a", "b"}));
}

TEST_F(OpenGroupSenderTest, a_tick_behind_another_one_is_told_of_it) {
    store.holds_groups = true;
    for (int i = 0; i < 2; ++i) {
        CommitBatch batch;
        batch.push_back(request(Tick{}));
        send(std::move(batch));
    }
    EXPECT_EQ(owner.ticks_ahead, (std::vector<std::uint64_t>{0, 1}));
    const auto ticks = sender.ticks_under_way();
    ASSERT_EQ(ticks.size(), 2U);
    EXPECT_EQ(ticks[1].clock.tick, 2U);
    EXPECT_EQ(ticks[1].at, clock.boot());
}

// C1, committed: what answers alike when repeated is asked again, and is known to be done.
TEST_F(OpenGroupSenderTest,
       a_lost_reply_to_a_committed_group_is_asked_for_again_where_that_is_safe) {
    fail_next(store.after, unknown);
    auto batch = pauses({"paused"});
    batch.push_back(submit(7, "asked"));
    send(std::move(batch));
    EXPECT_EQ(store.resolves, 1);
    EXPECT_EQ(owner.unanswered, (std::vector<std::uint64_t>{1}));
    EXPECT_EQ(owner.refused.at("paused").code, Errc::outcome_unknown);
    ASSERT_EQ(owner.names_again(), (Names{"asked"}));
    EXPECT_TRUE(owner.again.front()->committed);
    EXPECT_EQ(store.sent.size(), 1U);  // nothing by itself
    send_again();
    EXPECT_EQ(owner.done, (Names{"asked"}));
    EXPECT_EQ(store.sent.back().number, 2U);
}

// C1, not committed: the fence says that it never will be.
TEST_F(OpenGroupSenderTest, a_lost_group_is_sent_again_under_a_new_fence) {
    fail_next(store.before, unknown);
    auto batch = pauses({"paused"});
    batch.push_back(submit(7, "asked"));
    send(std::move(batch));
    EXPECT_EQ(store.resolves, 1);
    EXPECT_TRUE(owner.refused.empty());
    EXPECT_EQ(owner.names_again(), (Names{"paused", "asked"}));
    EXPECT_FALSE(owner.again.back()->committed);
    send_again();
    EXPECT_EQ(store.sent[1].number, store.sent[0].number);
    EXPECT_GT(store.sent[1].fence, store.sent[0].fence);
    EXPECT_EQ(owner.done, (Names{"paused", "asked"}));
}

TEST_F(OpenGroupSenderTest, nothing_is_decided_before_the_group_behind_is_answered) {
    store.holds_groups = true;
    send(pauses({"a"}));
    send(pauses({"b"}));
    fail_next(store.before, unknown);
    release_oldest();
    EXPECT_EQ(store.resolves, 0);
    EXPECT_TRUE(owner.has_heard_nothing());
    EXPECT_FALSE(sender.is_ready());
    release_oldest();  // the store refuses it: what it builds on is not there
    EXPECT_EQ(store.resolves, 1);
    EXPECT_EQ(owner.names_again(), (Names{"a", "b"}));
    EXPECT_TRUE(owner.fatal.empty());
}

TEST_F(OpenGroupSenderTest, a_group_behind_one_that_failed_is_sent_again_and_not_taken_for_fenced) {
    store.holds_groups = true;
    send(pauses({"a"}));
    send(pauses({"b"}));
    fail_next(store.before, error(Errc::unavailable, "no room"));
    store.release_all(clock.executor());
    clock.run_ready();
    EXPECT_EQ(owner.refused.at("a").code, Errc::unavailable);
    EXPECT_EQ(owner.names_again(), (Names{"b"}));
    EXPECT_TRUE(owner.fatal.empty());
    send_again();
    EXPECT_EQ(owner.done, (Names{"b"}));
}

TEST_F(OpenGroupSenderTest, while_the_outcome_cannot_be_settled_nobody_is_told_anything) {
    store.resolve_failure = error(Errc::unavailable, "gone");
    fail_next(store.after, unknown);
    send(pauses({"a"}));
    clock.pass(seconds(1));
    EXPECT_GE(store.resolves, 10);
    EXPECT_TRUE(owner.has_heard_nothing());
    EXPECT_FALSE(sender.is_idle());
    EXPECT_FALSE(sender.is_ready());
    store.resolve_failure.reset();
    clock.pass(milliseconds(200));
    EXPECT_EQ(owner.refused.at("a").code, Errc::outcome_unknown);
    EXPECT_TRUE(sender.is_idle());
}

TEST_F(OpenGroupSenderTest,
       a_server_that_was_fenced_off_while_it_settles_says_that_it_does_not_know) {
    store.resolve_failure = error(Errc::fenced, "a later life");
    fail_next(store.before, unknown);
    send(pauses({"a"}));
    EXPECT_EQ(owner.refused.at("a").code, Errc::outcome_unknown);
    EXPECT_EQ(owner.fatal.size(), 1U);
    EXPECT_TRUE(sender.is_idle());
}

TEST_F(OpenGroupSenderTest, a_server_that_was_fenced_off_says_so_and_that_nothing_was_done) {
    fail_next(store.before, error(Errc::fenced, "a later life"));
    send(pauses({"a"}));
    EXPECT_EQ(owner.refused.at("a").code, Errc::unavailable);
    ASSERT_EQ(owner.fatal.size(), 1U);
    EXPECT_EQ(owner.fatal[0], "this server's life was fenced off: a later life");
}

TEST_F(OpenGroupSenderTest, a_group_that_a_neighbour_aborted_is_sent_again) {
    fail_next(store.before, error(Errc::conflict, "serialization"));
    send(pauses({"a"}));
    EXPECT_EQ(owner.names_again(), (Names{"a"}));
    EXPECT_TRUE(owner.refused.empty());
    EXPECT_EQ(store.resolves, 0);
}

// C2: the others are committed without it.
TEST_F(OpenGroupSenderTest, one_request_that_the_store_cannot_take_is_found_and_hurts_nobody_else) {
    store.before = [](const Group& group) -> std::optional<Error> {
        for (const auto& change : group.changes)
            if (const auto* pause = std::get_if<PauseQueue>(&change))
                if (pause->queue == "bad") return error(Errc::corrupt, "row 7 of `run`");
        return std::nullopt;
    };
    send(pauses({"a", "b", "c", "d", "e", "bad", "g", "h"}));
    EXPECT_EQ(owner.done, (Names{"a", "b", "c", "d", "e", "g", "h"}));
    ASSERT_EQ(owner.refused.size(), 1U);
    EXPECT_EQ(owner.refused.at("bad").code, Errc::invalid);
    EXPECT_EQ(owner.refused.at("bad").what, "the store cannot take this request: row 7 of `run`");
    EXPECT_TRUE(log.has("error: the store cannot take a request row 7 of `run`"));
    // T2: no half rests on the tick of the group that failed.
    EXPECT_EQ(static_cast<std::size_t>(owner.led), store.sent.size() - 1);
}

TEST_F(OpenGroupSenderTest, who_is_no_longer_waited_for_is_in_neither_half) {
    fail_next(store.before, error(Errc::corrupt, "row 7"));
    auto batch = pauses({"a", "b", "c"});
    batch[1]->waiter.reset();
    send(std::move(batch));
    EXPECT_EQ(owner.done, (Names{"a", "c"}));
    EXPECT_TRUE(owner.refused.empty());
}

TEST_F(OpenGroupSenderTest, a_reply_that_is_lost_while_halving_is_settled_like_any_other) {
    fail_next(store.before, error(Errc::corrupt, "row 7"));
    fail_next(store.after, unknown);
    send(pauses({"a", "b"}));
    EXPECT_EQ(store.resolves, 1);
    EXPECT_EQ(owner.refused.at("a").code, Errc::outcome_unknown);
    EXPECT_EQ(owner.done, (Names{"b"}));
    EXPECT_TRUE(sender.is_idle());
}

// [P11]
TEST_F(OpenGroupSenderTest,
       who_has_waited_too_long_for_a_store_that_hangs_is_told_that_it_is_unknown) {
    store.holds_groups = true;
    auto batch = pauses({"late", "patient"});
    batch[1]->deadline = clock.boot() + minutes(1);
    send(std::move(batch));
    sender.refuse_late(clock.boot() + seconds(4));
    EXPECT_TRUE(owner.refused.empty());
    sender.refuse_late(clock.boot() + seconds(5));
    ASSERT_EQ(owner.refused.size(), 1U);
    EXPECT_EQ(owner.refused.at("late").code, Errc::outcome_unknown);
}

TEST_F(OpenGroupSenderTest, who_has_waited_too_long_behind_a_known_failure_is_told_of_that) {
    store.holds_groups = true;
    send(pauses({"failed"}));
    send(pauses({"hangs"}));
    fail_next(store.before, error(Errc::unavailable, "no room"));
    release_oldest();
    sender.refuse_late(clock.boot() + seconds(5));
    EXPECT_EQ(owner.refused.at("failed").code, Errc::unavailable);
    EXPECT_EQ(owner.refused.at("hangs").code, Errc::outcome_unknown);
}

}  // namespace
}  // namespace perdure
