// Stories about who owns an attempt: O1 to O4.
#include "tests/stories/telling.h"

namespace perdure::stories {

TEST(OwnershipStory, a_late_ask_of_a_failed_attempt_is_fenced) {
    // O1: else a delayed ask of attempt 3 counts while the job waits for its retry.
    Story story;
    story.copy(message("ask"));
    const auto job = story.submit({.end = End::crash, .bad_attempts = 1, .key = "card"});
    story.run_until_state(job, JobState::scheduled);

    story.deliver_kept();
    story.run_for(milliseconds(100));
    EXPECT_EQ(story.state(job), JobState::scheduled) << story.replay();

    story.run_until_state(job, JobState::succeeded);
    EXPECT_EQ(story.runs(job), 2U);
}

TEST(OwnershipStory, a_worker_cut_off_for_three_minutes_goes_on_with_its_job) {
    // O1: else it returns with its six-hour job, nobody has claimed it, and it is told to stop.
    Story story;
    const auto job = story.submit({.runs_for = hours(6)});
    story.run_until_running(job);

    story.cut(worker(0));
    story.run_for(minutes(3));
    EXPECT_NE(story.state(job), JobState::running);
    story.heal();
    story.run_until_running(job);

    EXPECT_EQ(story.epoch(job), 1U) << story.replay();
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(OwnershipStory, a_result_brought_home_by_a_worker_presumed_lost_counts) {
    // O1: an attempt only presumed lost may come back by its result until the next claim.
    Story story;
    const auto job = story.submit({.runs_for = seconds(60)});
    story.run_until_running(job);

    story.cut(worker(0));
    story.run_for(minutes(3));
    story.heal();
    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(OwnershipStory, a_result_that_comes_after_the_next_claim_is_only_evidence) {
    // O1: a late result is filed on its attempt and changes no state.
    Story story({.workers = 2});
    const auto job = story.submit({.runs_for = seconds(30)});
    story.run_until_running(job);

    story.cut(story.host_of(job));
    story.run_until_started(job, 2);
    story.run_until("its first process to end", [&] { return story.alive(job) == 1; });
    story.heal();
    story.run_for(seconds(5));

    EXPECT_EQ(story.state(job), JobState::running) << story.replay();
    EXPECT_TRUE(story.late_result_of(job).succeeded);
}

TEST(OwnershipStory, a_sweep_that_was_late_takes_no_renewed_lease_away) {
    // O2: else a server reads "expired", is paused, the worker renews through another server,
    // the first wakes and takes a live attempt away.
    Story story({.servers = 2});
    story.kill(server(1));
    const auto job = story.submit({.runs_for = seconds(60)});
    story.run_until_running(job);
    story.keep(commit_of("sweep"));
    story.cut(worker(0));
    story.run_until_kept();

    story.start(server(1));
    story.heal(server(1), worker(0));
    story.run_until_seen(reply_to_commit_of("heartbeat"));
    story.deliver_kept();
    story.run_for(milliseconds(50));

    EXPECT_EQ(story.state(job), JobState::running) << story.replay();
}

TEST(OwnershipStory, a_suspect_session_gets_no_claims) {
    // O3: suspect after 4 s without heartbeat; no claims until its next heartbeat.
    Story story;
    story.run_until_session(worker(0));
    story.run_for(seconds(3));
    story.cut_uplink(worker(0));
    story.run_for(seconds(5));

    const auto job = story.submit({});
    story.run_for(seconds(3));
    EXPECT_EQ(story.state(job), JobState::ready) << story.replay();

    story.heal();
    story.run_until_state(job, JobState::succeeded);
}

TEST(OwnershipStory, a_keyed_job_whose_start_is_not_confirmed_has_not_started) {
    // O4: else it starts at 0.01 s, the link is cut, the confirmation is lost, and a second one
    // starts at 4 s.
    Story story({.workers = 2});
    story.cut_at(message("start"));
    const auto job = story.submit({.runs_for = minutes(1), .key = "card"});
    story.run_until_kept();
    EXPECT_EQ(story.runs(job), 0U) << story.replay();

    story.run_until_ended(job);
    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(OwnershipStory, an_old_go_starts_nothing_that_a_person_has_released) {
    // O4: else a worker paused for 20 minutes wakes with an old go and runs a `once` job that a
    // person has released meanwhile.
    Story story({.workers = 2});
    story.kill(worker(1));
    story.keep(answer_to("ask"));
    const auto job = story.submit({.effects = Effects::once, .runs_for = hours(1)});
    story.run_until_kept();
    story.pause_host(worker(0));
    story.deliver_kept();
    story.run_for(minutes(20));

    EXPECT_TRUE(story.deal_with(job, QuarantineAction::release, true).is_ok());
    story.start(worker(1));
    story.run_until_running(job);
    story.resume_host(worker(0));
    story.run_for(minutes(1));
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(OwnershipStory, a_go_that_grew_old_is_asked_for_again) {
    // O4: a go is good for 3 s from before the ask was sent.
    Story story;
    story.keep(answer_to("ask"));
    const auto job = story.submit({.effects = Effects::once});
    story.run_until_kept();
    story.pause_host(worker(0));
    story.deliver_kept();
    story.run_for(milliseconds(3'500));
    story.resume_host(worker(0));

    story.run_until_state(job, JobState::succeeded);
    EXPECT_EQ(story.sent("ask"), 2U) << story.replay();
    EXPECT_EQ(story.runs(job), 1U);
}

TEST(OwnershipStory, a_repeated_ask_gets_the_same_answer) {
    // O4: the first go was lost on its way.
    Story story;
    story.lose(answer_to("ask"));
    const auto job = story.submit({.effects = Effects::once});

    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded);
    EXPECT_EQ(story.epoch(job), 1U) << story.replay();
}

TEST(OwnershipStory, a_machine_that_slept_after_writing_started_says_that_it_did_not_run) {
    // O4, a hole in its first text: the shim looks at go and lease again after `started` is
    // durable, since a write can take longer than a go is good.
    Story story;
    const auto job = story.submit({.effects = Effects::once});
    story.run_until("a start order", [&] { return story.is_about_to_exec(job); });
    story.pause_host(worker(0));
    story.run_for(seconds(5));
    story.resume_host(worker(0));

    story.run_until_ended(job);

    EXPECT_EQ(story.state(job), JobState::succeeded) << story.replay();
    EXPECT_EQ(story.end_of(job).ran, Ran::no);
}

TEST(OwnershipStory, what_a_deaf_worker_is_given_runs_elsewhere_and_nobody_is_charged) {
    // O3: it is heard, so nobody is lost; a start that is not confirmed is ordered back after 4 s.
    Story story({.workers = 2, .slots = 3});
    story.kill(worker(1));
    story.run_for(seconds(5));  // the server ticks by then
    story.hang(worker(0), minutes(2));
    const auto jobs = story.submit_many(3, {.effects = Effects::once});
    story.run_for(seconds(1));
    EXPECT_EQ(story.count(jobs, JobState::starting), 3U) << story.replay();

    story.start(worker(1));
    story.run_for(seconds(6));

    EXPECT_EQ(story.count(jobs, JobState::succeeded), 3U) << story.replay();
    EXPECT_EQ(story.end_of(jobs.front()).cause, Cause::evicted);
    EXPECT_FALSE(story.end_of(jobs.front()).counted) << story.replay();
}

TEST(OwnershipStory, a_worker_that_was_deaf_gets_work_again) {
    // O3: else without any claim there is no start, and deaf is for ever.
    Story story({.slots = 3});
    story.run_until_session(worker(0));
    story.hang(worker(0), seconds(20));
    const auto jobs = story.submit_many(3, {});
    story.run_for(seconds(15));
    EXPECT_EQ(story.count(jobs, JobState::succeeded), 0U) << story.replay();

    for (const auto job : jobs) story.run_until_ended(job);
    const auto later = story.submit({});
    story.run_for(seconds(2));

    EXPECT_EQ(story.state(later), JobState::succeeded) << story.replay();
}

}  // namespace perdure::stories
