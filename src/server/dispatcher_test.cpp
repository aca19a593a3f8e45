#include "server/dispatcher.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "server/testing/server_stage.h"
#include "store/memory/memory_store.h"

namespace perdure {
namespace {

constexpr SessionId first{1};
constexpr SessionId second{2};
constexpr SessionId third{3};

class DispatcherTest : public ServerStage<MemoryStore> {
protected:
    DispatcherTest() {
        open();
        gate.spawn("dispatch", dispatcher.run(stop));
        clock.run_ready();
    }

    std::shared_ptr<SeenOutbox> attach(SessionId session, std::uint64_t stream = 1) {
        auto outbox = std::make_shared<SeenOutbox>();
        dispatcher.attach(session, stream, outbox);
        clock.run_ready();
        return outbox;
    }
    std::shared_ptr<SeenOutbox> attach_new(SessionId session, std::uint32_t slots = 8) {
        open_session(session, slots);
        return attach(session);
    }
    void ring() {
        dispatcher.alarm().ring();
        clock.run_ready();
    }
    static Report ended(AttemptKey attempt) {
        return {first,
                attempt,
                {.cause = Cause::exit, .ran = Ran::yes, .succeeded = true, .reported = true}};
    }
    bool is_attached(SessionId session) { return dispatcher.send(session, DrainOrder{}); }

    Dispatcher dispatcher{clock, commits, Log(log, "dispatch")};
};

TEST_F(DispatcherTest, a_session_is_claimed_for_as_soon_as_it_is_attached) {
    submit(JobId{100});
    EXPECT_EQ(attach_new(first)->jobs(), std::vector{JobId{100}});
}

TEST_F(DispatcherTest, a_ring_gives_what_is_ready_to_those_that_are_attached) {
    const auto outbox = attach_new(first);
    submit(JobId{100});
    EXPECT_TRUE(outbox->jobs().empty());
    ring();
    EXPECT_EQ(outbox->jobs(), std::vector{JobId{100}});
}

TEST_F(DispatcherTest, one_group_claims_for_all_sessions) {
    for (const auto session : {first, second, third}) attach_new(session);
    store.sent.clear();
    ring();
    const auto groups = sent_groups_of<Claim>();
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups.front().size(), 3U);
}

TEST_F(DispatcherTest, each_time_another_session_is_first) {
    for (const auto session : {first, second, third}) attach_new(session);
    store.sent.clear();
    for (int i = 0; i < 3; ++i) ring();
    std::set<SessionId> who_was_first;
    for (const auto& claims : sent_groups_of<Claim>()) who_was_first.insert(claims[0].session);
    EXPECT_EQ(who_was_first.size(), 3U);
}

// No ring follows: a worker with many slots is filled by several groups in a row.
TEST_F(DispatcherTest, goes_on_while_somebody_gets_as_much_as_one_claim_may_give) {
    submit_many(100, 2'500, {.kind = "k"});
    EXPECT_EQ(attach_new(first, 4'000)->jobs().size(), 2'500U);
}

TEST_F(DispatcherTest, goes_on_behind_a_long_line_that_it_can_only_block) {
    JobSpec keyed{.kind = "k"};
    keyed.key = "one at a time";
    submit_many(100, 3'000, keyed);
    submit(JobId{9'000});
    const auto given = attach_new(first)->jobs();
    EXPECT_EQ(given, (std::vector{JobId{100}, JobId{9'000}}));
}

// O6: the session's worker has opened a newer stream, at another server.
TEST_F(DispatcherTest, lets_go_of_a_stream_that_is_not_the_sessions_newest) {
    const auto outbox = attach_new(first);
    apply(Lane::reports, OpenStream{first});
    ring();
    EXPECT_EQ(outbox->closes, 1);
    EXPECT_FALSE(is_attached(first));
}

TEST_F(DispatcherTest, lets_go_of_a_session_that_there_is_not) {
    const auto outbox = attach(SessionId{77});
    EXPECT_EQ(outbox->closes, 1);
    EXPECT_FALSE(is_attached(SessionId{77}));
}

// O3: silence is only a suspicion; the next heartbeat ends it.
TEST_F(DispatcherTest, keeps_the_stream_of_a_session_that_may_not_claim_now) {
    const auto outbox = attach_new(first);
    tick(timing.suspect + seconds(1));
    submit(JobId{100});
    ring();
    EXPECT_TRUE(outbox->jobs().empty());
    EXPECT_EQ(outbox->closes, 0);
    EXPECT_TRUE(is_attached(first));
}

TEST_F(DispatcherTest, a_newer_stream_takes_the_place_of_the_older) {
    const auto older = attach_new(first);
    apply(Lane::reports, OpenStream{first});
    const auto newer = attach(first, 2);
    EXPECT_EQ(older->closes, 1);
    submit(JobId{100});
    ring();
    EXPECT_EQ(newer->jobs(), std::vector{JobId{100}});
    EXPECT_TRUE(older->jobs().empty());
}

TEST_F(DispatcherTest, a_stream_that_comes_late_is_closed_and_changes_nothing) {
    open_session(first);
    apply(Lane::reports, OpenStream{first});
    const auto newer = attach(first, 2);
    const auto older = attach(first, 1);
    EXPECT_EQ(older->closes, 1);
    EXPECT_EQ(newer->closes, 0);
    dispatcher.detach(first, 1);
    EXPECT_TRUE(is_attached(first));
    dispatcher.detach(first, 2);
    EXPECT_EQ(newer->closes, 1);
    EXPECT_FALSE(is_attached(first));
}

// It comes with the answer to the next heartbeat; the newer stream may belong to a worker that has
// been told of it already.
TEST_F(DispatcherTest, what_was_claimed_for_a_stream_that_is_over_goes_down_no_other) {
    const auto older = attach_new(first);
    submit(JobId{100});
    store.holds_replies = true;
    ring();
    dispatcher.detach(first, 1);
    const auto newer = attach(first, 2);
    store.release_all(clock.executor());
    clock.run_ready();
    EXPECT_EQ(state_of(JobId{100}), JobState::starting);
    EXPECT_TRUE(older->jobs().empty());
    EXPECT_TRUE(newer->jobs().empty());
}

TEST_F(DispatcherTest, hands_messages_to_the_stream_that_ends_here_and_says_if_none_does) {
    const auto outbox = attach_new(first);
    EXPECT_TRUE(dispatcher.send(first, KillOrder{{JobId{1}, Epoch{1}}}));
    EXPECT_EQ(outbox->messages.size(), 1U);
    EXPECT_FALSE(dispatcher.send(second, DrainOrder{}));
}

// T3: its workers go to a server that can.
TEST_F(DispatcherTest, a_server_that_cannot_commit_lets_go_of_all_its_streams) {
    commits.on_work(dispatcher);
    const auto outbox = attach_new(first);
    store.holds_groups = true;
    EXPECT_FALSE(begun(commits.commit(Lane::reports, Cancel{JobId{100}})));
    clock.pass(timing.outage - milliseconds(100));
    EXPECT_EQ(outbox->closes, 0);
    clock.pass(seconds(1));
    EXPECT_EQ(outbox->closes, 1);
    EXPECT_FALSE(is_attached(first));
}

// What claims cost grows with those who can take something, not with all who are attached.

TEST_F(DispatcherTest, a_session_that_is_attached_is_claimed_for_alone) {
    for (const auto session : {first, second}) attach_new(session);
    store.sent.clear();
    attach_new(third);
    const auto groups = sent_groups_of<Claim>();
    ASSERT_EQ(groups.size(), 1U);
    ASSERT_EQ(groups.front().size(), 1U);
    EXPECT_EQ(groups.front()[0].session, third);
}

TEST_F(DispatcherTest, a_full_session_is_not_claimed_for_until_something_of_it_has_ended) {
    submit_many(100, 3, {.kind = "k"});
    const auto outbox = attach_new(first, 1);
    ASSERT_EQ(outbox->jobs(), std::vector{JobId{100}});
    ring();  // it may be time to ask for all
    store.sent.clear();
    ring();
    EXPECT_TRUE(sent_groups_of<Claim>().empty());

    apply(Lane::reports, Start{first, {JobId{100}, Epoch{1}}});
    apply(Lane::reports, ended({JobId{100}, Epoch{1}}));
    dispatcher.expect_room(first);
    clock.run_ready();
    EXPECT_EQ(outbox->jobs(), (std::vector{JobId{100}, JobId{101}}));
}

// [P7] Whatever freed its slot, nobody has said so.
TEST_F(DispatcherTest, a_full_session_is_claimed_for_again_after_a_while) {
    submit_many(100, 3, {.kind = "k"});
    const auto outbox = attach_new(first, 1);
    ring();
    apply(Lane::reports, Start{first, {JobId{100}, Epoch{1}}});
    apply(Lane::reports, ended({JobId{100}, Epoch{1}}));
    clock.pass(timing.tick);
    ring();
    EXPECT_EQ(outbox->jobs(), (std::vector{JobId{100}, JobId{101}}));
}

TEST_F(DispatcherTest, work_that_appears_is_claimed_for_all_but_those_who_have_seen_it) {
    for (const auto session : {first, second, third}) attach_new(session);
    store.sent.clear();
    dispatcher.note({.appeared = true, .claimed_for = {second}});
    clock.run_ready();
    const auto groups = sent_groups_of<Claim>();
    ASSERT_EQ(groups.size(), 1U);
    std::set<SessionId> sessions;
    for (const auto& claim : groups.front()) sessions.insert(claim.session);
    EXPECT_EQ(sessions, (std::set{first, third}));
}

TEST_F(DispatcherTest, an_end_is_followed_by_a_claim_unless_one_has_seen_it) {
    for (const auto session : {first, second}) attach_new(session);
    store.sent.clear();
    dispatcher.note({.claimed_for = {first}, .ended = {first, second}});
    clock.run_ready();
    const auto groups = sent_groups_of<Claim>();
    ASSERT_EQ(groups.size(), 1U);
    ASSERT_EQ(groups.front().size(), 1U);
    EXPECT_EQ(groups.front()[0].session, second);
}

// It may offer more slots now.
TEST_F(DispatcherTest, a_full_session_that_was_heard_is_claimed_for_when_work_appears) {
    submit_many(100, 3, {.kind = "k"});
    attach_new(first, 1);
    ring();
    store.sent.clear();
    dispatcher.note({.appeared = true});
    clock.run_ready();
    EXPECT_TRUE(sent_groups_of<Claim>().empty());
    dispatcher.note({.appeared = true, .heard = {first}});
    clock.run_ready();
    EXPECT_EQ(sent_groups_of<Claim>().size(), 1U);
}

TEST_F(DispatcherTest, ends_when_it_is_told_to_stop) {
    stop.request();
    clock.run_ready();
    for (const auto name : gate.waiting_for()) EXPECT_NE(name, "dispatch");
}

}  // namespace
}  // namespace perdure
