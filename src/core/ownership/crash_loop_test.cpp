#include "core/ownership/crash_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace perdure::crash_loop_test {
namespace {

BootTime at(std::int64_t s) { return {s * 1'000'000}; }

std::vector<BootTime> at_all(const std::vector<std::int64_t>& seconds) {
    std::vector<BootTime> all;
    for (const auto s : seconds) all.push_back(at(s));
    return all;
}

// All rows of up to eleven crashes whose distances are 5 s, 25 s or 61 s.
std::vector<CrashHistory> every_history() {
    std::vector<std::vector<std::int64_t>> rows = {{}};
    std::vector<CrashHistory> all;
    for (std::size_t length = 0; length <= 6; ++length) {
        std::vector<std::vector<std::int64_t>> longer;
        for (const auto& row : rows) {
            for (const bool crashed : {false, true}) all.push_back({crashed, at_all(row)});
            for (const std::int64_t gap : {5, 25, 61}) {
                longer.push_back(row);
                longer.back().push_back(row.empty() ? gap : row.back() + gap);
            }
        }
        rows = std::move(longer);
    }
    for (const std::int64_t gap : {5, 25, 50}) {
        std::vector<std::int64_t> row;
        for (std::int64_t i = 1; i <= 11; ++i) row.push_back(i * gap);
        for (const bool crashed : {false, true}) all.push_back({crashed, at_all(row)});
    }
    return all;
}

bool has_three_in_a_minute(const std::vector<BootTime>& crashes, std::size_t among) {
    for (std::size_t i = 0; i + 2 < among; ++i)
        if (crashes[i + 2] - crashes[i] <= minutes(1)) return true;
    return false;
}

TEST(CrashesInARow, are_each_within_a_minute_of_the_next) {
    EXPECT_TRUE(crashes_in_a_row({}, at(100)).empty());
    EXPECT_EQ(crashes_in_a_row(at_all({10, 60, 100}), at(130)), at_all({10, 60, 100}));
    EXPECT_EQ(crashes_in_a_row(at_all({10, 71, 100}), at(130)), at_all({71, 100}));
    EXPECT_EQ(crashes_in_a_row(at_all({100, 60, 10}), at(160)), at_all({10, 60, 100}));
    EXPECT_TRUE(crashes_in_a_row(at_all({10, 60, 100}), at(161)).empty());
}

TEST(CrashesInARow, are_not_kept_without_a_bound) {
    std::vector<std::int64_t> many;
    for (std::int64_t i = 0; i < 1000; ++i) many.push_back(i);
    const auto kept = crashes_in_a_row(at_all(many), at(1000));
    EXPECT_EQ(kept.size(), 16U);
    EXPECT_EQ(kept.back(), at(999));
}

// O9, [P6].
TEST(DecideCrashLoop, begins_at_three_crashes_in_a_minute_and_judges_at_each_further_one) {
    for (const auto& h : every_history()) {
        const auto decision = decide_crash_loop(h, {});
        const auto count = h.crashes.size();
        const bool probation = has_three_in_a_minute(h.crashes, count);
        EXPECT_EQ(decision.on_probation, probation);
        const bool before = count > 0 && has_three_in_a_minute(h.crashes, count - 1);
        EXPECT_EQ(decision.ends_one, before && h.follows_a_crash);
        EXPECT_EQ(decision.spares_nobody, probation && count >= 10);
    }
}

// A job that takes half a minute to kill its worker must not hide behind the minute.
TEST(DecideCrashLoop, goes_on_while_each_crash_comes_within_a_minute_of_the_one_before) {
    const CrashHistory slow{true, at_all({0, 25, 50, 100, 150})};
    EXPECT_TRUE(decide_crash_loop(slow, {}).ends_one);
}

TEST(DecideCrashLoop, can_be_switched_off) {
    for (const auto& h : every_history())
        EXPECT_FALSE(decide_crash_loop(h, {.probation_step = Duration{}}).on_probation);
}

std::vector<CrashWitness> every_witness() {
    std::vector<CrashWitness> all;
    for (const std::uint64_t life : {7, 8})
        for (const bool alive : {false, true})
            for (const auto effects : {Effects::repeatable, Effects::resumable, Effects::once})
                for (const auto policy : {PolicyName::default_, PolicyName::never})
                    all.push_back({.life = life,
                                   .assignment = life == 7 ? 9U : 1U,
                                   .alive = alive,
                                   .effects = effects,
                                   .policy = policy});
    return all;
}

// Everything that can have run at a crash, up to three attempts.
std::vector<CulpritFacts> every_crash() {
    std::vector<std::vector<CrashWitness>> sets = {{}};
    std::vector<CulpritFacts> all;
    for (std::uint64_t n = 1; n <= 3; ++n) {
        std::vector<std::vector<CrashWitness>> larger;
        for (const auto& set : sets) {
            for (auto witness : every_witness()) {
                witness.attempt = {JobId{n}, Epoch{1}};
                witness.assignment += n;
                larger.push_back(set);
                larger.back().push_back(witness);
            }
        }
        sets = std::move(larger);
        for (const auto& set : sets)
            for (const bool spares_nobody : {false, true}) all.push_back({set, spares_nobody});
    }
    all.push_back({});
    return all;
}

bool is_spared(const CrashWitness& w) {
    return w.effects != Effects::repeatable || w.policy == PolicyName::never;
}

TEST(DecideCulprit, is_alive_and_may_be_repeated_unless_nobody_is_spared) {
    for (const auto& f : every_crash()) {
        const auto decision = decide_culprit(f);
        const bool any = std::any_of(f.ran.begin(), f.ran.end(), [&](const CrashWitness& w) {
            return w.alive && (f.spares_nobody || !is_spared(w));
        });
        ASSERT_EQ(decision.attempt.has_value(), any);
        if (!any) continue;
        const auto& chosen = f.ran.at(decision.attempt->job.value - 1);
        EXPECT_TRUE(chosen.alive);
        EXPECT_TRUE(f.spares_nobody || !is_spared(chosen));
    }
}

TEST(DecideCulprit, is_charged_only_if_nobody_else_ran) {
    for (const auto& f : every_crash()) {
        const auto decision = decide_culprit(f);
        if (!decision.attempt) continue;
        EXPECT_EQ(decision.cause, f.ran.size() == 1 ? Cause::crash_worker : Cause::suspect);
    }
}

// Assignment numbers begin anew with each session: a later life counts before them.
TEST(DecideCulprit, is_the_youngest_of_those_that_may_be_chosen) {
    for (const auto& f : every_crash()) {
        const auto decision = decide_culprit(f);
        if (!decision.attempt) continue;
        const auto& chosen = f.ran.at(decision.attempt->job.value - 1);
        for (const auto& other : f.ran) {
            if (other.alive && (f.spares_nobody || !is_spared(other))) {
                EXPECT_LE(other.age(), chosen.age());
            }
        }
    }
}

std::vector<SlotFacts> every_slots() {
    std::vector<SlotFacts> all;
    for (const std::uint32_t slots : {1, 2, 8, 100})
        for (const bool probation : {false, true})
            for (const bool nobody : {false, true})
                for (const std::uint32_t adopted : {0, 1, 7, 100, 200})
                    for (const std::uint32_t good : {0, 1, 2, 3, 7, 1'000'000})
                        for (const auto alive : {Duration{}, seconds(19), seconds(20), days(30)})
                            all.push_back({slots, probation, nobody, adopted, good, alive});
    return all;
}

TEST(DecideSlots, never_offers_more_than_is_configured) {
    for (const auto& f : every_slots()) {
        EXPECT_LE(decide_slots(f, {}).slots, f.slots);
        if (!f.on_probation) {
            EXPECT_EQ(decide_slots(f, {}).slots, f.slots);
        }
    }
}

// O9: one slot with eight adopted would mean no claim for hours.
TEST(DecideSlots, offers_one_more_than_is_adopted_from_the_first_moment_on) {
    for (const auto& f : every_slots()) {
        if (f.spares_nobody) continue;
        EXPECT_GE(decide_slots(f, {}).slots, std::min(f.slots, f.adopted + 1));
    }
}

TEST(DecideSlots, doubles_with_each_good_end_and_each_step_without_a_crash) {
    const SlotFacts begin{.slots = 100, .on_probation = true, .adopted = 5};
    const auto offered = [&](std::uint32_t good_ends, Duration alive_for) {
        auto facts = begin;
        facts.good_ends = good_ends;
        facts.alive_for = alive_for;
        return decide_slots(facts, {}).slots;
    };
    EXPECT_EQ(offered(0, {}), 6U);
    EXPECT_EQ(offered(1, {}), 7U);
    EXPECT_EQ(offered(2, {}), 9U);
    EXPECT_EQ(offered(0, seconds(40)), 9U);
    EXPECT_EQ(offered(3, seconds(20)), 21U);
    EXPECT_EQ(offered(7, {}), 100U);
}

// Otherwise each life takes a new attempt, ends that one, and never comes to the culprit.
TEST(DecideSlots, takes_nothing_new_after_ten_crashes_until_something_went_well) {
    SlotFacts facts{.slots = 8, .on_probation = true, .spares_nobody = true, .adopted = 2};
    EXPECT_EQ(decide_slots(facts, {}).slots, 2U);
    facts.good_ends = 1;
    EXPECT_EQ(decide_slots(facts, {}).slots, 3U);
    facts.good_ends = 2;
    EXPECT_EQ(decide_slots(facts, {}).slots, 4U);
}

TEST(IsGoodEnd, is_what_ran_and_ended_by_itself) {
    EXPECT_TRUE(is_good_end({.cause = Cause::exit, .ran = Ran::yes, .succeeded = true}));
    EXPECT_TRUE(is_good_end({.cause = Cause::exit, .ran = Ran::yes, .exit_code = 1}));
    EXPECT_FALSE(is_good_end({.cause = Cause::exit, .ran = Ran::no}));
    EXPECT_FALSE(is_good_end({.cause = Cause::suspect, .ran = Ran::yes}));
    EXPECT_FALSE(is_good_end({.cause = Cause::crash_signal, .ran = Ran::yes}));
    EXPECT_FALSE(is_good_end({.cause = Cause::shim_lost, .ran = Ran::maybe}));
}

TEST(DecideCrashLoop, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& h : every_history()) rules.insert(decide_crash_loop(h, {}).rule);
    rules.insert(decide_crash_loop({}, {.probation_step = Duration{}}).rule);
    for (const auto& f : every_crash()) rules.insert(decide_culprit(f).rule);
    for (const auto& f : every_slots()) rules.insert(decide_slots(f, {}).rule);
    EXPECT_EQ(rules,
              (std::set<std::string_view>{"O9/start_normally", "O9/probation", "O9/end_one",
                                          "O9/switched_off", "O9/ran_alone", "O9/youngest",
                                          "O9/spared", "O9/nothing_runs", "O9/probation_is_over"}));
}

}  // namespace
}  // namespace perdure::crash_loop_test
