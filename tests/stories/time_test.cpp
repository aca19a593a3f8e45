// Stories about time: T1, T2, T3.
#include <algorithm>
#include <vector>

#include "tests/stories/telling.h"

namespace perdure::stories {

TEST(TimeStory, a_clock_that_is_a_minute_ahead_ends_no_lease) {
    // T1: else a promoted standby whose clock is 60 s ahead ends all leases.
    Story story({.servers = 2});
    const auto job = story.submit({.runs_for = seconds(20)});
    story.run_until_running(job);

    story.step_wall_clock(server(0), seconds(60));
    story.step_wall_clock(server(1), seconds(-60));
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(TimeStory, eight_days_switched_off_expire_no_waiting_job) {
    // T1: else eight days switched off expire every waiting job on one store and none on another.
    Story story;
    story.kill(worker(0));
    const auto job = story.submit({.queue_timeout = days(1)});

    story.kill(server(0));
    story.run_for(days(8));
    story.start(server(0));
    story.run_for(seconds(10));
    EXPECT_EQ(story.state(job), JobState::ready) << story.replay();

    story.start(worker(0));
    story.run_until_state(job, JobState::succeeded);
}

TEST(TimeStory, three_servers_add_one_second_each_second) {
    // T2: else three servers each add their own second and leases end three times too early.
    Story story({.servers = 3});
    const auto job = story.submit({.runs_for = minutes(10)});
    story.run_until_running(job);

    const auto before = story.clock().now;
    story.run_for(seconds(60));

    EXPECT_LE(story.clock().now - before, seconds(61)) << story.replay();
    EXPECT_GE(story.clock().now - before, seconds(55)) << story.replay();
}

// The shortest wait before the second run of jobs that crash at different moments of a tick.
Duration shortest_retry_wait(Story& story) {
    std::vector<JobId> jobs;
    for (const auto ms : {700, 810, 920, 1'030, 1'140, 1'250, 1'360, 1'470})
        jobs.push_back(
            story.submit({.runs_for = milliseconds(ms), .end = End::crash, .bad_attempts = 1}));
    auto shortest = hours(1);
    for (const auto job : jobs) {
        story.run_until_started(job, 2);
        shortest = std::min(shortest, story.began(job, 1) - story.died(job, 0));
    }
    return shortest;
}

TEST(TimeStory, no_retry_comes_before_its_wait_is_over) {
    // T2: else a wait counts from the last tick, and one of 1 s lasts half a second.
    Story story({.slots = 8});
    EXPECT_GE(shortest_retry_wait(story), seconds(1)) << story.replay();
}

TEST(TimeStory, no_retry_comes_early_after_ticks_whose_replies_were_lost) {
    // T2: else the only server takes its own tick for another's, and leaves the ticking to that.
    Story story({.slots = 8});
    for (int lost = 0; lost < 4; ++lost) story.break_off(reply_to_commit_of("tick"));
    EXPECT_GE(shortest_retry_wait(story), seconds(1)) << story.replay();
}

TEST(TimeStory, no_retry_comes_early_by_more_than_a_tick_where_several_servers_tick) {
    // T2: one that knows another to tick leaves the leading tick to it: the wait then counts from
    // the other's last tick, and from no older one.
    Story story({.servers = 3, .workers = 3, .slots = 8});
    const auto on_their_way = milliseconds(20);
    EXPECT_GE(shortest_retry_wait(story), seconds(1) - Timing{}.tick - on_their_way)
        << story.replay();
}

TEST(TimeStory, no_job_expires_before_its_queue_timeout) {
    // T2: else a job that was submitted just before a tick loses half a second.
    Story story;
    story.kill(worker(0));
    story.run_for(milliseconds(12'340));
    const auto asked_at = story.now();
    const auto job = story.submit({.queue_timeout = seconds(1)});
    story.run_until_state(job, JobState::expired);
    EXPECT_GE(story.now() - asked_at, seconds(1)) << story.replay();
}

TEST(TimeStory, a_lease_lives_on_while_one_servers_renewals_fail_and_anothers_ticks_commit) {
    // T2, T3: else renewals fail while ticks commit.
    Story story({.servers = 2});
    const auto job = story.submit({.runs_for = seconds(40)});
    story.run_until_running(job);

    story.keep(commit_of("heartbeat"));
    story.run_until_kept();
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(TimeStory, nothing_is_silent_before_its_worker_could_reconnect_after_an_outage) {
    // T2: else a job 3.9 s into its start is silent 0.1 s after a minute's outage.
    Story story;
    story.cut_at(message("started"));
    const auto job = story.submit({.runs_for = minutes(2)});
    story.run_until_kept();
    story.run_for(milliseconds(3'500));

    story.store_down(seconds(60));
    story.heal();
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.epoch(job), 1U) << story.replay();
}

TEST(TimeStory, a_server_that_cannot_commit_is_left_by_its_worker) {
    // T3: a worker unanswered goes to the next server.
    Story story({.servers = 2});
    story.run_until_session(worker(0));
    const auto first = story.server_of(worker(0));

    story.pause(first);
    story.run_for(seconds(6));

    EXPECT_NE(story.server_of(worker(0)).i, first.i) << story.replay();
}

}  // namespace perdure::stories
