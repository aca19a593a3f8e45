#include "core/ownership/isolation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace perdure::isolation_test {
namespace {

constexpr Timing timing;
constexpr Effects every_effect[] = {Effects::repeatable, Effects::resumable, Effects::once};

std::vector<IsolationFacts> every_combination() {
    std::vector<IsolationFacts> all;
    for (const auto effects : every_effect)
        for (const bool holds : {false, true})
            for (const auto hold : {std::optional<Duration>{}, std::optional{Duration{}},
                                    std::optional{seconds(7)}, std::optional{hours(2)}})
                all.push_back({effects, holds, hold});
    return all;
}

TEST(DecideTerms, is_exclusive_exactly_when_a_key_or_limit_applies) {
    for (const auto& f : every_combination()) {
        const auto terms = decide_terms(f, timing);
        EXPECT_EQ(terms.isolation == Isolation::exclusive, f.holds_key_or_limit);
        EXPECT_EQ(terms.effects, f.effects);
    }
}

// O4: a start that cannot be taken back must be committed first.
TEST(DecideTerms, only_a_repeatable_fenced_attempt_starts_without_asking) {
    for (const auto& f : every_combination()) {
        const bool harmless = f.effects == Effects::repeatable && !f.holds_key_or_limit;
        EXPECT_EQ(decide_terms(f, timing).asks, !harmless);
    }
}

TEST(DecideTerms, takes_the_hold_that_the_job_asks_for) {
    for (const auto& f : every_combination())
        if (f.hold) {
            EXPECT_EQ(decide_terms(f, timing).hold, *f.hold);
        }
}

TEST(DecideTerms, holds_five_minutes_unless_asked_and_exclusive_not_at_all) {
    for (const auto& f : every_combination()) {
        if (f.hold) continue;
        const bool none = f.holds_key_or_limit && f.effects != Effects::once;
        EXPECT_EQ(decide_terms(f, timing).hold, none ? Duration{} : minutes(5));
    }
}

// The server waits as long as the process may go on, wherever two runs must not overlap.
TEST(DecideTerms, the_server_keeps_what_must_not_overlap_for_the_whole_hold) {
    for (const auto& f : every_combination()) {
        const auto terms = decide_terms(f, timing);
        const bool may_overlap = !f.holds_key_or_limit && f.effects != Effects::once;
        EXPECT_EQ(terms.release_after, may_overlap ? Duration{} : terms.hold);
    }
}

TEST(DecideTerms, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_combination()) rules.insert(decide_terms(f, timing).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"O7/exclusive", "O7/once", "O7/fenced"}));
}

constexpr BootTime lease_until{1'000'000'000};

std::vector<LeaseKillFacts> every_kill() {
    std::vector<LeaseKillFacts> all;
    for (const auto& terms : every_combination())
        for (const auto heard :
             {-seconds(100).us, -seconds(5).us - 1, -seconds(5).us, -seconds(5).us + 1,
              std::int64_t{0}, seconds(2).us, seconds(7).us, minutes(5).us, hours(2).us})
            for (const bool stale : {false, true})
                all.push_back({.terms = decide_terms(terms, timing),
                               .lease_until = lease_until,
                               .worker_heard_at = lease_until + Duration{heard},
                               .epoch_is_stale = stale});
    return all;
}

TEST(DecideLeaseKill, kills_at_once_whatever_has_a_stale_epoch) {
    for (const auto& f : every_kill()) {
        const auto kill = decide_lease_kill(f, timing);
        if (f.epoch_is_stale) {
            EXPECT_EQ(kill.at, BootTime{});
        }
        if (f.epoch_is_stale) {
            EXPECT_EQ(kill.rule, "O7/stale_epoch");
        }
    }
}

// [P8], O7: the shim's clock began before the server's, so this instant is the earlier one.
TEST(DecideLeaseKill, an_exclusive_attempt_is_dead_before_the_server_gives_the_job_away) {
    for (const auto& f : every_kill()) {
        if (f.epoch_is_stale || f.terms.isolation != Isolation::exclusive) continue;
        const auto released_at = f.lease_until + f.terms.release_after;
        EXPECT_EQ(decide_lease_kill(f, timing).at, released_at - timing.kill_margin);
    }
}

TEST(DecideLeaseKill, never_kills_a_once_attempt_without_a_key_for_its_lease) {
    for (const auto& f : every_kill()) {
        const bool unkeyed_once =
            f.terms.effects == Effects::once && f.terms.isolation == Isolation::fenced;
        if (!unkeyed_once || f.epoch_is_stale) continue;
        EXPECT_EQ(decide_lease_kill(f, timing).at, std::nullopt);
    }
}

TEST(DecideLeaseKill, a_fenced_attempt_outlives_its_lease_by_hold_and_no_longer) {
    for (const auto& f : every_kill()) {
        const bool fenced =
            f.terms.isolation == Isolation::fenced && f.terms.effects != Effects::once;
        if (!fenced || f.epoch_is_stale) continue;
        const auto kill = decide_lease_kill(f, timing);
        ASSERT_TRUE(kill.at);
        EXPECT_GE(*kill.at, f.lease_until);
        EXPECT_LE(*kill.at, f.lease_until + f.terms.hold);
    }
}

// L1: the next worker has five seconds to find the shim, also if the lease has ended.
TEST(DecideLeaseKill, a_fenced_attempt_whose_worker_is_silent_ends_with_worker_and_lease) {
    for (const auto& f : every_kill()) {
        const bool fenced =
            f.terms.isolation == Isolation::fenced && f.terms.effects != Effects::once;
        if (!fenced || f.epoch_is_stale) continue;
        const auto gone = std::max(f.worker_heard_at + timing.worker_silence, f.lease_until);
        const auto hold_ends = f.lease_until + f.terms.hold;
        EXPECT_EQ(decide_lease_kill(f, timing).at, std::min(gone, hold_ends));
    }
}

TEST(DecideLeaseKill, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_kill()) rules.insert(decide_lease_kill(f, timing).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"O7/stale_epoch", "O7/exclusive", "O7/once",
                                                 "O7/worker_gone", "O7/hold_over"}));
}

// Isolation x effects, a worker that lives and one that died with its last word at the renewal.
TEST(DecideLeaseKill, is_as_in_the_table) {
    struct Row {
        bool keyed;
        Effects effects;
        std::optional<Duration> worker_lives;  // counted from the end of the lease
        std::optional<Duration> worker_died;
    };
    const Row table[] = {
        {false, Effects::repeatable, minutes(5), Duration{}},
        {false, Effects::resumable, minutes(5), Duration{}},
        {false, Effects::once, std::nullopt, std::nullopt},
        {true, Effects::repeatable, Duration{-seconds(2).us}, Duration{-seconds(2).us}},
        {true, Effects::resumable, Duration{-seconds(2).us}, Duration{-seconds(2).us}},
        {true, Effects::once, minutes(5) - seconds(2), minutes(5) - seconds(2)},
    };
    for (const auto& row : table) {
        const auto at = [&](BootTime heard) {
            const auto terms = decide_terms({row.effects, row.keyed, std::nullopt}, timing);
            return decide_lease_kill({terms, lease_until, heard}, timing).at;
        };
        const auto expected = [](std::optional<Duration> after) {
            return after ? std::optional(lease_until + *after) : std::nullopt;
        };
        EXPECT_EQ(at(lease_until + hours(1)), expected(row.worker_lives));
        EXPECT_EQ(at(lease_until - timing.lease), expected(row.worker_died));
    }
}

TEST(Isolation, is_spelt_as_in_the_table) {
    EXPECT_EQ(to_string(Isolation::fenced), "fenced");
    EXPECT_EQ(to_string(Isolation::exclusive), "exclusive");
}

}  // namespace
}  // namespace perdure::isolation_test
