// Stories about quarantine: what may still run is stopped where it can be reached (E2) [P6].
#include "tests/stories/telling.h"

namespace perdure::stories {
namespace {

// A `once` job whose worker was cut off until the job was given up, and is back.
JobId returned_after_quarantine(Story& story) {
    const auto job = story.submit({.effects = Effects::once, .runs_for = hours(1)});
    story.run_until_running(job);
    story.cut(story.host_of(job));
    story.run_until_state(job, JobState::quarantined);
    story.heal();
    story.run_for(seconds(5));
    return job;
}

}  // namespace

TEST(QuarantineStory, a_release_stops_what_can_be_reached_and_waits_for_its_end) {
    // E2: no flag is needed: when the release is answered, the old process is known to be dead.
    Story story({.workers = 2});
    const auto job = returned_after_quarantine(story);
    EXPECT_EQ(story.alive(job), 1U) << story.replay();

    EXPECT_TRUE(story.deal_with(job, QuarantineAction::release).is_ok()) << story.replay();
    EXPECT_LT(story.died(job, 0), story.now());
    story.run_until_started(job, 2);

    EXPECT_LT(story.died(job, 0), story.began(job, 1)) << story.replay();
    EXPECT_EQ(story.view(job).generation, 2U);
}

TEST(QuarantineStory, a_release_of_what_cannot_be_reached_names_its_worker) {
    // E2: what may still run is named.
    Story story({.workers = 2});
    const auto job = story.submit({.effects = Effects::once, .runs_for = hours(1)});
    story.run_until_running(job);
    story.cut(story.host_of(job));
    story.run_until_state(job, JobState::quarantined);

    const auto refused = story.deal_with(job, QuarantineAction::release);

    EXPECT_TRUE(refused.said(Errc::conflict)) << story.replay();
    EXPECT_NE(refused.answer->error().what.find("may still run on worker `worker-"),
              std::string::npos)
        << refused.answer->error().what;
}

TEST(QuarantineStory, a_discard_stops_what_still_runs) {
    // E2: dealt with: nobody will want its result. It is told at once: no heartbeat comes through.
    Story story;
    const auto job = returned_after_quarantine(story);
    EXPECT_EQ(story.alive(job), 1U) << story.replay();
    story.cut_uplink(worker(0));

    EXPECT_TRUE(story.deal_with(job, QuarantineAction::discard).is_ok());
    story.run_for(seconds(1));

    EXPECT_EQ(story.alive(job), 0U) << story.replay();
    EXPECT_EQ(story.state(job), JobState::quarantined);
}

TEST(QuarantineStory, a_discard_stops_it_also_if_the_order_is_lost) {
    // E2: the next heartbeat says it again.
    Story story;
    const auto job = returned_after_quarantine(story);
    story.lose(message("kill"));

    EXPECT_TRUE(story.deal_with(job, QuarantineAction::discard).is_ok());
    story.run_for(seconds(9));

    EXPECT_EQ(story.alive(job), 0U) << story.replay();
}

TEST(QuarantineStory, a_host_that_was_started_anew_runs_nothing_old) {
    // E2, O5: another boot id proves that the process is dead: no flag is needed.
    Story story;
    const auto job = story.submit({.effects = Effects::once, .runs_for = hours(1)});
    story.run_until_running(job);
    story.cut(worker(0));
    story.run_until_state(job, JobState::quarantined);
    story.keep(message("ended"));  // what its next life says about it comes late
    story.reboot(worker(0));
    story.heal();
    story.run_until_session(worker(0));
    story.cut_uplink(worker(0));

    EXPECT_TRUE(story.deal_with(job, QuarantineAction::release).is_ok()) << story.replay();
    story.heal();
    story.run_until_started(job, 2);
    EXPECT_EQ(story.view(job).generation, 2U) << story.replay();
}

}  // namespace perdure::stories
