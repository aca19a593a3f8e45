#include "core/policy/recovery.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace perdure::recovery_test {
namespace {

constexpr Timing timing;
constexpr ServiceTime now{1'000'000'000};
constexpr Effects every_effect[] = {Effects::repeatable, Effects::resumable, Effects::once};
constexpr std::int64_t around_now[] = {-1, 0, 1};

std::vector<Terms> every_terms() {
    std::vector<Terms> all;
    for (const auto effects : every_effect)
        for (const bool keyed : {false, true})
            for (const auto hold :
                 {std::optional<Duration>{}, std::optional{Duration{}}, std::optional{seconds(7)}})
                all.push_back(decide_terms({effects, keyed, hold}, timing));
    return all;
}

void add_clocks(std::vector<RunFacts>& all, RunFacts f) {
    std::vector<std::int64_t> leases(std::begin(around_now), std::end(around_now));
    for (const auto hold : {seconds(7), minutes(5)})
        for (const auto near : around_now) leases.push_back(near - hold.us);
    for (const auto lease : leases)
        for (const auto confirm : around_now)
            for (const auto grace : around_now) {
                f.lease_deadline = ServiceTime{now.us + lease};
                f.confirm_deadline = ServiceTime{now.us + confirm};
                f.clock = {.now = now, .grace_until = ServiceTime{now.us + grace}};
                all.push_back(f);
            }
}

const std::vector<RunFacts>& every_run() {
    static const auto facts = [] {
        std::vector<RunFacts> all;
        for (const auto state : {JobState::starting, JobState::running})
            for (const auto& terms : every_terms())
                for (const bool clean : {false, true})
                    for (const auto order :
                         {std::optional<Cause>{}, std::optional{Cause::cancelled},
                          std::optional{Cause::timeout_total}})
                        for (unsigned bits = 0; bits < 16; ++bits) {
                            const bool recalled = (bits & 1U) != 0;
                            if (recalled && (order || state == JobState::running)) continue;
                            add_clocks(all, {.state = state,
                                             .terms = terms,
                                             .clean = clean,
                                             .kill_cause = order,
                                             .recalled = recalled,
                                             .heard = (bits & 2U) != 0,
                                             .saw_assignment = (bits & 4U) != 0,
                                             .alone = (bits & 8U) != 0});
                        }
        return all;
    }();
    return facts;
}

bool lease_over(const RunFacts& f) { return f.clock.now >= f.lease_deadline; }
bool graced(const RunFacts& f) { return f.clock.now < f.clock.grace_until; }
bool unconfirmed(const RunFacts& f) {
    return f.state == JobState::starting && f.clock.now >= f.confirm_deadline;
}
// Listed as unstarted by a session that is heard: it is asked for it back first (O3).
bool must_be_asked_for(const RunFacts& f) {
    return f.heard && f.saw_assignment && !f.recalled && !f.kill_cause;
}

// T2.
TEST(DecideRecovery, ends_nothing_within_the_grace_after_an_outage) {
    for (const auto& f : every_run())
        if (graced(f)) {
            EXPECT_FALSE(decide_recovery(f).end);
        }
}

TEST(DecideRecovery, waits_while_the_lease_is_valid) {
    for (const auto& f : every_run())
        if (!lease_over(f) && !unconfirmed(f)) {
            EXPECT_FALSE(decide_recovery(f).end);
        }
}

// [P3], [P5]: silence has an end, and this is it.
TEST(DecideRecovery, ends_everything_when_lease_and_hold_are_over) {
    for (const auto& f : every_run()) {
        const bool over = f.clock.now >= f.lease_deadline + f.terms.release_after;
        if (over && !graced(f)) {
            EXPECT_TRUE(decide_recovery(f).end);
        }
    }
}

TEST(DecideRecovery, keeps_a_running_attempt_for_its_hold_and_no_longer) {
    for (const auto& f : every_run()) {
        if (f.state != JobState::running || graced(f)) continue;
        const bool over = f.clock.now >= f.lease_deadline + f.terms.release_after;
        EXPECT_EQ(decide_recovery(f).end.has_value(), over);
    }
}

// What has not started and can no longer start has nothing to wait for.
TEST(DecideRecovery, never_holds_an_attempt_that_is_only_starting) {
    for (const auto& f : every_run()) {
        if (f.state != JobState::starting || graced(f)) continue;
        const bool over = unconfirmed(f) && !must_be_asked_for(f);
        EXPECT_EQ(decide_recovery(f).end.has_value(), lease_over(f) || over);
    }
}

// O3: listed unstarted at 3.9 s, executed at 4.05 s, must not be recorded as never run.
TEST(DecideRecovery, orders_back_what_its_session_lists_and_has_not_started) {
    for (const auto& f : every_run()) {
        const bool asked = unconfirmed(f) && must_be_asked_for(f) && !lease_over(f) && !graced(f);
        EXPECT_EQ(decide_recovery(f).order_back, asked);
    }
}

// E4, [P9]: nobody who is heard is lost, and what it has not started says nothing about the job.
TEST(DecideRecovery, calls_nobody_lost_who_is_heard) {
    for (const auto& f : every_run()) {
        const auto end = decide_recovery(f).end;
        if (!end || lease_over(f) || !(f.heard || f.recalled)) continue;
        EXPECT_NE(end->cause, Cause::worker_lost);
        EXPECT_EQ(end->counted, f.kill_cause.has_value() && f.saw_assignment);
    }
}

// [P4], O4: no commit, it did not run; a commit, it may have.
TEST(DecideRecovery, says_did_not_run_only_if_a_start_had_to_ask_and_was_not_committed) {
    for (const auto& f : every_run()) {
        const auto end = decide_recovery(f).end;
        if (!end) continue;
        const bool starting = f.state == JobState::starting;
        const auto asked = starting ? Ran::no : Ran::maybe;
        const auto at_once = starting ? Ran::maybe : Ran::yes;
        EXPECT_EQ(end->ran, f.terms.asks ? asked : at_once);
    }
}

// [P9]: silence proves neither a report nor a success nor that the host is gone.
TEST(DecideRecovery, presumes_and_never_claims_more_than_it_knows) {
    for (const auto& f : every_run()) {
        const auto end = decide_recovery(f).end;
        if (!end) continue;
        EXPECT_FALSE(end->reported);
        EXPECT_FALSE(end->succeeded);
        const bool heard = f.recalled || (f.heard && !lease_over(f));
        const auto cause = heard ? Cause::evicted : Cause::worker_lost;
        EXPECT_EQ(end->cause, f.kill_cause.value_or(cause));
        EXPECT_EQ(end->clean, f.clean);
    }
}

// O4, E4: a session that lives and never saw the assignment says nothing about the job.
TEST(DecideRecovery, counts_every_end_of_the_silent_but_that_of_an_assignment_nobody_saw) {
    for (const auto& f : every_run()) {
        const auto end = decide_recovery(f).end;
        if (!end || f.recalled || f.heard) continue;
        EXPECT_EQ(end->counted, lease_over(f) || f.saw_assignment);
        EXPECT_EQ(end->alone, lease_over(f) && f.alone);
    }
}

TEST(DecideRecovery, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_run()) rules.insert(decide_recovery(f).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"O3/lease_over", "O4/start_never_confirmed",
                                                 "O7/owner_lost_within_hold", "O3/owned",
                                                 "O3/ordered_back", "O3/not_handed_back",
                                                 "O4/assignment_never_seen"}));
}

// E1: a `once` job cancelled while its host is away.
TEST(DecideRecovery, a_cancelled_once_job_ends_cancelled_at_the_end_of_its_hold) {
    RunFacts f{.state = JobState::running,
               .terms = decide_terms({Effects::once, false, std::nullopt}, timing),
               .kill_cause = Cause::cancelled,
               .lease_deadline = now,
               .clock = {.now = now + minutes(5) - microseconds(1)}};
    EXPECT_FALSE(decide_recovery(f).end);
    f.clock.now = now + minutes(5);
    const auto end = decide_recovery(f).end;
    ASSERT_TRUE(end);
    const auto next = decide_next({.end = *end, .effects = Effects::once});
    EXPECT_EQ(next.state, JobState::cancelled);
    EXPECT_TRUE(next.may_have_run);
}

// --- decide_next ---------------------------------------------------------------------------

using Kind = Next::Kind;
constexpr PolicyName every_name[] = {PolicyName::default_, PolicyName::never, PolicyName::forever};

std::vector<AttemptEnd> every_end() {
    std::vector<AttemptEnd> all;
    for (std::size_t i = 0; i < cause_count; ++i)
        for (const auto ran : {Ran::no, Ran::maybe, Ran::yes})
            for (const bool clean : {false, true})
                for (const bool alone : {false, true})
                    for (const bool counted : {false, true})
                        all.push_back({.cause = static_cast<Cause>(i),
                                       .ran = ran,
                                       .clean = clean,
                                       .alone = alone,
                                       .counted = counted});
    all.push_back({.cause = Cause::exit, .ran = Ran::yes, .succeeded = true});
    all.push_back({.cause = Cause::cancelled, .ran = Ran::yes, .succeeded = true});
    for (const bool clean : {false, true})
        all.push_back(
            {.cause = Cause::verdict_at, .ran = Ran::yes, .clean = clean, .at = WallTime{99}});
    return all;
}

CauseCounts counts_of(std::uint32_t n) {
    CauseCounts counts;
    counts.of.fill(n);
    counts.did_not_run_in_a_row = n;
    return counts;
}

const std::vector<EndFacts>& every_ended_job() {
    static const auto facts = [] {
        std::vector<EndFacts> all;
        for (const auto& end : every_end())
            for (const auto effects : every_effect)
                for (const auto name : every_name)
                    for (const std::uint32_t retries : {0, 2})
                        for (const bool cancel : {false, true})
                            for (const std::uint32_t n : {0, 1, 2, 3, 4, 5, 9, 10, 1'000}) {
                                if (n == 0 && end.counted) continue;  // this end is included
                                all.push_back(
                                    {end, {name, retries}, effects, counts_of(n), cancel});
                            }
        return all;
    }();
    return facts;
}

bool repeats(const Next& next) { return next.kind != Kind::ended; }
bool may_have_run(const EndFacts& f) { return f.end.ran != Ran::no; }
bool is_cancelled(const EndFacts& f) {
    return f.cancel_requested || f.end.cause == Cause::cancelled;
}
bool is_own_exit(const AttemptEnd& end) {
    static const std::set<Cause> own = {Cause::exit,       Cause::verdict_retry,
                                        Cause::verdict_at, Cause::verdict_permanent,
                                        Cause::conflict,   Cause::disconnected};
    return own.count(end.cause) > 0;
}

// [P4].
TEST(DecideNext, never_repeats_a_once_job_that_may_have_run) {
    for (const auto& f : every_ended_job())
        if (f.effects == Effects::once && may_have_run(f)) {
            EXPECT_FALSE(repeats(decide_next(f)));
        }
}

TEST(DecideNext, never_repeats_a_dirty_resumable_job_that_may_have_run) {
    for (const auto& f : every_ended_job())
        if (f.effects == Effects::resumable && may_have_run(f) && !f.end.clean) {
            EXPECT_FALSE(repeats(decide_next(f)));
        }
}

// E3: effects turn "again" into an end, and change nothing else.
TEST(DecideNext, effects_guard_only_the_answer_again) {
    for (const auto& f : every_ended_job()) {
        auto repeatable = f;
        repeatable.effects = Effects::repeatable;
        const auto plain = decide_next(repeatable);
        auto next = decide_next(f);
        next.may_have_run = plain.may_have_run;
        const bool dirty =
            f.effects == Effects::once || (f.effects == Effects::resumable && !f.end.clean);
        const bool guarded = dirty && may_have_run(f);
        if (!repeats(plain) || !guarded) {
            EXPECT_EQ(next, plain);
        } else {
            const bool own = is_own_exit(f.end);
            EXPECT_EQ(next.state, own ? JobState::failed : JobState::quarantined);
            EXPECT_EQ(next.rule, own ? "E3/own_exit" : "P4/may_have_run");
        }
    }
}

// A process's own exit is no interruption: a person would learn nothing from a quarantine.
TEST(DecideNext, never_quarantines_a_job_for_its_own_exit) {
    for (const auto& f : every_ended_job())
        if (is_own_exit(f.end)) {
            EXPECT_NE(decide_next(f).state, JobState::quarantined);
        }
}

// E1.
TEST(DecideNext, a_cancelled_job_is_never_repeated) {
    for (const auto& f : every_ended_job()) {
        if (!is_cancelled(f)) continue;
        const auto next = decide_next(f);
        EXPECT_FALSE(repeats(next));
        EXPECT_EQ(next.state, f.end.succeeded ? JobState::succeeded : JobState::cancelled);
    }
}

TEST(DecideNext, succeeds_exactly_if_the_attempt_did) {
    for (const auto& f : every_ended_job()) {
        const auto next = decide_next(f);
        EXPECT_EQ(next.kind == Kind::ended && next.state == JobState::succeeded, f.end.succeeded);
    }
}

// [P6].
TEST(DecideNext, poison_ends_in_quarantine_after_three_crashes_unless_the_policy_is_forever) {
    for (const auto& f : every_ended_job()) {
        const bool poison = class_of(f.end) == CauseClass::crash && f.counts[CauseClass::crash] > 2;
        if (!poison || !f.end.counted || f.end.succeeded || is_cancelled(f)) continue;
        if (f.policy.name == PolicyName::forever) continue;
        const auto next = decide_next(f);
        EXPECT_FALSE(repeats(next));
        EXPECT_EQ(next.state, JobState::quarantined);
    }
}

TEST(DecideNext, what_did_not_run_is_always_tried_again) {
    for (const auto& f : every_ended_job()) {
        if (class_of(f.end) != CauseClass::did_not_run || is_cancelled(f)) continue;
        EXPECT_TRUE(repeats(decide_next(f))) << to_string(f.end.cause);
    }
}

// O4: what is not counted uses up nothing, however often it happens.
TEST(DecideNext, an_end_that_does_not_count_uses_up_no_budget) {
    for (auto f : every_ended_job()) {
        if (f.end.counted) continue;
        const auto next = decide_next(f);
        f.counts = counts_of(1);
        EXPECT_EQ(repeats(next), repeats(decide_next(f)));
    }
}

TEST(DecideNext, marks_exactly_those_ends_that_may_have_done_something) {
    for (const auto& f : every_ended_job()) {
        const auto next = decide_next(f);
        if (repeats(next)) {
            EXPECT_FALSE(next.may_have_run);
            continue;
        }
        const bool cancelled_once = next.state == JobState::cancelled && f.effects == Effects::once;
        const bool marked = next.state == JobState::quarantined || cancelled_once;
        EXPECT_EQ(next.may_have_run, marked && may_have_run(f));
    }
}

TEST(DecideNext, ends_only_in_an_end_and_waits_only_for_a_bounded_time) {
    for (const auto& f : every_ended_job()) {
        const auto next = decide_next(f);
        if (next.kind == Kind::ended) {
            EXPECT_TRUE(has_ended(next.state));
        }
        if (next.kind == Kind::again_after) {
            EXPECT_GT(next.wait, Duration{});
        }
        EXPECT_LE(next.wait, hours(1));
        EXPECT_EQ(next.kind == Kind::again_on, next.date == WallTime{99});
    }
}

TEST(DecideNext, waits_longer_after_each_repetition) {
    for (auto f : every_ended_job()) {
        const auto next = decide_next(f);
        f.counts = counts_of(f.counts[CauseClass::crash] + 1);
        const auto later = decide_next(f);
        if (repeats(next) && repeats(later)) {
            EXPECT_LE(next.wait, later.wait);
        }
    }
}

TEST(DecideNext, is_alarming_exactly_when_forever_repeats_a_crash) {
    for (const auto& f : every_ended_job()) {
        const auto next = decide_next(f);
        const bool crash = class_of(f.end) == CauseClass::crash;
        const bool forever = f.policy.name == PolicyName::forever;
        EXPECT_EQ(next.alarming, repeats(next) && crash && forever);
    }
}

TEST(DecideNext, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_ended_job()) rules.insert(decide_next(f).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"E1/succeeded",
                                                 "E1/cancelled",
                                                 "E3/own_exit",
                                                 "P4/may_have_run",
                                                 "any/command_unusable",
                                                 "any/did_not_run",
                                                 "any/moved",
                                                 "any/queue_timeout",
                                                 "any/retries",
                                                 "any/verdict_at",
                                                 "default/conflict",
                                                 "default/crash",
                                                 "default/disconnected",
                                                 "default/own_failure",
                                                 "default/owner_lost",
                                                 "default/timed_out",
                                                 "forever/again",
                                                 "forever/crash",
                                                 "forever/disconnected",
                                                 "forever/own_failure",
                                                 "forever/owner_lost",
                                                 "never/fail",
                                                 "never/interrupted"}));
}

std::string text_of(const Next& next) {
    std::string text;
    switch (next.kind) {
        case Kind::again_now: text = "now"; break;
        case Kind::again_after: text = fmt::format("{}s", next.wait.seconds()); break;
        case Kind::again_on: text = "on its date"; break;
        case Kind::ended: text = to_string(next.state); break;
    }
    if (next.another_worker) text += " elsewhere";
    if (next.alarming) text += "!";
    return text;
}

// The life of a job that ends like this each time: "2 x now, failed" or "1s, always 2s".
std::string life_of(const PolicyChoice& policy, Effects effects, const AttemptEnd& end) {
    constexpr int lives = 40;
    std::string life;
    std::string step;
    int times = 0;
    const auto write = [&](std::string_view how_often) {
        if (!life.empty()) life += ", ";
        life += fmt::format("{}{}", how_often, step);
    };
    CauseCounts counts;
    for (int i = 0; i < lives; ++i) {
        counts = with(counts, end);
        const auto next = decide_next({end, policy, effects, counts});
        if (times > 0 && text_of(next) != step) {
            write(times > 1 ? fmt::format("{} x ", times) : "");
            times = 0;
        }
        step = text_of(next);
        ++times;
        if (next.kind == Kind::ended) {
            write("");
            return life;
        }
    }
    write("always ");
    return life;
}

AttemptEnd ended_by(Cause cause, Ran ran = Ran::yes, bool alone = false) {
    AttemptEnd end{.cause = cause, .ran = ran, .alone = alone};
    if (cause == Cause::verdict_at) end.at = WallTime{99};
    return end;
}

// docs/guides/policies.md has this table.
TEST(DecideNext, follows_the_table_of_policies) {
    const std::string growing = "1s, 2s, 4s, 8s, 16s, 32s, always 60s";
    const std::string growing_alarm = "1s!, 2s!, 4s!, 8s!, 16s!, 32s!, always 60s!";
    const std::string five = "5s, 10s, 20s, 40s, always 60s";
    const std::string unrun =
        "now elsewhere, 0.25s elsewhere, 0.5s elsewhere, 1s elsewhere, 2s elsewhere, "
        "4s elsewhere, 8s elsewhere, 16s elsewhere, 32s elsewhere, always 60s elsewhere";
    const std::string crashed = "1s, 2s, quarantined";
    const std::string lost = "9 x now elsewhere, quarantined";
    struct Row {
        AttemptEnd end;
        std::string standard, never, forever;
    };
    const Row table[] = {
        {ended_by(Cause::exit), "failed", "failed", "failed"},
        {ended_by(Cause::verdict_permanent), "failed", "failed", "failed"},
        {ended_by(Cause::verdict_retry), "4 x now, failed", "failed", growing},
        {ended_by(Cause::conflict), "4 x now, failed", "failed", growing},
        {ended_by(Cause::verdict_at), "always on its date", "failed", "always on its date"},
        {ended_by(Cause::disconnected), five, "failed", five},
        {ended_by(Cause::crash_signal), crashed, "quarantined", growing_alarm},
        {ended_by(Cause::crash_worker), crashed, "quarantined", growing_alarm},
        {ended_by(Cause::oom), crashed, "quarantined", growing_alarm},
        {ended_by(Cause::shim_lost), crashed, "quarantined", growing_alarm},
        {ended_by(Cause::corrupt), crashed, "quarantined", growing_alarm},
        {ended_by(Cause::worker_lost, Ran::maybe, true), crashed, "quarantined", growing_alarm},
        {ended_by(Cause::host_lost, Ran::maybe, true), crashed, "quarantined", growing_alarm},
        {ended_by(Cause::worker_lost, Ran::maybe), lost, "quarantined", "always now elsewhere"},
        {ended_by(Cause::host_lost, Ran::maybe), lost, "quarantined", "always now elsewhere"},
        {ended_by(Cause::worker_lost, Ran::no), unrun, unrun, unrun},
        {ended_by(Cause::host_lost, Ran::no), unrun, unrun, unrun},
        {ended_by(Cause::shim_failed, Ran::no), unrun, unrun, unrun},
        {ended_by(Cause::lock_busy, Ran::no), unrun, unrun, unrun},
        {ended_by(Cause::no_resources, Ran::no), unrun, unrun, unrun},
        {ended_by(Cause::command_unusable, Ran::no), "failed", "failed", "failed"},
        {ended_by(Cause::evicted), "always now", "quarantined", "always now"},
        {ended_by(Cause::cut_off), "always now", "quarantined", "always now"},
        {ended_by(Cause::evicted, Ran::no), unrun, unrun, unrun},
        {ended_by(Cause::cut_off, Ran::no), unrun, unrun, unrun},
        {ended_by(Cause::timeout_run), "failed", "failed", growing},
        {ended_by(Cause::timeout_idle), "failed", "failed", growing},
        {ended_by(Cause::timeout_total), "failed", "failed", growing},
        {ended_by(Cause::timeout_queue, Ran::no), "expired", "expired", "expired"},
        {ended_by(Cause::cancelled), "cancelled", "cancelled", "cancelled"},
    };
    for (const auto& row : table) {
        const auto life = [&](PolicyName name) {
            return life_of({.name = name}, Effects::repeatable, row.end);
        };
        SCOPED_TRACE(to_string(row.end.cause));
        EXPECT_EQ(life(PolicyName::default_), row.standard);
        EXPECT_EQ(life(PolicyName::never), row.never);
        EXPECT_EQ(life(PolicyName::forever), row.forever);
    }
}

TEST(DecideNext, gives_a_failing_job_the_retries_that_were_asked_for) {
    const auto exit = ended_by(Cause::exit);
    const auto life = [&](const PolicyChoice& policy) {
        return life_of(policy, Effects::repeatable, exit);
    };
    EXPECT_EQ(life({PolicyName::default_, 3, seconds(1)}), "1s, 2s, 4s, failed");
    EXPECT_EQ(life({PolicyName::forever, 2, hours(3)}), "2 x 10800s, failed");
    EXPECT_EQ(life({PolicyName::default_, 2, Duration{}}), "2 x now, failed");
    EXPECT_EQ(life({PolicyName::never, 3, seconds(1)}), "failed");
}

TEST(DecideNext, lets_the_author_choose_how_the_wait_grows) {
    const auto exit = ended_by(Cause::exit);
    const auto life = [&](Growth growth, Duration longest) {
        PolicyChoice policy{.retries = 4, .retry_wait = seconds(2), .growth = growth};
        policy.retry_wait_max = longest;
        return life_of(policy, Effects::repeatable, exit);
    };
    EXPECT_EQ(life(Growth::constant, hours(1)), "4 x 2s, failed");
    EXPECT_EQ(life(Growth::linear, hours(1)), "2s, 4s, 6s, 8s, failed");
    EXPECT_EQ(life(Growth::linear, seconds(5)), "2s, 4s, 2 x 5s, failed");
    EXPECT_EQ(life(Growth::exponential, hours(1)), "2s, 4s, 8s, 16s, failed");
    EXPECT_EQ(life(Growth::exponential, seconds(9)), "2s, 4s, 8s, 9s, failed");
}

TEST(DecideNext, spreads_the_waits_of_jobs_that_failed_together) {
    const PolicyChoice policy{.retries = 1, .retry_wait = seconds(100), .jitter_percent = 30};
    std::set<std::int64_t> waits;
    for (std::uint64_t job = 1; job <= 1000; ++job) {
        EndFacts facts{.end = ended_by(Cause::exit), .policy = policy};
        facts.counts = with({}, facts.end);
        facts.attempt = {JobId{job}, Epoch{1}};
        const auto next = decide_next(facts);
        ASSERT_EQ(next.kind, Next::Kind::again_after);
        EXPECT_GE(next.wait, seconds(70));
        EXPECT_LE(next.wait, seconds(100));
        EXPECT_EQ(next, decide_next(facts)) << "every server must say the same";
        waits.insert(next.wait.us);
    }
    EXPECT_GT(waits.size(), 500U);
}

// Effects x how far the attempt had come when its worker was lost.
TEST(DecideNext, follows_the_table_of_effects) {
    struct Row {
        Effects effects;
        JobState before_start, clean, dirty;  // ready: again
    };
    const auto again = JobState::ready;
    const auto person = JobState::quarantined;
    const Row table[] = {
        {Effects::repeatable, again, again, again},
        {Effects::resumable, again, again, person},
        {Effects::once, again, person, person},
    };
    for (const auto& row : table) {
        const auto after = [&](Ran ran, bool clean) {
            const AttemptEnd end{.cause = Cause::worker_lost, .ran = ran, .clean = clean};
            const auto next = decide_next({end, {}, row.effects, with({}, end)});
            return repeats(next) ? again : next.state;
        };
        for (const bool clean : {false, true}) EXPECT_EQ(after(Ran::no, clean), row.before_start);
        for (const auto ran : {Ran::maybe, Ran::yes}) {
            EXPECT_EQ(after(ran, true), row.clean) << to_string(row.effects);
            EXPECT_EQ(after(ran, false), row.dirty) << to_string(row.effects);
        }
    }
}

TEST(DecideNext, a_policys_fail_stays_for_a_once_job_that_timed_out) {
    EXPECT_EQ(life_of({}, Effects::once, ended_by(Cause::timeout_run)), "failed");
    EXPECT_EQ(life_of({PolicyName::forever}, Effects::once, ended_by(Cause::timeout_run)),
              "quarantined");
}

TEST(DecideNext, an_uncounted_end_waits_like_the_first_of_its_kind) {
    AttemptEnd end{.cause = Cause::crash_signal, .ran = Ran::yes, .counted = false};
    EXPECT_EQ(decide_next({.end = end, .counts = with({}, end)}).wait, seconds(1));
}

}  // namespace
}  // namespace perdure::recovery_test
