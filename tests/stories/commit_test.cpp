// Stories about commits, keys and limits: C1, C4, C5.
#include "tests/stories/telling.h"

namespace perdure::stories {

TEST(CommitStory, what_a_read_back_has_shown_and_a_failover_lost_is_committed_again) {
    // C1: else the read-back shows the group, the primary dies, the standby never had it.
    Story story({.workers = 0});
    story.run_for(seconds(1));
    story.keep(commit_of("submit"));
    const auto asked = story.send_submit({.idempotency_key = "mine"});
    story.run_until_kept();
    const auto standby = story.snapshot();
    story.break_off(reply_to_commit_of("submit"));
    story.keep(reply_to_commit_of("resolve_unknown"));
    story.deliver_kept();
    story.run_until_kept();

    story.lose_unacknowledged(*standby);
    story.deliver_kept();
    story.run_until("the answer", [&] { return asked->over; });
    EXPECT_TRUE(asked->is_ok() && story.job_of("mine").has_value()) << story.replay();
}

TEST(CommitStory, a_group_that_was_replayed_does_not_commit_twice) {
    // C1: else the read-back shows nothing, the group is replayed, and the old backend commits
    // as well.
    Story story;
    story.run_until_session(worker(0));
    story.keep(commit_of("submit"));
    const auto asked = story.send_submit({.runs_for = seconds(5), .idempotency_key = "mine"});
    story.run_until_kept();
    story.keep(commit_of("submit"));
    story.break_kept();
    story.run_until_kept();

    story.deliver_kept();
    story.run_until("the answer", [&] { return asked->over; });

    EXPECT_TRUE(asked->is_ok()) << story.replay();
    EXPECT_TRUE(story.fatal_reasons().empty()) << story.replay();
    story.run_until_state(story.job_of("mine").value_or(JobId{}), JobState::succeeded);
}

TEST(CommitStory, a_group_is_carried_out_before_the_one_ahead_is_answered) {
    // Else the writer stands still while the disk syncs.
    Story story({.workers = 0});
    story.run_for(seconds(1));
    story.keep(reply_to_commit_of("submit"));
    const auto first = story.send_submit({.idempotency_key = "first"});
    story.run_until_kept();
    const auto second = story.send_submit({.idempotency_key = "second"});
    story.run_until("the second job", [&] { return story.job_of("second").has_value(); });
    story.run_for(milliseconds(100));
    EXPECT_FALSE(first->over || second->over) << story.replay();

    story.deliver_kept();
    story.run_until("both answers", [&] { return first->over && second->over; });
    EXPECT_TRUE(first->is_ok() && second->is_ok()) << story.replay();
}

TEST(CommitStory, a_group_behind_one_that_was_lost_is_sent_again) {
    // C1: it was refused because its predecessor never came, which is no reason to give up.
    Story story({.workers = 0});
    story.run_for(seconds(1));
    story.keep(commit_of("submit"));
    const auto first = story.send_submit({.idempotency_key = "first"});
    story.run_until_kept();
    const auto second = story.send_submit({.idempotency_key = "second"});
    story.run_for(milliseconds(100));
    EXPECT_FALSE(story.job_of("second").has_value()) << story.replay();

    story.break_kept();
    story.run_until("both answers", [&] { return first->over && second->over; });
    EXPECT_TRUE(first->is_ok() && second->is_ok()) << story.replay();
    EXPECT_TRUE(story.job_of("first") && story.job_of("second")) << story.replay();
    EXPECT_TRUE(story.fatal_reasons().empty()) << story.replay();
}

TEST(CommitStory, a_job_that_needs_a_key_and_a_limit_is_promoted_when_both_come_free_at_once) {
    // C4: else one transaction frees the key while the limit is taken, another the limit while
    // the key is taken: nobody promotes.
    Story story({.slots = 8});
    story.define_pool();
    const auto key = story.submit({.runs_for = seconds(5), .key = "card"});
    story.submit_many(2, {.runs_for = seconds(5), .limits = {"pool"}});
    const auto both = story.submit({.key = "card", .limits = {"pool"}});
    story.run_until_state(both, JobState::blocked);

    story.run_until_state(key, JobState::succeeded);
    story.run_for(seconds(3));

    EXPECT_EQ(story.state(both), JobState::succeeded) << story.replay();
}

TEST(CommitStory, two_servers_that_claim_at_once_keep_a_limit) {
    // C4: else a limit is exceeded because two claims counted N-1.
    Story story({.servers = 2, .workers = 4});
    story.define_pool();
    story.run_for(seconds(3));
    story.pause_queue(true);
    const auto jobs = story.submit_many(6, {.runs_for = seconds(5), .limits = {"pool"}});

    story.pause_queue(false);
    story.run_for(seconds(3));
    EXPECT_EQ(story.alive(), std::size_t{pool_max}) << story.replay();

    story.run_until("all of them", [&] { return story.count(jobs, JobState::succeeded) == 6; });
}

TEST(CommitStory, a_promoted_job_that_is_cancelled_hands_the_promotion_on) {
    // C4, a hole in its first text: promotion is a debt.
    Story story;
    const auto first = story.submit({.runs_for = seconds(2), .key = "card"});
    const auto second = story.submit({.key = "card"});
    const auto third = story.submit({.key = "card"});
    story.run_until_state(third, JobState::blocked);
    story.pause_queue(true);
    story.run_until_state(first, JobState::succeeded);
    EXPECT_EQ(story.state(second), JobState::ready);

    story.cancel(second);
    EXPECT_EQ(story.state(third), JobState::ready) << story.replay();
    story.pause_queue(false);
    story.run_until_state(third, JobState::succeeded);
}

TEST(CommitStory, a_promoted_job_that_is_held_hands_the_promotion_on) {
    // C4, a hole in its first text: a person holds it between its promotion and its claim.
    Story story;
    const auto first = story.submit({.runs_for = seconds(2), .key = "card"});
    const auto second = story.submit({.key = "card"});
    const auto third = story.submit({.key = "card"});
    story.run_until_state(third, JobState::blocked);
    story.pause_queue(true);
    story.run_until_state(first, JobState::succeeded);

    story.hold_job(second);
    story.pause_queue(false);

    story.run_until_state(third, JobState::succeeded);
}

TEST(CommitStory, the_same_key_is_the_same_job) {
    // C5: a submit that is repeated after its answer finds its job.
    Story story;
    const auto first = story.submit({.idempotency_key = "order-7"});
    const auto again = story.submit({.idempotency_key = "order-7"});
    story.run_until_state(first, JobState::succeeded);
    const auto later = story.submit({.idempotency_key = "order-7"});

    EXPECT_EQ(first, again) << story.replay();
    EXPECT_EQ(first, later) << story.replay();
    EXPECT_EQ(story.runs(first), 1U);
}

TEST(CommitStory, the_same_key_with_another_body_is_a_conflict) {
    // C5: bodies are compared by a hash.
    Story story;
    const auto job = story.submit({.runs_for = seconds(1), .idempotency_key = "order-7"});

    const auto other = story.try_submit({.runs_for = seconds(2), .idempotency_key = "order-7"});

    EXPECT_TRUE(other->said(Errc::conflict)) << story.replay();
    story.run_until_state(job, JobState::succeeded);
}

TEST(CommitStory, a_submit_whose_answer_was_lost_is_found_again) {
    // C5, P1: the reply was lost after the commit.
    Story story;
    story.run_for(seconds(1));
    story.lose(answer_to("submit"));
    story.send_submit({.idempotency_key = "order-7"});
    story.run_until_kept();

    const auto job = story.submit({.idempotency_key = "order-7"});
    story.run_until_state(job, JobState::succeeded);

    EXPECT_EQ(story.job_of("order-7"), job);
    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(CommitStory, a_submit_whose_server_died_after_the_commit_is_found_again) {
    // C5, P1: the server is killed between its commit and its answer.
    Story story({.servers = 2});
    story.run_for(seconds(1));
    story.crash_at(reply_to_commit_of("submit"));
    story.send_submit({.idempotency_key = "order-7"});
    story.run_until_kept();
    story.run_for(milliseconds(1));

    const auto job = story.submit({.idempotency_key = "order-7"});
    story.run_until_state(job, JobState::succeeded);

    EXPECT_EQ(story.runs(job), 1U) << story.replay();
}

TEST(CommitStory, a_job_that_is_held_before_its_retry_frees_its_key) {
    // C4: "retry now" keeps key and limit; hold frees them.
    Story story({.slots = 2});
    const auto first = story.submit({.runs_for = seconds(2), .end = End::conflict, .key = "card"});
    const auto second = story.submit({.key = "card"});
    story.run_until_state(second, JobState::blocked);
    story.submit_many(2, {.runs_for = minutes(1), .priority = 0});
    story.run_until_state(first, JobState::ready);
    EXPECT_EQ(story.state(second), JobState::blocked);

    story.hold_job(first);

    EXPECT_EQ(story.state(second), JobState::ready) << story.replay();
    story.run_until_state(second, JobState::succeeded);
}

TEST(CommitStory, a_paused_queue_keeps_no_key) {
    // C4: "retry now" keeps key and limit; pause frees them.
    Story story;
    const auto first = story.submit({.runs_for = seconds(2), .end = End::conflict, .key = "card"});
    const auto second = story.submit({.key = "card"});
    story.run_until_state(second, JobState::blocked);

    story.pause_queue(true);
    story.run_until_state(first, JobState::ready);

    EXPECT_EQ(story.state(second), JobState::ready) << story.replay();
}

TEST(CommitStory, a_submit_that_hangs_in_the_store_is_answered_within_five_seconds) {
    // [P11]: else whoever asked waits as long as the store hangs, and knows nothing.
    Story story({.workers = 0});
    story.run_for(seconds(1));
    story.keep(commit_of("submit"));
    const auto under_way = story.send_submit({});
    story.run_until_kept();
    const auto behind_it = story.send_submit({});
    story.run_for(milliseconds(5'700));

    EXPECT_TRUE(under_way->said(Errc::outcome_unknown)) << story.replay();
    EXPECT_TRUE(behind_it->said(Errc::unavailable)) << story.replay();
}

}  // namespace perdure::stories
