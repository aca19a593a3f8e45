// Stories about state directories and what is on them: O5, O6, and stores that lost commits (C6).
#include "tests/stories/telling.h"

namespace perdure::stories {

TEST(DirectoryStory, a_copied_directory_in_a_second_container_takes_nothing_over) {
    // O5: else it takes over and lists no shims: everything reruns while the old ones run.
    Story story({.workers = 2});
    story.kill(worker(1));
    const auto job = story.submit({.runs_for = seconds(60)});
    story.run_until_running(job);

    story.copy_disk(worker(0), worker(1), {"machine-0", "boot-1", 1, 999});
    story.start(worker(1));
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(DirectoryStory, a_cloned_machine_is_refused_while_the_first_one_lives) {
    // O5: same directory, another boot id, and the old session renewed within 4 s.
    Story story({.workers = 2});
    story.kill(worker(1));
    const auto job = story.submit({.runs_for = seconds(60)});
    story.run_until_running(job);

    story.copy_disk(worker(0), worker(1), {"machine-0", "boot-2", 1, 100});
    story.start(worker(1));
    story.run_for(seconds(30));

    EXPECT_FALSE(story.has_session(worker(1)));
    EXPECT_EQ(story.state(job), JobState::running) << story.replay();
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(DirectoryStory, a_rebooted_host_says_at_once_that_everything_on_it_is_dead) {
    // O5: another boot id: the rest ends as host_lost at once, `once` quarantined without hold.
    Story story;
    const auto job = story.submit({.runs_for = hours(1)});
    const auto once = story.submit({.effects = Effects::once, .runs_for = hours(1)});
    story.run_until_running(job);
    story.run_until_running(once);

    story.reboot(worker(0));
    story.run_for(seconds(8));

    EXPECT_EQ(story.state(once), JobState::quarantined) << story.replay();
    EXPECT_EQ(story.end_of(job).cause, Cause::host_lost);
    EXPECT_EQ(story.runs(job), 2U);
}

TEST(DirectoryStory, a_once_job_whose_directory_was_lost_may_have_run) {
    // O5: its directory was durable before its go: else a cleaner makes a `once` job run twice.
    Story story;
    const auto once = story.submit({.effects = Effects::once, .runs_for = hours(1)});
    story.run_until_running(once);

    story.kill(worker(0));
    story.lose_directories(worker(0));
    story.start(worker(0));
    story.run_for(seconds(8));

    EXPECT_EQ(story.state(once), JobState::quarantined) << story.replay();
    EXPECT_EQ(story.end_of(once).ran, Ran::maybe);
    EXPECT_EQ(story.runs(once), 1U);
}

TEST(DirectoryStory, a_result_on_the_disk_of_a_rebooted_host_is_reported) {
    // O5: another boot id: results on disk are reported.
    Story story;
    story.lose(message("ended"));
    const auto job = story.submit({.effects = Effects::once});
    story.run_until_kept();

    story.reboot(worker(0));
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(DirectoryStory, a_crashed_worker_finds_its_jobs_again) {
    // O5: same boot: those attempts go over in the transaction that ends the old session.
    Story story;
    const auto job = story.submit({.runs_for = seconds(20), .key = "card"});
    story.run_until_running(job);

    story.crash(worker(0));
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.epoch(job), 1U);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(DirectoryStory, an_opening_message_counts_once) {
    // O5: a copy of it, which lists nothing, comes when the session has long had a job.
    Story story;
    story.copy(message("open"));
    const auto job = story.submit({.runs_for = seconds(20)});
    story.run_until_running(job);

    story.deliver_kept();
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(DirectoryStory, an_opening_message_of_an_earlier_life_does_not_count) {
    // O5, a hole in its first text: its session was never seen, and still it is too old.
    Story story;
    story.run_until_session(worker(0));
    story.keep(message("open"));
    story.crash(worker(0));
    story.run_until_kept();
    story.crash(worker(0));
    const auto job = story.submit({.runs_for = seconds(20)});
    story.run_until_running(job);

    story.deliver_kept();
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(DirectoryStory, a_sweep_that_was_late_takes_nothing_from_the_next_session) {
    // O2, a hole in its first text: a takeover leaves epoch and state; whose lease it was counts.
    Story story({.servers = 2});
    story.kill(server(1));
    const auto job =
        story.submit({.effects = Effects::once, .runs_for = seconds(60), .hold = seconds(0)});
    story.run_until_running(job);
    story.keep(commit_of("sweep"));
    story.kill(worker(0));
    story.run_until_kept();
    story.start(server(1));
    story.start(worker(0));
    story.run_until_session(worker(0));
    story.deliver_kept();
    story.run_until_ended(job);
    EXPECT_EQ(story.state(job), JobState::succeeded) << story.replay();
}

TEST(DirectoryStory, what_is_presumed_lost_comes_back_by_an_opening_message_too) {
    // O1, a hole in its first text: the worker crashed while it was cut off.
    Story story;
    const auto job = story.submit({.runs_for = hours(6)});
    story.run_until_running(job);
    story.cut(worker(0));
    story.run_for(minutes(1));
    story.crash(worker(0));
    story.run_for(minutes(1));

    story.heal();
    story.run_until_running(job);

    EXPECT_EQ(story.epoch(job), 1U) << story.replay();
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(DirectoryStory, did_not_run_is_not_believed_from_an_earlier_session) {
    // O1, a hole in its first text: the session that took the attempt over may have started it.
    Story story;
    const auto job = story.submit({.effects = Effects::once, .runs_for = seconds(20)});
    story.run_until_running(job);
    const auto first = story.attempt(job).session;
    story.crash(worker(0));
    story.run_until("a takeover", [&] { return story.attempt(job).session != first; });

    const AttemptKey attempt{job, story.view(job).epoch};
    const auto said = story.report_as(first, attempt, {.cause = Cause::evicted, .ran = Ran::no});

    EXPECT_EQ(said, ItemAnswer::fenced) << story.replay();
    story.run_until_state(job, JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(DirectoryStory, assignment_numbers_go_on_at_the_next_server) {
    // O6: else the first five assignments of the next server are "lost".
    Story story({.servers = 2, .slots = 8});
    const auto first = story.submit_many(5, {.runs_for = seconds(2)});
    story.run_until_state(first.back(), JobState::succeeded);
    story.run_for(seconds(1));  // else a claim that is under way dies with its server

    story.kill(story.server_of(worker(0)));
    const auto next = story.submit_many(5, {.runs_for = seconds(10)});
    story.run_until_ended(next.front());

    EXPECT_EQ(story.state(next.front()), JobState::succeeded);
    EXPECT_EQ(story.epoch(next.front()), 1U) << story.replay();
}

TEST(DirectoryStory, an_assignment_under_way_is_not_lost) {
    // O6: else it is declared lost and then starts.
    Story story;
    story.run_until_session(worker(0));
    story.run_for(seconds(1));
    story.keep(message("assignment"));
    const auto job = story.submit({.runs_for = seconds(10)});
    story.run_until_kept();
    story.run_until_running(job);

    story.deliver_kept();
    story.run_until_ended(job);

    EXPECT_EQ(story.epoch(job), 1U) << story.replay();
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(DirectoryStory, a_server_whose_store_lost_commits_stops) {
    // C6: losing acknowledged commits is detected and refused.
    Story story;
    const auto job = story.submit({.runs_for = hours(1)});
    story.run_until_running(job);
    const auto before = story.snapshot();
    story.run_for(seconds(20));

    story.lose_commits(*before);
    story.run_for(seconds(5));

    EXPECT_FALSE(story.fatal_reasons().empty()) << story.replay();
}

TEST(DirectoryStory, a_server_that_knew_nothing_is_told_by_a_worker_that_its_store_lost_commits) {
    // C6: the worker has seen a later tick.
    Story story;
    const auto before = story.snapshot();
    const auto job = story.submit({.runs_for = hours(1)});
    story.run_until_running(job);
    story.run_for(seconds(20));

    story.kill(server(0));
    story.lose_commits(*before);
    story.start(server(0));
    story.run_for(seconds(10));

    EXPECT_FALSE(story.fatal_reasons().empty()) << story.replay();
}

TEST(DirectoryStory, an_epoch_that_the_store_has_never_given_out_stops_the_server) {
    // O6: an epoch above the store's means that the store lost commits.
    Story story;
    story.kill(worker(0));
    const auto job = story.submit({.effects = Effects::once, .runs_for = hours(1)});
    const auto before = story.snapshot();
    story.start(worker(0));
    story.run_until_running(job);

    story.kill(server(0));
    story.kill(worker(0));
    story.lose_commits(*before);
    story.start(server(0));
    story.start(worker(0));
    story.run_for(seconds(10));
    EXPECT_FALSE(story.fatal_reasons().empty()) << story.replay();
}

TEST(DirectoryStory, a_worker_that_comes_back_after_retention_stops_nobody) {
    // O6: its job has ended elsewhere and is gone; no commit was lost.
    Story story({.workers = 2, .retention = seconds(10)});
    const auto job = story.submit({.runs_for = seconds(20)});
    story.run_until_running(job);
    const auto lost = story.host_of(job);

    story.pause_host(lost);
    story.run_until_ended(job);
    story.run_for(minutes(2));
    story.resume_host(lost);
    story.run_for(seconds(30));

    EXPECT_TRUE(story.fatal_reasons().empty()) << story.replay();
    EXPECT_EQ(story.alive(), 0U) << story.replay();
}

}  // namespace perdure::stories
