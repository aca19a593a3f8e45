#include "core/ownership/service_time.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace perdure::service_time_test {
namespace {

constexpr Timing timing;
constexpr ServiceTick seen{
    .tick = 41, .now = ServiceTime{5'000'000}, .grace_until = ServiceTime{3'000'000}};
constexpr Duration us = microseconds(1);

std::vector<TickFacts> every_combination() {
    const Duration edges[] = {milliseconds(500), seconds(1), seconds(2), seconds(5), seconds(60)};
    std::vector<Duration> sinces = {{}};
    for (const auto edge : edges)
        for (const auto near : {edge - us, edge, edge + us}) sinces.push_back(near);
    std::vector<TickFacts> all;
    for (const auto since_seen : sinces)
        for (const auto before : sinces)  // how long it had lived when it saw the row
            for (const bool idle : {false, true})
                all.push_back({seen, since_seen, since_seen + before, idle});
    return all;
}

TEST(DecideTick, waits_for_nothing_when_a_wait_has_ended) {
    for (auto f : every_combination()) {
        f.wait_ended = true;
        EXPECT_TRUE(decide_tick(f, timing).send);
    }
}

// Those of groups that make deadlines, on a tick of this server or of another one.
std::vector<TickFacts> every_leading_tick() {
    std::vector<TickFacts> all;
    for (auto f : every_combination())
        for (const auto commit_took :
             {Duration{-1}, Duration{}, us, milliseconds(300), seconds(3)}) {
            f.makes_deadline = true;
            f.since_sent.reset();
            if (commit_took >= Duration{}) f.since_sent = f.since_seen + commit_took;
            all.push_back(f);
        }
    return all;
}

// T2: else waits count from the last tick, and end up to half a second early.
TEST(DecideTick, leads_a_group_that_makes_a_deadline_at_once) {
    for (const auto& f : every_leading_tick()) {
        const auto decision = decide_tick(f, timing);
        EXPECT_TRUE(decision.send);
        const auto passed = f.since_sent.value_or(f.since_seen);
        EXPECT_EQ(decision.next.now - f.seen.now, std::min(passed, timing.tick_advance_max));
    }
}

// Else a server that comes back after a minute, and is given a job at once, grants no grace.
TEST(DecideTick, gives_grace_on_what_it_found_at_its_start_however_early_it_ticks) {
    for (const auto& f : every_leading_tick()) {
        const bool found = !f.since_sent && f.since_start - f.since_seen < timing.first_tick;
        const bool outage = found || f.since_seen >= timing.outage;
        const auto next = decide_tick(f, timing).next;
        EXPECT_EQ(next.grace_until, outage ? next.now + timing.grace : f.seen.grace_until);
    }
}

// T2a, T1: three servers that each add what they measured must not make time run three times.
TEST(DecideTick, adds_at_most_the_real_time_since_the_row_was_seen) {
    for (const auto& f : every_combination()) {
        const auto decision = decide_tick(f, timing);
        if (!decision.send) continue;
        EXPECT_EQ(decision.next.tick, f.seen.tick + 1);
        EXPECT_LE(decision.next.now - f.seen.now, f.since_seen);
        EXPECT_LE(decision.next.now - f.seen.now, timing.tick_advance_max);
        EXPECT_GT(decision.next.now, f.seen.now);
    }
}

TEST(DecideTick, leaves_half_a_second_between_two_ticks) {
    for (const auto& f : every_combination()) {
        const auto decision = decide_tick(f, timing);
        if (f.since_seen < timing.tick) {
            EXPECT_FALSE(decision.send);
        }
        const bool old_server = f.since_start - f.since_seen >= timing.first_tick;
        if (old_server && !f.idle) {
            EXPECT_EQ(decision.send, f.since_seen >= timing.tick);
        }
        if (old_server && f.idle) {
            EXPECT_EQ(decision.send, f.since_seen >= timing.idle_tick);
        }
    }
}

TEST(DecideTick, waits_exactly_until_it_may_send) {
    for (auto f : every_combination()) {
        const auto early = decide_tick(f, timing);
        if (early.send) continue;
        EXPECT_GT(early.wait, Duration{});
        f.since_seen = f.since_seen + early.wait;
        f.since_start = f.since_start + early.wait;
        EXPECT_TRUE(decide_tick(f, timing).send);
        f.since_seen = f.since_seen - us;
        f.since_start = f.since_start - us;
        EXPECT_FALSE(decide_tick(f, timing).send);
    }
}

// T2b: two seconds without a tick are an outage, and everybody gets the time to come back.
TEST(DecideTick, gives_grace_after_an_outage) {
    for (const auto& f : every_combination()) {
        const auto decision = decide_tick(f, timing);
        if (!decision.send) continue;
        const bool outage = f.since_seen >= timing.outage;
        const auto grace = outage ? decision.next.now + timing.grace : f.seen.grace_until;
        EXPECT_EQ(decision.next.grace_until, grace);
    }
}

// A restarted server finds the row as its predecessor left it a minute ago, and cannot tell.
TEST(DecideTick, of_a_new_server_gives_grace_unless_another_server_ticks) {
    for (const auto& f : every_combination()) {
        const bool found_at_start = f.since_start - f.since_seen < timing.first_tick;
        if (!found_at_start) continue;
        const auto decision = decide_tick(f, timing);
        if (f.since_seen < timing.first_tick) {
            EXPECT_FALSE(decision.send);
        }
        if (decision.send) {
            EXPECT_EQ(decision.next.grace_until, decision.next.now + timing.grace);
        }
    }
}

// The simulator draws durations short, in any order.
TEST(DecideTick, of_a_new_server_gives_grace_also_if_it_waits_for_less_than_an_outage) {
    constexpr Timing hasty{.first_tick = seconds(1), .outage = seconds(2)};
    const auto decision = decide_tick({seen, seconds(1), seconds(1)}, hasty);
    EXPECT_TRUE(decision.send);
    EXPECT_EQ(decision.next.grace_until, decision.next.now + hasty.grace);
}

TEST(DecideTick, never_takes_grace_away) {
    for (const auto& f : every_combination()) {
        const auto decision = decide_tick(f, timing);
        if (decision.send) {
            EXPECT_GE(decision.next.grace_until, f.seen.grace_until);
        }
    }
}

TEST(DecideTick, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_combination()) rules.insert(decide_tick(f, timing).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"T2/too_early", "T2/tick", "T2/after_outage"}));
}

TEST(IsOver, needs_both_the_deadline_and_the_end_of_the_grace) {
    for (const std::int64_t deadline : {99, 100, 101}) {
        for (const std::int64_t grace : {99, 100, 101}) {
            const ServiceTick clock{.now = ServiceTime{100}, .grace_until = ServiceTime{grace}};
            EXPECT_EQ(is_over(ServiceTime{deadline}, clock), deadline <= 100 && grace <= 100);
        }
    }
}

}  // namespace
}  // namespace perdure::service_time_test
