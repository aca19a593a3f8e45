#include "server/sweeper.h"

#include <gtest/gtest.h>

#include <string>

#include "server/testing/server_stage.h"
#include "store/memory/memory_store.h"

namespace perdure {
namespace {

class SweeperTest : public ServerStage<MemoryStore> {
protected:
    SweeperTest() {
        open();
        open_session(session, 2'000);
    }

    void claim(std::uint32_t max) {
        apply(Lane::claims, Claim{.session = session, .stream = 1, .max = max});
    }
    // A running attempt of such a job, whose worker falls silent for as long.
    void lose(JobSpec spec, Duration silence) {
        submit(job, std::move(spec));
        claim(1);
        apply(Lane::reports, Start{session, attempt});
        tick(silence);
    }
    // An attempt whose worker is heard, has it, and has not started it in time (O3).
    void never_start() {
        submit(job);
        claim(1);
        tick(timing.confirm + milliseconds(100));
        Heartbeat alive{.session = session, .number = 1, .seen = 1, .slots = 2'000};
        alive.lease = timing.lease;
        alive.attempts.push_back({attempt, 1, Listed::Phase::unstarted});
        apply(Lane::heartbeats, std::move(alive));
    }
    std::size_t sweep() { return done(sweeper.sweep()); }
    SweepReport by_hand(SweepByHand how) {
        const auto report = done(sweeper.sweep_by_hand(how));
        EXPECT_TRUE(report);
        return report ? *report : SweepReport{};
    }
    void note_recalls() {
        sweeper.on_recalls([this](SessionId, AttemptKey which) { recalled.push_back(which); });
    }

    const SessionId session{9};
    const JobId job{100};
    const AttemptKey attempt{job, Epoch{1}};
    Sweeper sweeper{store, clock, commits, Log(log, "sweep")};
    std::vector<AttemptKey> recalled;
};

JobSpec quarantined_when_its_worker_is_lost() {
    JobSpec spec{.kind = "k"};
    CustomRule rule;
    rule.causes = {Cause::worker_lost};
    rule.then = LastResort::quarantine;
    spec.policy.rules = {rule};
    return spec;
}

JobSpec expires_after(Duration wait) {
    JobSpec spec{.kind = "k"};
    spec.timeouts.queue = wait;
    return spec;
}

TEST_F(SweeperTest, one_sweep_repairs_all_that_waits_too_long_however_much_that_is) {
    submit_many(100, 2'500, expires_after(minutes(1)));
    tick(minutes(2));
    EXPECT_EQ(sweep(), 2'500U);
    EXPECT_EQ(state_of(JobId{100}), JobState::expired);
    EXPECT_EQ(state_of(JobId{2'599}), JobState::expired);
}

TEST_F(SweeperTest, one_sweep_gives_up_all_attempts_that_are_lost_however_many_they_are) {
    submit_many(100, 1'500, {.kind = "k"});
    claim(1'000);
    claim(500);  // one claim takes 1,000 at most
    tick(minutes(1));
    EXPECT_EQ(sweep(), 1'500U);
    EXPECT_EQ(state_of(JobId{1'599}), JobState::ready);
}

TEST_F(SweeperTest, what_is_not_overdue_costs_no_commit) {
    lose({.kind = "k"}, seconds(1));
    store.sent.clear();
    EXPECT_EQ(sweep(), 0U);
    EXPECT_TRUE(store.sent.empty());
}

// O2: every server may sweep at any time.
TEST_F(SweeperTest, what_one_sweep_has_repaired_the_next_one_does_not_find) {
    lose({.kind = "k"}, minutes(1));
    EXPECT_EQ(sweep(), 1U);
    EXPECT_EQ(sweep(), 0U);
    EXPECT_TRUE(log.has("warn: attempt lost")) << log.lines.size();
}

TEST_F(SweeperTest, an_attempt_that_its_worker_does_not_start_is_ordered_back_at_once) {
    note_recalls();
    never_start();
    EXPECT_EQ(sweep(), 1U);
    EXPECT_EQ(recalled, std::vector{attempt});
}

TEST_F(SweeperTest, a_report_orders_nothing_back) {
    note_recalls();
    never_start();
    EXPECT_EQ(by_hand(SweepByHand::report_only).findings.size(), 1U);
    EXPECT_TRUE(recalled.empty());
    by_hand(SweepByHand::carry_out);
    EXPECT_EQ(recalled, std::vector{attempt});
}

TEST_F(SweeperTest, a_store_that_does_not_answer_is_asked_again_by_the_next_sweep) {
    lose({.kind = "k"}, minutes(1));
    store.overdue_instead = [] { return error(Errc::unavailable, "the disk hangs"); };
    EXPECT_EQ(sweep(), 0U);
    EXPECT_TRUE(log.has("warn: sweep failed, will try again the disk hangs"));
    EXPECT_EQ(done(sweeper.sweep_by_hand(SweepByHand::carry_out)).error().what, "the disk hangs");
    store.overdue_instead = nullptr;
    EXPECT_EQ(sweep(), 1U);
}

TEST_F(SweeperTest, a_sweep_that_is_not_committed_has_repaired_nothing) {
    lose({.kind = "k"}, minutes(1));
    store.before = [](const Group&) { return error(Errc::unavailable, "no room"); };
    EXPECT_EQ(sweep(), 0U);
    EXPECT_EQ(state_of(job), JobState::running);
    EXPECT_FALSE(log.has("attempt lost"));
}

// The store's list is only a hint: it may name, again and again, what need not be moved.
TEST_F(SweeperTest, a_list_that_leads_to_nothing_is_asked_for_once) {
    submit(job);
    store.overdue_instead = [this]() -> Result<OverdueView> {
        if (store.looks > 5) return error(Errc::unavailable, "asked for ever");
        OverdueView view;
        view.waiting.assign(Sweeper::batch_max, job);
        return view;
    };
    EXPECT_EQ(sweep(), 0U);
    EXPECT_EQ(store.looks, 1);
}

// A sweep by hand tells what a sweep does: the same decisions, judged by the job's own rules [P10].
TEST_F(SweeperTest, a_report_is_judged_by_the_rules_of_the_jobs_author) {
    lose(quarantined_when_its_worker_is_lost(), minutes(10));
    const auto report = by_hand(SweepByHand::report_only);
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings.front().rule, "custom/1");
    EXPECT_NE(report.findings.front().does.find("quarantine"), std::string::npos)
        << report.findings.front().does;
}

TEST_F(SweeperTest, a_report_changes_nothing_and_carrying_it_out_does_what_it_said) {
    lose(quarantined_when_its_worker_is_lost(), minutes(10));
    const auto told = by_hand(SweepByHand::report_only);
    EXPECT_FALSE(told.carried_out);
    EXPECT_EQ(state_of(job), JobState::running);
    const auto made = by_hand(SweepByHand::carry_out);
    EXPECT_TRUE(made.carried_out);
    EXPECT_EQ(state_of(job), JobState::quarantined);
    ASSERT_EQ(made.findings.size(), 1U);
    EXPECT_EQ(made.findings.front().does, told.findings.front().does);
    EXPECT_NE(made.findings.front().saw.find("w9"), std::string::npos) << made.findings.front().saw;
}

// O7: it is shown as owner lost for as long as it is held, and it is not well.
TEST_F(SweeperTest, a_once_job_of_a_lost_worker_is_left_alone_and_said_so) {
    lose({.kind = "k", .effects = Effects::once}, minutes(1));
    const auto report = by_hand(SweepByHand::report_only);
    ASSERT_EQ(report.findings.size(), 1U);
    const auto& finding = report.findings.front();
    EXPECT_FALSE(finding.acts);
    EXPECT_EQ(finding.attempt, attempt);
    EXPECT_EQ(finding.rule, "O7/owner_lost_within_hold");
}

TEST_F(SweeperTest, what_is_heard_is_not_found) {
    lose({.kind = "k", .effects = Effects::once}, seconds(1));
    EXPECT_TRUE(by_hand(SweepByHand::report_only).findings.empty());
}

}  // namespace
}  // namespace perdure
