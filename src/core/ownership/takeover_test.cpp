#include "core/ownership/takeover.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "core/policy/recovery.h"

namespace perdure::takeover_test {
namespace {

constexpr Timing timing;
using Phase = Listed::Phase;

std::vector<OpeningFacts> every_opening() {
    std::vector<OpeningFacts> all;
    for (const bool previous : {false, true})
        for (const bool same_boot : {false, true})
            for (const std::uint64_t life : {4, 5, 6})
                for (const std::int64_t silence : {0, 3'999'999, 4'000'000, 4'000'001, 60'000'000})
                    all.push_back({.has_previous = previous,
                                   .same_boot = same_boot,
                                   .previous_life = 5,
                                   .life = life,
                                   .previous_heard_at = ServiceTime{100},
                                   .clock = {.now = ServiceTime{100 + silence}}});
    return all;
}

TEST(DecideOpening, is_fresh_exactly_for_a_new_directory) {
    for (const auto& f : every_opening())
        EXPECT_EQ(decide_opening(f, timing).opening == Opening::fresh, !f.has_previous);
}

// O5: the opening message counts once.
TEST(DecideOpening, takes_over_only_for_a_later_life) {
    for (const auto& f : every_opening()) {
        const auto opening = decide_opening(f, timing).opening;
        const bool takes = opening == Opening::take_over || opening == Opening::after_reboot;
        if (takes) {
            EXPECT_GT(f.life, f.previous_life);
        }
        if (f.has_previous && f.life < f.previous_life) {
            EXPECT_EQ(opening, Opening::stale);
        }
    }
}

TEST(DecideOpening, answers_a_repeated_message_with_the_same_session) {
    for (const auto& f : every_opening()) {
        const bool repeated = f.has_previous && f.life == f.previous_life && f.same_boot;
        EXPECT_EQ(decide_opening(f, timing).opening == Opening::repeated, repeated);
    }
}

// Else everything reruns beside the old processes.
TEST(DecideOpening, another_boot_is_refused_while_the_old_session_is_heard) {
    for (const auto& f : every_opening()) {
        const bool other_boot = f.has_previous && !f.same_boot && f.life > f.previous_life;
        const bool heard = f.clock.now - f.previous_heard_at < seconds(4);
        const auto opening = decide_opening(f, timing).opening;
        EXPECT_EQ(opening == Opening::clone, other_boot && heard);
        EXPECT_EQ(opening == Opening::after_reboot, other_boot && !heard);
    }
}

TEST(DecideOpening, takes_over_at_once_in_the_same_boot) {
    for (const auto& f : every_opening()) {
        const bool next_life = f.has_previous && f.same_boot && f.life > f.previous_life;
        EXPECT_EQ(decide_opening(f, timing).opening == Opening::take_over, next_life);
    }
}

TEST(DecideOpening, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_opening()) rules.insert(decide_opening(f, timing).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"O5/new_directory", "O5/earlier_life",
                                                 "O5/counts_once", "O5/copied_directory",
                                                 "O5/takeover", "O5/clone", "O5/rebooted"}));
}

TEST(StateDirectory, is_the_same_place_also_after_a_reboot) {
    const StateDirectory place{"machine", "boot", 1, 2};
    for (const auto& [other, same] : {std::pair{StateDirectory{"machine", "other", 1, 2}, true},
                                      {StateDirectory{"other", "boot", 1, 2}, false},
                                      {StateDirectory{"machine", "boot", 9, 2}, false},
                                      {StateDirectory{"machine", "boot", 1, 9}, false}})
        EXPECT_EQ(place.same_place(other), same);
}

std::vector<InheritFacts> every_inheritance() {
    std::vector<std::optional<Listed>> lists = {std::nullopt};
    for (const auto phase : {Phase::unstarted, Phase::running, Phase::ended})
        lists.push_back(Listed{.phase = phase});
    std::vector<InheritFacts> all;
    for (const bool same_boot : {false, true})
        for (const auto& listed : lists)
            for (const auto state : {JobState::starting, JobState::running})
                for (const bool asks : {false, true})
                    for (const bool clean : {false, true})
                        for (const bool alone : {false, true})
                            for (const auto order :
                                 {std::optional<Cause>{}, std::optional{Cause::cancelled},
                                  std::optional{Cause::timeout_total}})
                                all.push_back(
                                    {same_boot, listed, state, asks, clean, alone, order});
    return all;
}

bool has_result(const InheritFacts& f) { return f.listed && f.listed->phase == Phase::ended; }

TEST(DecideInherit, a_result_on_disk_is_reported_by_the_new_session_also_after_a_reboot) {
    for (const auto& f : every_inheritance())
        if (has_result(f)) {
            EXPECT_FALSE(decide_inherit(f).end);
        }
}

// A worker killed and restarted finds its jobs again: none is run a second time.
TEST(DecideInherit, everything_on_disk_goes_over_in_the_same_boot) {
    for (const auto& f : every_inheritance())
        if (f.same_boot) {
            EXPECT_EQ(decide_inherit(f).end.has_value(), !f.listed);
        }
}

TEST(DecideInherit, after_a_reboot_everything_without_a_result_ends_at_once) {
    for (const auto& f : every_inheritance())
        if (!f.same_boot) {
            EXPECT_EQ(decide_inherit(f).end.has_value(), !has_result(f));
        }
}

// O4: who holds the lock knows. A directory without `started` did not run, whatever was committed;
// a confirmed start of one that need not ask did happen. Such a one syncs nothing before it starts:
// after a reboot nobody knows. One that asks syncs its directory before: if its go was committed
// and there is no directory, that was lost, and it may have run.
TEST(DecideInherit, says_no_only_for_what_cannot_have_run) {
    for (const auto& f : every_inheritance()) {
        const auto end = decide_inherit(f).end;
        if (!end) continue;
        const bool confirmed = f.state == JobState::running && !f.asks;
        const bool listed = f.listed && f.listed->phase == Phase::running;
        const bool perhaps_lost = !f.same_boot && !f.asks;
        const bool was_lost = f.state == JobState::running && f.asks && !f.listed;
        const bool maybe = listed || perhaps_lost || was_lost;
        const auto expected = confirmed ? Ran::yes : maybe ? Ran::maybe : Ran::no;
        EXPECT_EQ(end->ran, expected);
    }
}

// E4: a new boot id is the proof that the host was lost.
TEST(DecideInherit, names_the_cause_that_is_proven) {
    for (const auto& f : every_inheritance()) {
        const auto end = decide_inherit(f).end;
        if (!end) continue;
        const auto seen = f.same_boot ? Cause::worker_lost : Cause::host_lost;
        EXPECT_EQ(end->cause, f.kill_cause.value_or(seen));
        EXPECT_EQ(end->clean, f.clean);
        EXPECT_EQ(end->alone, f.alone);
    }
}

// O1: these processes are known to be dead, so nobody may reinstate them.
TEST(DecideInherit, its_ends_are_facts_and_no_presumptions) {
    for (const auto& f : every_inheritance()) {
        const auto end = decide_inherit(f).end;
        if (end) {
            EXPECT_TRUE(end->reported);
        }
        if (end) {
            EXPECT_FALSE(end->succeeded);
        }
    }
}

// [P4], O5: `once` is quarantined without hold, unless it cannot have run.
TEST(DecideInherit, a_once_job_that_may_have_run_is_quarantined) {
    for (const auto& f : every_inheritance()) {
        const auto end = decide_inherit(f).end;
        if (!end || f.kill_cause || !f.asks) continue;
        const auto next =
            decide_next({.end = *end, .effects = Effects::once, .counts = with({}, *end)});
        const bool has_started = f.listed && f.listed->phase == Phase::running;
        const bool may_have_run = has_started || (!f.listed && f.state == JobState::running);
        EXPECT_EQ(next.state == JobState::quarantined, may_have_run);
        EXPECT_EQ(next.kind == Next::Kind::again_now, !may_have_run);
    }
}

TEST(DecideInherit, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_inheritance()) rules.insert(decide_inherit(f).rule);
    EXPECT_EQ(rules,
              (std::set<std::string_view>{"O5/result_on_disk", "O5/on_disk", "O5/not_on_disk",
                                          "O5/directory_lost", "O5/rebooted"}));
}

}  // namespace
}  // namespace perdure::takeover_test
