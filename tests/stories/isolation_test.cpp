// Stories about what happens to a process when its lease ends: O7, L2, O10.
#include "tests/stories/telling.h"

namespace perdure::stories {

TEST(IsolationStory, an_exclusive_job_is_dead_before_the_next_one_starts) {
    // O7: 2 s before the lease ends the shim kills; nobody overlaps. The policy waits for 1 s.
    Story story({.workers = 2});
    const auto job = story.submit({.runs_for = hours(1), .key = "card"});
    story.run_until_running(job);
    story.run_for(seconds(5));
    const auto began = story.now();

    story.cut(story.host_of(job));
    story.run_until_started(job, 2);

    EXPECT_LT(story.died(job, 0), story.began(job, 1)) << story.replay();
    EXPECT_LE(story.began(job, 1) - began, seconds(13)) << story.replay();
    EXPECT_EQ(story.alive(job), 1U);
}

TEST(IsolationStory, an_exclusive_job_with_hold_outlives_an_outage) {
    // O7: `hold` shifts the kill and the server's release alike.
    Story story({.workers = 2});
    const auto job = story.submit({.runs_for = minutes(2), .key = "card", .hold = minutes(1)});
    story.run_until_running(job);

    story.cut(story.host_of(job));
    story.run_for(seconds(40));
    story.heal();
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(IsolationStory, two_jobs_with_one_key_never_overlap_when_a_host_wakes_up) {
    // O7: a host paused as a whole acts at once on waking, before any report.
    Story story({.workers = 2});
    const auto job = story.submit({.runs_for = hours(1), .key = "card"});
    story.run_until_running(job);
    const auto first = story.host_of(job);

    story.pause_host(first);
    story.run_until_started(job, 2);
    story.resume_host(first);
    story.run_for(milliseconds(10));

    EXPECT_EQ(story.alive(job), 1U) << story.replay();
    EXPECT_EQ(story.state(job), JobState::running);
}

TEST(IsolationStory, a_fenced_job_goes_on_while_the_store_is_down) {
    // O7: it goes on for `hold` while its worker talks to it, and is not run again.
    Story story({.workers = 2});
    const auto job = story.submit({.runs_for = seconds(90)});
    story.run_until_running(job);

    story.store_down(seconds(60));
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(IsolationStory, a_fenced_job_goes_on_while_all_servers_are_down) {
    // O7: nothing is lost, and the result that fell into the outage is not lost either.
    Story story({.servers = 2, .workers = 2});
    const auto job = story.submit({.runs_for = seconds(30)});
    story.run_until_running(job);

    story.kill(server(0));
    story.kill(server(1));
    story.run_for(seconds(60));
    story.start(server(0));
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(IsolationStory, a_fenced_job_whose_worker_is_gone_is_killed_with_its_lease) {
    // O7: a worker silent towards its shims for 5 s counts as gone.
    Story story;
    const auto job = story.submit({.runs_for = hours(1)});
    story.run_until_running(job);

    story.kill(worker(0));
    story.run_for(seconds(12));

    EXPECT_EQ(story.alive(job), 0U) << story.replay();
}

TEST(IsolationStory, a_fenced_job_that_runs_elsewhere_is_killed_when_its_worker_learns_it) {
    // O7: it kills at once when it learns that its epoch is stale.
    Story story({.workers = 2});
    const auto job = story.submit({.runs_for = hours(1)});
    story.run_until_running(job);
    story.cut(story.host_of(job));
    story.run_until_started(job, 2);
    EXPECT_EQ(story.alive(job), 2U) << story.replay();

    story.heal();
    story.run_for(seconds(4));

    EXPECT_EQ(story.alive(job), 1U) << story.replay();
    EXPECT_LT(story.died(job, 0), story.died(job, 1));
}

TEST(IsolationStory, a_once_job_whose_owner_is_lost_is_quarantined_after_hold) {
    // O7: it stays running, owner lost, for `hold`; a result that comes later is evidence.
    Story story({.workers = 2});
    const auto job = story.submit({.effects = Effects::once, .runs_for = minutes(7)});
    story.run_until_running(job);
    story.cut(story.host_of(job));
    story.run_for(minutes(5));
    EXPECT_EQ(story.state(job), JobState::running) << story.replay();
    story.run_for(seconds(20));
    EXPECT_EQ(story.state(job), JobState::quarantined) << story.replay();

    story.heal();
    story.run_for(minutes(3));
    EXPECT_EQ(story.state(job), JobState::quarantined);
    EXPECT_TRUE(story.late_result_of(job).succeeded) << story.replay();
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(IsolationStory, a_once_job_whose_owner_returns_within_hold_goes_on) {
    // O7: its owner was lost for four minutes.
    Story story({.workers = 2});
    const auto job = story.submit({.effects = Effects::once, .runs_for = minutes(6)});
    story.run_until_running(job);

    story.cut(story.host_of(job));
    story.run_for(minutes(4));
    story.heal();
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(IsolationStory, a_takeover_does_not_shorten_the_lease_of_a_detached_worker) {
    // L2 against O7: the shims were told of 60 s; the next worker dies right after its opening.
    Story story({.workers = 2});
    story.kill(worker(1));
    const auto job = story.submit({.runs_for = hours(1), .key = "card"});
    story.run_until_running(job);
    story.run_for(seconds(3));
    story.detach(worker(0));
    story.keep(message("heartbeat"));
    story.start(worker(0));
    story.run_until_kept();
    story.kill(worker(0));

    story.start(worker(1));
    story.run_until_started(job, 2);
    EXPECT_LT(story.died(job, 0), story.began(job, 1)) << story.replay();
}

TEST(IsolationStory, a_detached_workers_jobs_are_adopted_by_the_next_one) {
    // L2: an upgrade takes half a minute and costs nobody's job.
    Story story({.workers = 2});
    const auto job = story.submit({.runs_for = minutes(2), .key = "card"});
    story.run_until_running(job);
    const auto host = story.host_of(job);

    story.detach(host);
    story.run_for(seconds(30));
    story.start(host);
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(ProgressStory, a_begin_that_was_not_committed_has_failed) {
    // O10: else, cut off, a clean job calls `begin` and charges the card; the server believes it
    // clean and reruns it. Here it learns that it may not, and the next attempt may go on.
    Story story({.workers = 2});
    const auto job = story.submit({.effects = Effects::resumable,
                                   .runs_for = seconds(20),
                                   .checkpoint_at = seconds(1),
                                   .begin_at = seconds(5)});
    story.run_until_running(job);
    story.run_for(seconds(3));
    story.cut(story.host_of(job));
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded) << story.replay();
    EXPECT_EQ(story.runs(job), 2U);
}

TEST(ProgressStory, a_job_that_began_is_not_run_again) {
    // O10: it is dirty from the commit of its `begin` on.
    Story story;
    const auto job = story.submit({.effects = Effects::resumable,
                                   .runs_for = seconds(20),
                                   .checkpoint_at = seconds(1),
                                   .begin_at = seconds(3)});
    story.run_until_running(job);
    story.run_for(seconds(5));

    story.reboot(worker(0));
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::quarantined) << story.replay();
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(ProgressStory, a_checkpointed_job_goes_on_from_there) {
    // O10: clean, and so it is run again.
    Story story;
    const auto job = story.submit(
        {.effects = Effects::resumable, .runs_for = seconds(20), .checkpoint_at = seconds(1)});
    story.run_until_running(job);
    story.run_for(seconds(5));

    story.reboot(worker(0));
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded) << story.replay();
    EXPECT_EQ(story.runs(job), 2U);
}

TEST(ProgressStory, a_delayed_checkpoint_does_not_undo_a_later_begin) {
    // O10, a hole in its first text: the copy of a checkpoint comes after the `begin`.
    Story story;
    story.copy(message("checkpoint"));
    const auto job = story.submit({.effects = Effects::resumable,
                                   .runs_for = seconds(20),
                                   .checkpoint_at = seconds(1),
                                   .begin_at = seconds(3)});
    story.run_until_running(job);
    story.run_for(seconds(5));
    story.deliver_kept();
    story.run_for(seconds(1));

    story.reboot(worker(0));
    story.run_until_ended(job);
    EXPECT_EQ(story.state(job), JobState::quarantined) << story.replay();
}

}  // namespace perdure::stories
