#include "core/ownership/timeouts.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace perdure::timeouts_test {
namespace {

using Kind = WaitDecision::Kind;

constexpr ServiceTime now{1'000};
constexpr WallTime wall{9'000};

std::vector<std::optional<ServiceTime>> instants() {
    return {std::nullopt, ServiceTime{999}, ServiceTime{1'000}, ServiceTime{1'001}};
}

std::vector<WaitFacts> every_combination() {
    const std::optional<WallTime> dates[] = {std::nullopt, WallTime{8'999}, WallTime{9'000},
                                             WallTime{9'001}};
    std::vector<WaitFacts> all;
    for (const auto& row : places)
        for (const auto queue : instants())
            for (const auto total : instants())
                for (const auto due : instants())
                    for (const auto date : dates)
                        for (const auto kept : instants())
                            for (const bool kill : {false, true})
                                all.push_back(
                                    {row.state, queue, total, due, date, kept, kill, now, wall});
    return all;
}

template <class Time>
bool passed(std::optional<Time> deadline, Time at) {
    return deadline && at >= *deadline;
}
bool in_run(const WaitFacts& f) { return place_of(f.state).place == Place::run; }
bool queued(const WaitFacts& f) {
    return f.state == JobState::ready || f.state == JobState::blocked ||
           f.state == JobState::waiting;
}
bool total_passed(const WaitFacts& f) { return passed(f.total_deadline, f.now); }

// J3.
TEST(DecideWait, leaves_alone_what_has_ended) {
    for (const auto& f : every_combination())
        if (has_ended(f.state)) {
            EXPECT_EQ(decide_wait(f).kind, Kind::wait);
        }
}

TEST(DecideWait, does_nothing_before_a_deadline) {
    for (const auto& f : every_combination()) {
        const bool any = passed(f.queue_deadline, f.now) || total_passed(f) ||
                         passed(f.due, f.now) || passed(f.date, f.wall) ||
                         passed(f.kept_until, f.now);
        if (!any) {
            EXPECT_EQ(decide_wait(f).kind, Kind::wait);
        }
    }
}

// E5: total counts over everything, in whichever place the job is [P3].
TEST(DecideWait, ends_a_job_at_its_total_timeout_wherever_it_is) {
    for (const auto& f : every_combination()) {
        if (has_ended(f.state) || !total_passed(f)) continue;
        const auto decision = decide_wait(f);
        EXPECT_EQ(decision.cause, Cause::timeout_total);
        const auto in_run_kind = f.kill_ordered ? Kind::wait : Kind::order_kill;
        EXPECT_EQ(decision.kind, in_run(f) ? in_run_kind : Kind::fail);
    }
}

TEST(DecideWait, expires_only_what_waits_in_line_and_exactly_at_its_queue_timeout) {
    for (const auto& f : every_combination()) {
        if (total_passed(f)) continue;
        const bool over = queued(f) && passed(f.queue_deadline, f.now);
        EXPECT_EQ(decide_wait(f).kind == Kind::expire, over);
    }
}

TEST(DecideWait, frees_what_is_kept_too_long) {
    for (const auto& f : every_combination()) {
        if (has_ended(f.state) || total_passed(f)) continue;
        if (queued(f) && passed(f.queue_deadline, f.now)) continue;
        EXPECT_EQ(decide_wait(f).kind == Kind::free_holders, passed(f.kept_until, f.now));
    }
}

// T1: a date is compared with wall time, a duration with service time.
TEST(DecideWait, makes_a_job_ready_when_its_time_has_come) {
    for (const auto& f : every_combination()) {
        if (total_passed(f) || passed(f.kept_until, f.now)) continue;
        if (queued(f) && passed(f.queue_deadline, f.now)) continue;
        const bool has_a_time = f.state == JobState::scheduled || f.state == JobState::waiting;
        const bool due = passed(f.due, f.now) || passed(f.date, f.wall);
        EXPECT_EQ(decide_wait(f).kind == Kind::make_ready, has_a_time && due);
    }
}

TEST(DecideWait, orders_a_kill_only_of_what_runs_and_only_once) {
    for (const auto& f : every_combination()) {
        if (decide_wait(f).kind != Kind::order_kill) continue;
        EXPECT_TRUE(in_run(f));
        EXPECT_FALSE(f.kill_ordered);
    }
}

TEST(DecideWait, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_combination()) rules.insert(decide_wait(f).rule);
    EXPECT_EQ(rules,
              (std::set<std::string_view>{"E5/ended", "E5/total", "E5/kill_is_ordered", "E5/queue",
                                          "C4/kept_too_long", "E5/due", "E5/not_yet"}));
}

TEST(DecideRetention, keeps_what_waits_for_a_person) {
    const Timing timing;
    for (const auto& place : places) {
        if (!has_ended(place.state)) continue;
        for (const bool discarded : {false, true}) {
            const bool unresolved = place.state == JobState::quarantined && !discarded;
            EXPECT_EQ(decide_retention(place.state, discarded, timing),
                      unresolved ? timing.unresolved : timing.retention);
        }
    }
}

}  // namespace
}  // namespace perdure::timeouts_test
