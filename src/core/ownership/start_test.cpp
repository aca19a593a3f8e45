#include "core/ownership/start.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace perdure::start_test {
namespace {

constexpr Timing timing;
constexpr Duration us = microseconds(1);

std::vector<StartFacts> every_ask() {
    std::vector<StartFacts> all;
    for (const bool in_run : {false, true})
        for (const bool owner : {false, true})
            for (const auto state : {JobState::starting, JobState::running})
                for (const bool asks : {false, true})
                    for (const bool kill : {false, true})
                        for (const bool lost : {false, true})
                            all.push_back({in_run, owner, state, asks, kill, lost});
    return all;
}

// [P2], O1: a delayed ask of an attempt that has ended, or of another session.
TEST(DecideStart, fences_everybody_but_the_owner_of_the_running_attempt) {
    for (const auto& f : every_ask()) {
        if (f.in_run && f.session_is_owner) continue;
        const auto decision = decide_start(f);
        EXPECT_NE(decision.answer, StartAnswer::go);
        EXPECT_FALSE(decision.commit_running);
    }
}

// Cut off before its start was confirmed, it comes back after three minutes and says so first.
TEST(DecideStart, leaves_what_started_and_was_presumed_lost_to_its_heartbeat) {
    for (const auto& f : every_ask()) {
        const bool may_return = !f.in_run && f.presumed_lost && !f.asks;
        EXPECT_EQ(decide_start(f).answer == StartAnswer::again, may_return);
    }
}

// [P4]: the commit comes before the go.
TEST(DecideStart, commits_running_exactly_before_the_first_go) {
    for (const auto& f : every_ask()) {
        const auto decision = decide_start(f);
        const bool first_go = decision.answer == StartAnswer::go && f.state == JobState::starting;
        EXPECT_EQ(decision.commit_running, first_go);
    }
}

TEST(DecideStart, gives_a_repeated_ask_the_same_answer) {
    for (auto f : every_ask()) {
        const auto first = decide_start(f);
        if (first.commit_running) f.state = JobState::running;
        EXPECT_EQ(decide_start(f).answer, first.answer);
    }
}

// E1.
TEST(DecideStart, refuses_an_ask_after_a_cancel_but_not_the_truth_that_it_has_started) {
    for (const auto& f : every_ask()) {
        const bool ours = f.in_run && f.session_is_owner;
        if (!ours || !f.kill_ordered || f.state == JobState::running) continue;
        EXPECT_EQ(decide_start(f).answer, f.asks ? StartAnswer::fenced : StartAnswer::go);
    }
}

TEST(DecideStart, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_ask()) rules.insert(decide_start(f).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"O1/not_the_running_attempt",
                                                 "O1/presumed_lost_has_started", "O4/repeated_ask",
                                                 "E1/cancelled_before_start", "O4/go"}));
}

constexpr BootTime now{1'000'000'000};

std::vector<ExecFacts> every_exec() {
    std::vector<Duration> distances = {Duration{-hours(1).us}};
    for (const auto edge : {Duration{}, timing.kill_margin, timing.lease})
        for (const auto near : {edge - us, edge, edge + us}) distances.push_back(near);
    std::vector<std::optional<BootTime>> gos = {std::nullopt, now - us, now, now + us};
    std::vector<ExecFacts> all;
    for (const auto effects : {Effects::repeatable, Effects::resumable, Effects::once})
        for (const bool keyed : {false, true})
            for (const auto hold : {std::optional<Duration>{}, std::optional{Duration{}}})
                for (const auto left : distances)
                    for (const auto go : gos)
                        for (const bool started : {false, true})
                            for (const bool kill : {false, true})
                                all.push_back(
                                    {.terms = decide_terms({effects, keyed, hold}, timing),
                                     .now = now,
                                     .go_until = go,
                                     .lease_until = now + left,
                                     .already_started = started,
                                     .kill_ordered = kill});
    return all;
}

// [P4]: a crash between `started` and the exec must not lead to a second try here.
TEST(DecideExec, never_starts_twice_in_one_directory) {
    for (const auto& f : every_exec())
        if (f.already_started) {
            EXPECT_EQ(decide_exec(f, timing).answer, ExecAnswer::never);
        }
}

TEST(DecideExec, never_starts_what_was_ordered_to_be_killed) {
    for (const auto& f : every_exec())
        if (f.kill_ordered) {
            EXPECT_EQ(decide_exec(f, timing).answer, ExecAnswer::never);
        }
}

// O4: a worker paused for twenty minutes wakes with an old go, and the lease has expired.
TEST(DecideExec, never_starts_after_the_lease) {
    for (const auto& f : every_exec())
        if (f.now >= f.lease_until) {
            EXPECT_EQ(decide_exec(f, timing).answer, ExecAnswer::never);
        }
}

TEST(DecideExec, never_starts_what_would_be_killed_at_once) {
    for (const auto& f : every_exec()) {
        const auto kill = decide_lease_kill({f.terms, f.lease_until, f.now}, timing);
        if (kill.at && *kill.at <= f.now) {
            EXPECT_EQ(decide_exec(f, timing).answer, ExecAnswer::never);
        }
    }
}

TEST(DecideExec, needs_a_fresh_go_if_it_asks) {
    for (const auto& f : every_exec()) {
        const bool fresh = f.go_until && f.now < *f.go_until;
        const auto answer = decide_exec(f, timing).answer;
        if (f.terms.asks && !fresh) {
            EXPECT_NE(answer, ExecAnswer::exec);
        }
    }
}

// `never` is for good; a go may still come or come again.
TEST(DecideExec, waits_for_a_go_only_while_one_would_help) {
    for (auto f : every_exec()) {
        const auto answer = decide_exec(f, timing).answer;
        f.go_until = f.now + us;
        const auto with_go = decide_exec(f, timing).answer;
        EXPECT_EQ(answer == ExecAnswer::never, with_go == ExecAnswer::never);
        EXPECT_NE(with_go, ExecAnswer::not_yet);
    }
}

TEST(DecideExec, starts_whatever_nothing_forbids) {
    for (const auto& f : every_exec()) {
        const bool margin = f.terms.isolation == Isolation::fenced ||
                            f.now < f.lease_until + f.terms.hold - timing.kill_margin;
        const bool leased = f.now < f.lease_until && margin;
        const bool allowed = !f.terms.asks || (f.go_until && f.now < *f.go_until);
        const bool expected = leased && allowed && !f.already_started && !f.kill_ordered;
        EXPECT_EQ(decide_exec(f, timing).answer == ExecAnswer::exec, expected);
    }
}

TEST(DecideExec, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_exec()) rules.insert(decide_exec(f, timing).rule);
    EXPECT_EQ(rules,
              (std::set<std::string_view>{"O4/once_per_directory", "E1/killed_before_start",
                                          "O7/would_be_killed", "O4/lease_over", "O4/at_once",
                                          "O4/no_go_yet", "O4/go_is_too_old", "O4/go"}));
}

}  // namespace
}  // namespace perdure::start_test
