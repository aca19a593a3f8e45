// Stories about crashes of jobs, shims, workers and servers: P6, O8, O9, and lost reports.
#include "tests/stories/telling.h"

namespace perdure::stories {

TEST(CrashStory, a_poison_job_is_quarantined_after_three_crashes) {
    // P6: 2 more, then quarantine; neighbours unharmed.
    Story story;
    const auto neighbour = story.submit({.runs_for = seconds(30)});
    const auto poison = story.submit({.end = End::crash});

    story.run_until_ended(poison);
    story.run_until_ended(neighbour);

    EXPECT_EQ(story.state(poison), JobState::quarantined) << story.replay();
    EXPECT_EQ(story.runs(poison), 3U);
    EXPECT_EQ(story.state(neighbour), JobState::succeeded);
    EXPECT_EQ(story.runs(neighbour), 1U);
}

TEST(CrashStory, a_job_that_kills_its_worker_again_and_again_is_quarantined) {
    // O9: it cannot hide behind adoption, and its neighbours finish.
    Story story;
    const auto neighbour = story.submit({.runs_for = minutes(3)});
    story.run_until_running(neighbour);
    const auto poison = story.submit({.end = End::kill_worker});

    story.run_until_ended(poison);
    story.run_until_ended(neighbour);

    EXPECT_EQ(story.state(poison), JobState::quarantined) << story.replay();
    EXPECT_EQ(story.state(neighbour), JobState::succeeded);
    EXPECT_EQ(story.runs(neighbour), 1U);
}

TEST(CrashStory, a_worker_that_crashes_four_times_in_a_minute_suspects_its_youngest_attempt) {
    // O9: it runs again when nothing else does, and nothing is counted against it.
    Story story;
    const auto elder = story.submit({.runs_for = minutes(1)});
    story.run_until_running(elder);
    const auto youngest = story.submit({.runs_for = seconds(20)});
    story.run_until_running(youngest);
    story.crash_often(worker(0), 4);
    story.run_for(seconds(3));

    EXPECT_EQ(story.end_of(youngest).cause, Cause::suspect) << story.replay();
    story.run_until_ended(elder);
    EXPECT_EQ(story.runs(youngest), 1U);
    story.run_until_ended(youngest);
    EXPECT_EQ(story.count({elder, youngest}, JobState::succeeded), 2U);
    EXPECT_EQ(story.runs(elder), 1U);
}

TEST(CrashStory, a_worker_that_was_killed_three_times_in_a_minute_goes_on_working) {
    // O9, P5: whoever killed it must not stop all work on its host.
    Story story;
    const auto adopted = story.submit({.runs_for = minutes(2)});
    story.run_until_running(adopted);
    story.crash_often(worker(0), 3);
    const auto next = story.submit({});
    story.run_for(seconds(5));

    EXPECT_EQ(story.state(next), JobState::succeeded) << story.replay();
    EXPECT_EQ(story.state(adopted), JobState::running);
    EXPECT_EQ(story.runs(adopted), 1U);
}

TEST(CrashStory, the_only_attempt_of_a_worker_that_crashes_again_and_again_is_charged) {
    // O9, P6: it cannot hide behind adoption.
    Story story;
    const auto only = story.submit({.runs_for = minutes(3)});
    story.run_until_running(only);
    story.crash_often(worker(0), 4);
    story.run_for(seconds(3));

    EXPECT_EQ(story.end_of(only).cause, Cause::crash_worker) << story.replay();
}

TEST(CrashStory, a_once_job_is_not_quarantined_by_the_fourth_crash_of_its_worker) {
    // O9, P4: a person's kill -9 is no proof against it.
    Story story;
    const auto once = story.submit({.effects = Effects::once, .runs_for = seconds(30)});
    story.run_until_running(once);
    story.crash_often(worker(0), 5);
    story.run_until_ended(once);

    EXPECT_EQ(story.state(once), JobState::succeeded) << story.replay();
    EXPECT_EQ(story.runs(once), 1U);
}

TEST(CrashStory, a_result_whose_report_was_lost_is_reported_again) {
    // P2: the report was lost on its way; the job is not run again.
    Story story;
    story.lose(message("ended"));
    const auto job = story.submit({});

    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(CrashStory, finish_is_durable_but_the_reply_is_lost) {
    // O1: a repeated report gets the first answer again.
    Story story({.servers = 2});
    story.crash_at(reply_to_commit_of("report"));
    const auto job = story.submit({.effects = Effects::once});
    story.run_until_kept();
    story.run_for(seconds(8));

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
    EXPECT_EQ(story.on_disk(), 0U) << story.replay();
}

TEST(CrashStory, a_result_that_lay_on_disk_while_its_worker_crashed_counts) {
    // O5: results are reported until the server has them, also by the next worker.
    Story story;
    story.lose(message("ended"));
    const auto job = story.submit({.effects = Effects::once});
    story.run_until_kept();

    story.crash(worker(0));
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(CrashStory, jobs_run_on_while_their_server_is_killed) {
    // P5: server kill -9: running jobs go on, of every kind.
    Story story;
    const auto job = story.submit({.runs_for = seconds(20)});
    const auto keyed = story.submit({.runs_for = seconds(20), .key = "card"});
    const auto once = story.submit({.effects = Effects::once, .runs_for = seconds(20)});
    story.run_until_running(job);
    story.run_until_running(keyed);
    story.run_until_running(once);

    story.kill(server(0));
    story.run_for(seconds(3));
    story.start(server(0));
    story.run_for(seconds(25));
    EXPECT_EQ(story.count({job, keyed, once}, JobState::succeeded), 3U) << story.replay();
    EXPECT_EQ(story.runs(job) + story.runs(keyed) + story.runs(once), 3U);
}

TEST(CrashStory, another_keeper_is_there_within_three_seconds) {
    // The keeper dies.
    Story story({.servers = 3});
    const auto job = story.submit({.runs_for = minutes(2)});
    story.run_until_running(job);
    story.run_until("a keeper", [&] { return story.keeper().has_value(); });

    story.kill(*story.keeper());
    story.run_for(seconds(3));

    EXPECT_TRUE(story.keeper().has_value()) << story.replay();
}

TEST(CrashStory, a_shim_that_is_killed_takes_its_job_with_it) {
    // O8: its tree is killed, and it counts as a crash.
    Story story;
    const auto job = story.submit({.runs_for = seconds(20)});
    story.run_until_running(job);

    story.kill_shim_of(job);
    story.run_until_started(job, 2);

    EXPECT_EQ(story.end_of(job).cause, Cause::shim_lost) << story.replay();
    EXPECT_EQ(story.alive(job), 1U);
}

TEST(CrashStory, a_once_job_whose_shim_is_killed_is_quarantined) {
    // O8, P4: it may have run.
    Story story;
    const auto job = story.submit({.effects = Effects::once, .runs_for = seconds(20)});
    story.run_until_running(job);

    story.kill_shim_of(job);
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::quarantined) << story.replay();
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(CrashStory, a_job_claimed_by_a_server_that_died_is_sent_by_the_next_one) {
    // O6: the claim is committed, the assignment was never sent; it runs within 5 s.
    Story story({.servers = 2});
    story.crash_at(message("assignment"));
    const auto job = story.submit({});
    story.run_until_kept();
    EXPECT_EQ(story.state(job), JobState::starting);
    story.run_for(seconds(6));

    EXPECT_EQ(story.state(job), JobState::succeeded) << story.replay();
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(CrashStory, a_slot_is_free_again_after_its_attempt_was_presumed_lost) {
    // Slots are derived: none can leak.
    Story story({.slots = 1});
    const auto job = story.submit({.runs_for = seconds(60)});
    story.run_until_running(job);

    story.cut(worker(0));
    story.run_until_state(job, JobState::scheduled);
    story.heal();
    story.run_until_ended(job);
    const auto next = story.submit({});

    story.run_until_state(next, JobState::succeeded);
}

}  // namespace perdure::stories
