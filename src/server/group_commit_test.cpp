#include "server/group_commit.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "server/testing/server_stage.h"
#include "store/memory/memory_store.h"

namespace perdure {
namespace {

class CountingAlarm final : public Alarm {
public:
    Task<void> wait(Duration) override { co_return; }
    void ring() override { ++rings; }
    int rings = 0;
};

class SeenWork final : public WorkListener {
public:
    void note(const CommittedWork& work) override { seen.push_back(work); }
    void wake() override { ++wakes; }
    std::vector<CommittedWork> seen;
    int wakes = 0;
};

class GroupCommitTest : public ServerStage<MemoryStore> {
protected:
    GroupCommitTest() : ServerStage(LeadingTicks::where_deadlines_are_made) {}

    // The kinds of what was sent last.
    bool is_led_by_a_tick() const {
        const auto& changes = store.sent.back().changes;
        return std::holds_alternative<Tick>(changes.front()) && changes.size() > 1;
    }
    std::size_t ticks_in_last_group() const {
        std::size_t ticks = 0;
        for (const auto& change : store.sent.back().changes)
            if (std::holds_alternative<Tick>(change)) ++ticks;
        return ticks;
    }
    // Another server makes the next tick, and this one is not told.
    void another_server_ticks() {
        const ServerId other{2};
        if (others_groups == 0) {
            EXPECT_TRUE(done(store.open_server(other, WallTime{})));
        }
        const auto seen = done(store.service())->clock;
        const ServiceTick next{seen.tick + 1, seen.now + milliseconds(500), seen.grace_until};
        const Group group{
            .server = other, .number = ++others_groups, .changes = {Tick{seen.tick, next}}};
        EXPECT_TRUE(done(store.commit(group)));
    }
    std::vector<ChangeReply> commit_all(Lane lane, std::vector<Change> changes) {
        return done(commits.commit_all(lane, std::move(changes)));
    }
    Task<void> ask_for(Lane lane, Change change, std::vector<ChangeReply>& replies) {
        auto reply = co_await commits.commit(lane, std::move(change));
        replies.push_back(std::move(reply));
    }
    // The first two are sent at once, each by itself.
    void ask_one_after_the_other(int count, std::vector<ChangeReply>& replies) {
        for (int i = 0; i < count; ++i) {
            gate.spawn("asks", ask_for(Lane::reports, Cancel{JobId{1}}, replies));
            clock.run_ready();
        }
    }
    Task<void> report(AttemptKey attempt, std::vector<ChangeReply>& replies) {
        const SessionId worker{1};
        std::vector<Change> said;
        said.push_back(Report{worker, attempt});
        auto answered = co_await commits.commit_report(worker, std::move(said));
        replies.push_back(std::move(answered.front()));
    }
    // Its tick is carried out, and nobody says so.
    Task<bool> open_and_tick(GroupCommit& its, StagedStore<MemoryStore>& with) {
        const ServerId me{1};
        co_await its.open(me, stop);
        gate.spawn("its commits", its.run(stop));
        with.holds_replies = true;
        const Tick change;
        co_await its.commit(Lane::tick, change);
        co_return true;
    }
    void release_one_after_the_other(int count) {
        for (int i = 0; i < count; ++i) {
            store.release_oldest(clock.executor());
            clock.run_ready();
        }
    }
    bool is_running() const {
        const auto names = gate.waiting_for();
        return std::find(names.begin(), names.end(), "commits") != names.end();
    }

    std::uint64_t others_groups = 0;
    CountingAlarm bell;
    SeenWork work;
};

// T2

TEST_F(GroupCommitTest, a_group_that_makes_a_deadline_ticks_first) {
    open();
    submit(JobId{1});
    EXPECT_TRUE(is_led_by_a_tick());
}

TEST_F(GroupCommitTest, a_group_that_makes_none_does_not_tick) {
    open();
    apply(Lane::submits, PauseQueue{"default", "night"});
    EXPECT_EQ(ticks_in_last_group(), 0U);
}

TEST_F(GroupCommitTest, a_group_that_ticks_anyway_ticks_once) {
    open();
    store.holds_groups = true;
    EXPECT_FALSE(begun(commits.commit(Lane::submits, submit_of(JobId{1}))));
    EXPECT_FALSE(begun(commits.commit(Lane::submits, submit_of(JobId{2}))));
    EXPECT_FALSE(begun(commits.commit(Lane::submits, submit_of(JobId{3}))));
    EXPECT_FALSE(begun(commits.commit(Lane::tick, Tick{})));
    store.release_all(clock.executor());
    clock.run_ready();
    EXPECT_EQ(store.sent.back().changes.size(), 2U);
    EXPECT_EQ(ticks_in_last_group(), 1U);
}

// At each change of hands some time is lost.
TEST_F(GroupCommitTest, a_server_that_knows_another_one_to_tick_leaves_it_to_that_one) {
    open();
    another_server_ticks();
    const auto asked_at = clock.boot();
    commits.saw(done(store.service())->clock, asked_at);
    submit(JobId{1});
    EXPECT_EQ(ticks_in_last_group(), 0U);
}

TEST_F(GroupCommitTest, what_stands_behind_a_tick_that_came_too_late_is_sent_again) {
    open();
    submit(JobId{1});
    another_server_ticks();
    store.sent.clear();
    submit(JobId{2});
    EXPECT_EQ(store.sent.size(), 2U);
    EXPECT_EQ(state_of(JobId{2}), JobState::ready);
}

// Else it would leave the leading ticks to a server that is not there, and waits would end early.
TEST_F(GroupCommitTest, knows_its_own_tick_when_a_read_shows_it_before_the_reply) {
    timing.unwritten = {};  // a read shows what a reply has not told yet
    StagedStore<MemoryStore> writing{timing};
    GroupCommit its{writing, clock, {.timing = timing}, {}, Log{}};
    EXPECT_FALSE(begun(open_and_tick(its, writing)));
    const auto asked_at = clock.boot();
    const auto view = done(writing.service());
    ASSERT_EQ(view->clock.tick, 1U);
    its.saw(view->clock, asked_at);
    EXPECT_FALSE(its.seen().of_another);
    EXPECT_TRUE(its.seen().sent_at.has_value());
    writing.let_go();
}

// C6
TEST_F(GroupCommitTest, a_store_that_shows_an_older_tick_than_before_ends_this_life) {
    open();
    submit(JobId{1});
    submit(JobId{2});
    clock.pass(seconds(1));
    commits.saw({}, clock.boot());
    ASSERT_EQ(fatal.size(), 1U);
    EXPECT_NE(fatal[0].find("it has lost commits"), std::string::npos);
}

// T3

TEST_F(GroupCommitTest, is_well_once_it_is_open_and_while_nothing_waits) {
    EXPECT_FALSE(commits.healthy());
    open();
    EXPECT_TRUE(commits.healthy());
    clock.pass(minutes(10));
    EXPECT_TRUE(commits.healthy());
}

TEST_F(GroupCommitTest, is_not_well_when_it_could_not_commit_for_two_seconds) {
    open();
    clock.pass(minutes(10));
    store.holds_groups = true;
    EXPECT_FALSE(begun(commits.commit(Lane::reports, Cancel{JobId{1}})));
    clock.pass(milliseconds(1'900));
    EXPECT_TRUE(commits.healthy());
    clock.pass(milliseconds(200));
    EXPECT_FALSE(commits.healthy());
    store.release_all(clock.executor());
    clock.run_ready();
    EXPECT_TRUE(commits.healthy());
}

TEST_F(GroupCommitTest, who_claims_is_woken_when_it_is_not_well) {
    open();
    commits.on_work(work);
    store.holds_groups = true;
    EXPECT_FALSE(begun(commits.commit(Lane::reports, Cancel{JobId{1}})));
    clock.pass(milliseconds(1'900));
    EXPECT_EQ(work.wakes, 0);
    clock.pass(seconds(1));
    EXPECT_GE(work.wakes, 1);
}

// [P11]

TEST_F(GroupCommitTest, nobody_is_answered_before_the_commit_is) {
    open();
    store.holds_replies = true;
    EXPECT_FALSE(begun(commits.commit(Lane::submits, submit_of(JobId{1}))));
    EXPECT_EQ(state_of(JobId{1}), JobState::ready);
}

TEST_F(GroupCommitTest, who_waits_for_five_seconds_is_told_what_is_known) {
    open();
    store.holds_groups = true;
    std::vector<ChangeReply> replies;
    ask_one_after_the_other(3, replies);
    clock.pass(milliseconds(4'900));
    EXPECT_TRUE(replies.empty());
    clock.pass(milliseconds(700));
    ASSERT_EQ(replies.size(), 3U);
    EXPECT_TRUE(replies[0].is(Errc::outcome_unknown));  // the store has it
    EXPECT_TRUE(replies[2].is(Errc::unavailable));      // it was never sent
}

// "Nothing was done" would be a lie.
TEST_F(GroupCommitTest, what_is_committed_and_only_asked_for_its_answer_is_never_called_refused) {
    open();
    int groups = 0;
    store.after = [&groups](const Group&) -> std::optional<Error> {
        if (++groups > 1) return std::nullopt;
        return error(Errc::outcome_unknown, "the reply was lost");
    };
    store.before = [&groups](const Group&) -> std::optional<Error> {
        if (groups == 0) return std::nullopt;
        return error(Errc::unavailable, "no room");
    };
    const auto reply = commit(Lane::submits, submit_of(JobId{1}));
    EXPECT_TRUE(reply.is(Errc::outcome_unknown));
    EXPECT_EQ(state_of(JobId{1}), JobState::ready);
}

TEST_F(GroupCommitTest, a_submit_whose_reply_was_lost_gets_its_first_answer) {
    open();
    bool is_lost = false;
    store.after = [&is_lost](const Group&) -> std::optional<Error> {
        if (std::exchange(is_lost, true)) return std::nullopt;
        return error(Errc::outcome_unknown, "the reply was lost");
    };
    const auto reply = commit(Lane::submits, submit_of(JobId{1}));
    ASSERT_TRUE(reply);
    EXPECT_TRUE(std::get<Submitted>(*reply).created);
}

TEST_F(GroupCommitTest, what_the_store_cannot_take_is_answered_in_the_stores_own_words) {
    open();
    store.before = [](const Group&) { return error(Errc::corrupt, "row 7 cannot be understood"); };
    const auto reply = commit(Lane::reports, Cancel{JobId{1}});
    ASSERT_TRUE(reply.is(Errc::invalid));
    EXPECT_EQ(reply.error().what, "the store cannot take this request: row 7 cannot be understood");
    EXPECT_TRUE(log.has("row 7 cannot be understood"));
}

TEST_F(GroupCommitTest, what_finds_its_lane_full_is_told_at_once) {
    GroupCommit narrow{store, clock, {.lane_max = 3}, {}, Log{}};
    std::vector<Change> four(4, Cancel{JobId{1}});
    EXPECT_FALSE(begun(narrow.commit_all(Lane::reports, four)));
    const auto reply = done(narrow.commit(Lane::reports, Cancel{JobId{1}}));
    EXPECT_TRUE(reply.is(Errc::overloaded));
    EXPECT_FALSE(begun(narrow.commit(Lane::heartbeats, Cancel{JobId{1}})));
}

TEST_F(GroupCommitTest, requests_that_come_while_a_commit_is_under_way_share_the_next) {
    open();
    store.holds_groups = true;
    std::vector<ChangeReply> replies;
    ask_one_after_the_other(10, replies);
    release_one_after_the_other(3);
    EXPECT_EQ(replies.size(), 10U);
    EXPECT_EQ(store.sent.size(), 3U);
}

TEST_F(GroupCommitTest, the_changes_of_one_call_are_answered_one_by_one_and_in_order) {
    open();
    const auto replies =
        commit_all(Lane::submits, {submit_of(JobId{1}), Cancel{JobId{99}}, Cancel{JobId{1}}});
    ASSERT_EQ(replies.size(), 3U);
    EXPECT_TRUE(replies[0]);
    EXPECT_TRUE(replies[1].is(Errc::not_found));
    EXPECT_TRUE(replies[2]);
}

TEST_F(GroupCommitTest, a_repeated_report_takes_the_place_of_the_one_that_waits) {
    const AttemptKey attempt{JobId{1}, Epoch{1}};
    std::vector<ChangeReply> replies;
    gate.spawn("first", report(attempt, replies));
    clock.run_ready();
    gate.spawn("again", report(attempt, replies));
    clock.run_ready();
    ASSERT_EQ(replies.size(), 1U);
    EXPECT_TRUE(replies[0].is(Errc::unavailable));
}

TEST_F(GroupCommitTest, ends_when_what_is_under_way_is_answered_and_sends_nothing_more) {
    open();
    store.holds_groups = true;
    std::vector<ChangeReply> replies;
    ask_one_after_the_other(3, replies);
    stop.request();
    clock.run_ready();
    EXPECT_TRUE(is_running());
    store.release_all(clock.executor());
    clock.run_ready();
    EXPECT_FALSE(is_running());
    EXPECT_EQ(replies.size(), 2U);
    EXPECT_EQ(store.sent.size(), 2U);
}

// Hints

// Its claim may have gone before it, when the slot was not free yet.
TEST_F(GroupCommitTest, who_claims_is_told_whose_attempts_have_ended_and_who_was_heard) {
    open();
    open_session(SessionId{1});
    commits.on_work(work);
    const Report end{SessionId{1}, {JobId{1}, Epoch{1}}};
    static_cast<void>(commit(Lane::reports, end));
    EXPECT_EQ(work.seen.back().ended, std::set{SessionId{1}});
    apply(Lane::heartbeats, Heartbeat{.session = SessionId{1}, .number = 1, .lease = seconds(10)});
    EXPECT_EQ(work.seen.back().heard, std::set{SessionId{1}});
    EXPECT_TRUE(work.seen.back().ended.empty());
}

TEST_F(GroupCommitTest, who_claims_is_told_of_work_that_appears_and_not_of_what_makes_none) {
    open();
    commits.on_work(work);
    EXPECT_TRUE(commit(Lane::reports, Cancel{JobId{1}}).is(Errc::not_found));
    EXPECT_FALSE(work.seen.back().appeared);
    submit(JobId{1});
    EXPECT_TRUE(work.seen.back().appeared);
}

TEST_F(GroupCommitTest, who_claims_is_told_for_whom_a_claim_has_seen_the_work) {
    open();
    open_session(SessionId{1});
    commits.on_work(work);
    store.holds_groups = true;
    std::vector<ChangeReply> replies;
    ask_one_after_the_other(2, replies);
    gate.spawn("submit", ask_for(Lane::submits, submit_of(JobId{3}), replies));
    gate.spawn("claim", ask_for(Lane::claims, Claim{SessionId{1}, 1, 1}, replies));
    clock.run_ready();
    store.release_all(clock.executor());
    clock.run_ready();
    ASSERT_EQ(replies.size(), 4U);
    EXPECT_TRUE(work.seen.back().appeared);
    EXPECT_EQ(work.seen.back().claimed_for, std::set{SessionId{1}});
}

TEST_F(GroupCommitTest, reports_and_submits_are_activity_and_renewals_ticks_and_claims_are_not) {
    open();
    open_session(SessionId{1});
    commits.on_activity(bell);
    apply(Lane::tick, Tick{});
    apply(Lane::claims, Claim{SessionId{1}, 1, 1});
    apply(Lane::heartbeats, Heartbeat{.session = SessionId{1}, .number = 1, .lease = seconds(10)});
    EXPECT_EQ(bell.rings, 0);
    submit(JobId{1});
    apply(Lane::reports, Cancel{JobId{1}});
    EXPECT_EQ(bell.rings, 2);
}

TEST_F(GroupCommitTest, every_change_that_was_committed_is_shown_with_its_reply) {
    open();
    std::vector<bool> shown;
    commits.on_commit([&shown](const Change& change, const ChangeReply& reply) {
        if (std::holds_alternative<Cancel>(change)) shown.push_back(reply.has_value());
    });
    submit(JobId{1});
    commit_all(Lane::reports, {Cancel{JobId{1}}, Cancel{JobId{99}}});
    EXPECT_EQ(shown, (std::vector{true, false}));
}

}  // namespace
}  // namespace perdure
