#include "core/ownership/reconcile.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace perdure::reconcile_test {
namespace {

using Kind = ReconcileDecision::Kind;
using Phase = Listed::Phase;

std::vector<HeartbeatFacts> every_heartbeat() {
    std::vector<HeartbeatFacts> all;
    for (const bool open : {false, true})
        for (const std::uint64_t number : {4, 5, 6})
            for (const bool same : {false, true}) all.push_back({open, 5, number, same});
    return all;
}

TEST(DecideHeartbeat, accepts_only_a_newer_one_of_an_open_session) {
    for (const auto& f : every_heartbeat()) {
        const bool newer = f.session_is_open && f.number > f.last_number;
        EXPECT_EQ(decide_heartbeat(f).answer == HeartbeatAnswer::accept, newer);
        EXPECT_EQ(decide_heartbeat(f).answer == HeartbeatAnswer::session_ended, !f.session_is_open);
    }
}

// O5: two machines that think they are one.
TEST(DecideHeartbeat, one_number_with_two_contents_is_a_clone) {
    for (const auto& f : every_heartbeat()) {
        const bool clone = f.session_is_open && f.number == f.last_number && !f.same_content;
        EXPECT_EQ(decide_heartbeat(f).answer == HeartbeatAnswer::cloned, clone);
    }
}

TEST(DecideHeartbeat, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_heartbeat()) rules.insert(decide_heartbeat(f).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"O1/session_ended", "O6/newer",
                                                 "O5/one_number_two_contents", "O6/not_newer"}));
}

// What the worker says: nothing, or one of three phases of an epoch before, at or after 5.
std::vector<std::optional<Listed>> every_listing() {
    std::vector<std::optional<Listed>> all = {std::nullopt};
    for (const std::uint32_t epoch : {4, 5, 6})
        for (const auto phase : {Phase::unstarted, Phase::running, Phase::ended})
            all.push_back(Listed{.attempt = {JobId{1}, Epoch{epoch}}, .phase = phase});
    return all;
}

// How the job stands outside of `run`.
struct Standing {
    bool in_run, presumed_lost, owned_elsewhere, job_ended, quarantined, gone;
};

std::vector<Standing> every_standing() {
    std::vector<Standing> all;
    for (unsigned bits = 0; bits < 64; ++bits) {
        const Standing s{(bits & 1U) != 0, (bits & 2U) != 0,  (bits & 4U) != 0,
                         (bits & 8U) != 0, (bits & 16U) != 0, (bits & 32U) != 0};
        if (s.quarantined && !s.job_ended) continue;
        if (s.in_run && (s.presumed_lost || s.owned_elsewhere || s.job_ended)) continue;
        const bool unknown = !s.in_run && !s.presumed_lost && !s.owned_elsewhere && !s.job_ended;
        if (s.gone && !unknown) continue;
        all.push_back(s);
    }
    return all;
}

std::vector<ReconcileFacts> runs_of(const Standing& s, const std::optional<Listed>& listed) {
    std::vector<ReconcileFacts> all;
    for (const auto state : {JobState::starting, JobState::running})
        for (const bool asks : {false, true})
            for (const auto isolation : {Isolation::fenced, Isolation::exclusive})
                for (const auto effects : {Effects::repeatable, Effects::resumable, Effects::once})
                    for (const auto order :
                         {std::optional<Cause>{}, std::optional{Cause::cancelled},
                          std::optional{Cause::timeout_total}})
                        for (const std::uint64_t seen : {6, 7, 8, 16, 17, 18})
                            all.push_back({.in_run = s.in_run,
                                           .presumed_lost = s.presumed_lost,
                                           .owned_elsewhere = s.owned_elsewhere,
                                           .store_epoch = s.gone ? Epoch{} : Epoch{5},
                                           .state = state,
                                           .asks = asks,
                                           .clean = asks,
                                           .isolation = isolation,
                                           .kill_cause = order,
                                           .recalled = seen > 10 && !order,
                                           .assignment = 7,
                                           .job_ended = s.job_ended,
                                           .job_gone = s.gone,
                                           .quarantined = s.quarantined,
                                           .effects = effects,
                                           .listed = listed,
                                           .seen = seen % 10});
    return all;
}

const std::vector<ReconcileFacts>& every_combination() {
    static const auto all = [] {
        std::vector<ReconcileFacts> facts;
        for (const auto& standing : every_standing())
            for (const auto& listed : every_listing()) {
                // Owned means: this very epoch.
                if (standing.in_run && listed && listed->attempt.epoch != Epoch{5}) continue;
                for (auto& f : runs_of(standing, listed)) facts.push_back(std::move(f));
            }
        return facts;
    }();
    return all;
}

bool lists(const ReconcileFacts& f, Phase phase) { return f.listed && f.listed->phase == phase; }

// Everything that a worker lists and this session does not own, its result apart.
template <class Check>
void for_every_stranger(Check check) {
    for (const auto& f : every_combination()) {
        if (f.job_gone) continue;  // a test of its own
        const bool future = f.listed && f.listed->attempt.epoch > f.store_epoch;
        if (!f.listed || f.in_run || future || lists(f, Phase::ended)) continue;
        const bool newest = f.listed->attempt.epoch == f.store_epoch && !f.owned_elsewhere;
        const bool harmless =
            newest && lists(f, Phase::running) && f.isolation == Isolation::fenced;
        check(f, harmless);
    }
}

// A worker cut off for three minutes returns with its six-hour job, and nobody has claimed it.
TEST(DecideReconcile, reinstates_exactly_what_was_only_presumed_lost_and_is_alive) {
    for_every_stranger([](const ReconcileFacts& f, bool harmless) {
        const bool comes_back = harmless && f.presumed_lost && !f.job_ended;
        EXPECT_EQ(decide_reconcile(f).kind == Kind::reinstate, comes_back);
    });
}

// O7, [P8]: its result is the evidence that a person needs.
// A process lives where it was started, and only if it was.
TEST(DecideReconcile, reinstates_nothing_that_never_began_or_began_elsewhere) {
    for_every_stranger([](const ReconcileFacts& f, bool) {
        for (const bool here : {false, true}) {
            auto never = f;
            never.may_have_begun = here;
            never.began_here = !here;
            EXPECT_NE(decide_reconcile(never).kind, ReconcileDecision::Kind::reinstate);
        }
    });
}

TEST(StrangerFacts, are_of_the_very_attempt_that_is_listed) {
    StrangersJob job{.epoch = Epoch{5},
                     .state = JobState::ready,
                     .presumed_lost = true,
                     .isolation = Isolation::exclusive,
                     .may_have_begun = false,
                     .began_here = false};
    const Listed newest{.attempt = {JobId{1}, Epoch{5}}};
    const Listed older{.attempt = {JobId{1}, Epoch{4}}};
    EXPECT_TRUE(stranger_facts(job, newest, 0).presumed_lost);
    EXPECT_EQ(stranger_facts(job, newest, 0).isolation, Isolation::exclusive);
    EXPECT_FALSE(stranger_facts(job, newest, 0).may_have_begun);
    EXPECT_FALSE(stranger_facts(job, newest, 0).began_here);
    EXPECT_FALSE(stranger_facts(job, older, 0).presumed_lost);
    job.state = JobState::running;
    EXPECT_FALSE(stranger_facts(job, newest, 0).presumed_lost);
    EXPECT_TRUE(stranger_facts(job, newest, 0).owned_elsewhere);
    EXPECT_FALSE(stranger_facts(job, older, 0).owned_elsewhere);
}

TEST(DecideReconcile, leaves_a_quarantined_once_attempt_without_a_key_to_its_end) {
    for_every_stranger([](const ReconcileFacts& f, bool harmless) {
        const bool left = harmless && f.quarantined && f.effects == Effects::once;
        EXPECT_EQ(decide_reconcile(f).kind == Kind::nothing, left);
    });
}

// [P2], O1.
TEST(DecideReconcile, stops_every_other_attempt_that_is_not_the_running_one) {
    for_every_stranger([](const ReconcileFacts& f, bool harmless) {
        const bool comes_back = harmless && f.presumed_lost && !f.job_ended;
        const bool left = harmless && f.quarantined && f.effects == Effects::once;
        EXPECT_EQ(decide_reconcile(f).kind == Kind::stop, !comes_back && !left);
    });
}

// A start is never forgotten: what runs must not count as not started later.
TEST(DecideReconcile, confirms_every_start_that_the_store_does_not_know) {
    for (const auto& f : every_combination()) {
        const bool unknown =
            f.in_run && lists(f, Phase::running) && !f.kill_cause && f.state == JobState::starting;
        EXPECT_EQ(decide_reconcile(f).kind == Kind::confirm_start, unknown);
    }
}

// Presumed lost, it comes back first: else its own session could claim the job before the report.
TEST(DecideReconcile, waits_for_the_report_of_what_has_ended) {
    for (const auto& f : every_combination())
        if (lists(f, Phase::ended) && f.listed->attempt.epoch <= f.store_epoch) {
            const auto kind = decide_reconcile(f).kind;
            EXPECT_TRUE(kind == Kind::nothing || kind == Kind::reinstate);
        }
}

// E1.
TEST(DecideReconcile, kills_what_was_ordered_to_be_killed) {
    for (const auto& f : every_combination()) {
        const bool ordered = f.in_run && f.listed && !lists(f, Phase::ended) && f.kill_cause;
        EXPECT_EQ(decide_reconcile(f).kind == Kind::kill, ordered);
    }
}

// O3: unless it has started, which the worker knows best.
TEST(DecideReconcile, asks_for_what_was_ordered_back_and_has_not_started) {
    for (const auto& f : every_combination()) {
        const bool unstarted =
            f.in_run && lists(f, Phase::unstarted) && f.state == JobState::starting;
        EXPECT_EQ(decide_reconcile(f).kind == Kind::recall, unstarted && f.recalled);
    }
}

// E4: a session that lists what it has is heard.
TEST(DecideReconcile, calls_nobody_lost_who_is_heard) {
    for (const auto& f : every_combination()) {
        const auto end = decide_reconcile(f).end;
        EXPECT_FALSE(end && end->cause == Cause::worker_lost);
    }
}

// O6: an assignment still under way is neither lost nor dropped.
TEST(DecideReconcile, sends_again_exactly_what_the_worker_has_not_seen) {
    for (const auto& f : every_combination()) {
        const bool unseen = f.in_run && !f.listed && f.assignment > f.seen;
        const bool wanted = !f.kill_cause && !f.recalled;
        EXPECT_EQ(decide_reconcile(f).kind == Kind::resend, unseen && wanted);
        if (unseen && !wanted) {
            EXPECT_EQ(decide_reconcile(f).kind, Kind::nothing);
        }
    }
}

TEST(DecideReconcile, settles_exactly_what_the_worker_has_seen_and_does_not_have) {
    for (const auto& f : every_combination()) {
        const auto decision = decide_reconcile(f);
        const bool gone = f.in_run && !f.listed && f.assignment <= f.seen;
        const bool started = f.state == JobState::running;
        EXPECT_EQ(decision.kind == Kind::lost, gone && started);
        EXPECT_EQ(decision.kind == Kind::did_not_start, gone && !started);
        EXPECT_EQ(decision.end.has_value(), gone);
    }
}

// [P4], [P9].
TEST(DecideReconcile, says_did_not_run_only_if_no_start_was_committed) {
    for (const auto& f : every_combination()) {
        const auto decision = decide_reconcile(f);
        if (!decision.end) continue;
        const auto committed = f.asks ? Ran::maybe : Ran::yes;
        EXPECT_EQ(decision.end->ran, f.state == JobState::running ? committed : Ran::no);
        EXPECT_TRUE(decision.end->reported);
        EXPECT_FALSE(decision.end->succeeded);
        EXPECT_EQ(decision.end->clean, f.clean);
        if (f.kill_cause) {
            EXPECT_EQ(decision.end->cause, *f.kill_cause);
        }
    }
}

// A worker that was away for longer than retention lasts must not stop anybody.
TEST(DecideReconcile, stops_an_attempt_whose_job_is_gone_and_takes_it_for_no_loss) {
    for (const auto& f : every_combination()) {
        if (!f.job_gone || !f.listed) continue;
        const auto kind = decide_reconcile(f).kind;
        EXPECT_EQ(kind, lists(f, Phase::ended) ? Kind::nothing : Kind::stop);
    }
}

TEST(DecideReconcile, stops_the_server_exactly_if_the_store_has_lost_commits) {
    for (const auto& f : every_combination()) {
        const bool behind = f.listed && f.listed->attempt.epoch > f.store_epoch && !f.job_gone;
        EXPECT_EQ(decide_reconcile(f).kind == Kind::store_is_behind, behind);
    }
}

TEST(DecideReconcile, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_combination()) rules.insert(decide_reconcile(f).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{
                         "O6/report_is_coming", "O1/presumed_lost_has_a_result", "E1/ordered",
                         "O4/runs", "O6/agreed", "O6/future_epoch", "O1/presumed_lost_is_alive",
                         "O7/once_runs_to_its_end", "O1/not_the_running_attempt",
                         "E1/ordered_before_it_was_seen", "O6/not_seen_yet",
                         "O6/started_and_not_listed", "O6/not_listed", "O3/ordered_back",
                         "O3/ordered_back_before_it_was_seen", "O1/job_is_gone"}));
}

}  // namespace
}  // namespace perdure::reconcile_test
