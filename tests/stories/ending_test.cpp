// Stories about how jobs end: E1 cancel, E2 quarantine, E5 timeouts.
#include "tests/stories/telling.h"

namespace perdure::stories {
namespace {

// Nobody chose it: it is the server's.
PolicyChoice inherited() {
    PolicyChoice policy;
    policy.level = PolicyLevel::server;
    return policy;
}

}  // namespace

TEST(EndingStory, a_waiting_job_that_is_cancelled_never_runs) {
    // E1: not started: ends at once.
    Story story;
    story.kill(worker(0));
    const auto job = story.submit({});

    EXPECT_TRUE(story.cancel(job).is_ok());
    EXPECT_EQ(story.state(job), JobState::cancelled) << story.replay();

    story.start(worker(0));
    story.run_for(seconds(5));
    EXPECT_EQ(story.runs(job), 0U);
}

TEST(EndingStory, a_starting_job_that_is_cancelled_is_fenced_when_it_asks) {
    // E1: also `starting` under ask: ends at once, a late ask is fenced.
    Story story;
    story.keep(message("ask"));
    const auto job = story.submit({.effects = Effects::once});
    story.run_until_kept();

    story.cancel(job);
    EXPECT_EQ(story.state(job), JobState::cancelled) << story.replay();
    story.deliver_kept();
    story.run_for(seconds(10));

    EXPECT_EQ(story.state(job), JobState::cancelled);
    EXPECT_EQ(story.runs(job), 0U) << story.replay();
}

TEST(EndingStory, a_running_job_is_killed_and_cancelled) {
    // E1: the report decides; within 0.5 s and the kill grace.
    Story story;
    const auto job = story.submit({.runs_for = hours(1), .ignores_sigterm = true});
    story.run_until_running(job);

    story.cancel(job);
    EXPECT_EQ(story.state(job), JobState::running);
    story.run_for(milliseconds(5'500));

    EXPECT_EQ(story.state(job), JobState::cancelled) << story.replay();
    EXPECT_EQ(story.alive(job), 0U);
}

TEST(EndingStory, a_job_that_succeeded_before_its_kill_has_succeeded) {
    // E1: `succeeded` if the process succeeded before the shim began to kill.
    Story story;
    story.keep(message("ended"));
    const auto job = story.submit({.effects = Effects::once});
    story.run_until_kept();

    story.cancel(job);
    EXPECT_EQ(story.state(job), JobState::running);
    story.deliver_kept();
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded) << story.replay();
}

TEST(EndingStory, a_cancelled_job_whose_worker_is_lost_is_not_run_again) {
    // E1: at a lease's end: cancelled; never retried.
    Story story({.workers = 2});
    const auto job = story.submit({.runs_for = hours(1)});
    story.run_until_running(job);

    story.kill(story.host_of(job));
    story.cancel(job);
    story.run_until_ended(job);
    story.run_for(seconds(10));

    EXPECT_EQ(story.state(job), JobState::cancelled) << story.replay();
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(EndingStory, a_cancelled_once_job_whose_owner_is_lost_is_cancelled_after_hold) {
    // E1: a started `once` at the end of `hold`, marked may-have-run, not quarantined.
    Story story;
    const auto job = story.submit({.effects = Effects::once, .runs_for = hours(1)});
    story.run_until_running(job);

    story.cut(worker(0));
    story.cancel(job);
    story.run_for(minutes(5));
    EXPECT_EQ(story.state(job), JobState::running) << story.replay();
    story.run_for(seconds(20));

    EXPECT_EQ(story.state(job), JobState::cancelled) << story.replay();
    EXPECT_TRUE(story.view(job).may_have_run);
}

TEST(EndingStory, a_cancel_that_was_answered_survives_its_server) {
    // E1: cancel is durable when answered, although the kill order is lost with the server.
    Story story({.servers = 2});
    const auto job = story.submit({.runs_for = hours(1)});
    story.run_until_running(job);

    story.lose(message("kill"));
    story.cancel(job);
    story.kill(server(0));
    story.run_for(seconds(8));

    EXPECT_EQ(story.state(job), JobState::cancelled) << story.replay();
}

TEST(EndingStory, a_release_needs_the_flag_while_the_old_process_may_live) {
    // E2: generation + 1, epochs go on; without the flag it is refused.
    Story story({.workers = 2});
    const auto job = story.submit({.effects = Effects::once, .runs_for = minutes(30)});
    story.run_until_running(job);
    story.cut(story.host_of(job));
    story.run_until_state(job, JobState::quarantined);

    EXPECT_TRUE(story.deal_with(job, QuarantineAction::release).said(Errc::conflict));
    EXPECT_EQ(story.state(job), JobState::quarantined);
    EXPECT_TRUE(story.deal_with(job, QuarantineAction::release, true).is_ok());
    story.run_until_started(job, 2);

    EXPECT_EQ(story.view(job).generation, 2U) << story.replay();
    EXPECT_EQ(story.epoch(job), 2U);
}

TEST(EndingStory, a_release_stops_an_old_process_that_can_be_reached) {
    // E2: a reachable one is stopped first.
    Story story({.workers = 2});
    const auto job = story.submit({.effects = Effects::once, .runs_for = hours(1)});
    story.run_until_running(job);
    story.cut(story.host_of(job));
    story.run_until_state(job, JobState::quarantined);
    story.heal();
    story.run_for(seconds(5));
    EXPECT_EQ(story.alive(job), 1U) << story.replay();

    story.deal_with(job, QuarantineAction::release, true);
    story.run_until_started(job, 2);
    story.run_for(seconds(4));
    EXPECT_LT(story.died(job, 0), story.now()) << story.replay();
}

TEST(EndingStory, a_late_result_can_be_accepted) {
    // E2: a generation that ends at once with the late result.
    Story story;
    const auto job = story.submit({.effects = Effects::once, .runs_for = minutes(6)});
    story.run_until_running(job);
    story.cut(worker(0));
    story.run_until_state(job, JobState::quarantined);
    EXPECT_FALSE(story.deal_with(job, QuarantineAction::accept).is_ok());
    story.heal();
    story.run_for(minutes(2));

    EXPECT_TRUE(story.deal_with(job, QuarantineAction::accept).is_ok());

    EXPECT_EQ(story.state(job), JobState::succeeded) << story.replay();
    EXPECT_EQ(story.view(job).generation, 2U);
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(EndingStory, a_job_that_nobody_claims_expires) {
    // E5: queue timeout, per stay in ready and blocked.
    Story story;
    story.kill(worker(0));
    const auto job = story.submit({.queue_timeout = seconds(30)});

    story.run_for(seconds(25));
    EXPECT_EQ(story.state(job), JobState::ready) << story.replay();
    story.run_for(seconds(10));

    EXPECT_EQ(story.state(job), JobState::expired) << story.replay();
    EXPECT_EQ(story.view(job).cause, Cause::timeout_queue);
}

TEST(EndingStory, a_promotion_does_not_restart_the_queue_timeout) {
    // E5: ready and blocked are one stay.
    Story story;
    const auto first = story.submit({.runs_for = seconds(20), .key = "card"});
    const auto second = story.submit({.key = "card", .queue_timeout = seconds(30)});
    story.run_until_state(second, JobState::blocked);
    story.pause_queue(true);
    story.run_until_state(first, JobState::succeeded);
    EXPECT_EQ(story.state(second), JobState::ready);

    story.run_for(seconds(15));

    EXPECT_EQ(story.state(second), JobState::expired) << story.replay();
}

TEST(EndingStory, a_job_that_runs_longer_than_its_total_timeout_fails) {
    // E5: total counts from submit over all attempts.
    Story story;
    const auto job =
        story.submit({.runs_for = seconds(20), .end = End::crash, .total_timeout = seconds(30)});

    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::failed) << story.replay();
    EXPECT_EQ(story.view(job).cause, Cause::timeout_total);
    EXPECT_EQ(story.runs(job), 2U);
    EXPECT_EQ(story.alive(job), 0U);
}

TEST(EndingStory, a_job_that_waits_longer_than_its_total_timeout_fails) {
    // E5: total counts while it waits, too.
    Story story;
    story.kill(worker(0));
    const auto job = story.submit({.total_timeout = seconds(20)});

    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::failed) << story.replay();
    EXPECT_EQ(story.view(job).cause, Cause::timeout_total);
}

TEST(EndingStory, a_cancel_counts_although_the_loss_of_its_worker_was_decided_before) {
    // E1: the sweep's decision to run it again was under way when the cancel was answered.
    Story story({.servers = 2});
    story.kill(server(1));
    const auto job = story.submit({.runs_for = hours(1)});
    story.run_until_running(job);
    story.keep(commit_of("sweep"));
    story.kill(worker(0));
    story.run_until_kept();
    story.start(server(1));
    story.run_until("the other server", [&] { return story.is_ready(server(1)); });
    story.run_for(seconds(3));
    EXPECT_TRUE(story.cancel(job).is_ok());
    story.deliver_kept();
    story.run_until_ended(job);
    EXPECT_EQ(story.state(job), JobState::cancelled) << story.replay();
}

TEST(EndingStory, a_released_job_counts_anew) {
    // E2: a poison job may crash three times more.
    Story story;
    const auto job = story.submit({.end = End::crash, .bad_attempts = 4});
    story.run_until_state(job, JobState::quarantined);
    EXPECT_EQ(story.runs(job), 3U);

    EXPECT_TRUE(story.deal_with(job, QuarantineAction::release).is_ok());
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded) << story.replay();
    EXPECT_EQ(story.epoch(job), 5U);
}

TEST(EndingStory, the_server_decides_for_a_dead_worker_by_that_workers_policy) {
    // Job, kind, queue, worker, server: only the last of them is less specific.
    PolicyBook book;
    book.of_worker["worker-0"] = "never";
    Story story({.book = book});
    const auto inherits = story.submit({.runs_for = hours(1), .policy = inherited()});
    const auto chooses = story.submit({.runs_for = hours(1)});
    story.run_until_running(inherits);
    story.run_until_running(chooses);

    story.kill(worker(0));
    story.run_until_ended(inherits);

    EXPECT_EQ(story.state(inherits), JobState::quarantined) << story.replay();
    EXPECT_EQ(story.state(chooses), JobState::ready) << story.replay();
}

TEST(EndingStory, first_in_line_is_before_its_own_priority_only) {
    // E6: a job that is tried again at once does not overtake a more important one.
    Story story({.slots = 1});
    const auto again =
        story.submit({.runs_for = seconds(2), .end = End::conflict, .bad_attempts = 1});
    story.run_until_running(again);
    const auto important = story.submit({.priority = 0});
    const auto same = story.submit({});

    story.run_until_ended(important);
    EXPECT_EQ(story.runs(again), 1U) << story.replay();
    story.run_until_ended(again);
    EXPECT_EQ(story.runs(same), 0U) << story.replay();
}

}  // namespace perdure::stories
