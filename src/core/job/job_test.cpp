#include "core/job/job.h"

#include <gtest/gtest.h>

#include <set>

namespace perdure::job_test {
namespace {

TEST(Places, every_state_stands_in_its_own_row) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        EXPECT_EQ(static_cast<std::size_t>(places[i].state), i);
        EXPECT_EQ(&place_of(places[i].state), &places[i]);
    }
    EXPECT_EQ(static_cast<std::size_t>(JobState::quarantined) + 1, places.size());
}

// J1: no place without somebody or something that ends the stay.
TEST(Places, every_place_has_an_owner_or_a_deadline) {
    std::set<std::string_view> names;
    for (const auto& row : places) {
        EXPECT_FALSE(row.kept_by.empty()) << row.name;
        EXPECT_FALSE(row.left_by.empty()) << row.name;
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_EQ(to_string(row.state), row.name);
    }
}

TEST(Places, are_as_in_the_table) {
    const std::pair<std::string_view, Place> table[] = {
        {"scheduled", Place::timer},     {"ready", Place::ready},
        {"blocked", Place::blocked},     {"starting", Place::run},
        {"running", Place::run},         {"waiting", Place::wait},
        {"succeeded", Place::outcome},   {"failed", Place::outcome},
        {"cancelled", Place::outcome},   {"expired", Place::outcome},
        {"quarantined", Place::outcome},
    };
    ASSERT_EQ(std::size(table), places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        EXPECT_EQ(places[i].name, table[i].first);
        EXPECT_EQ(places[i].place, table[i].second) << table[i].first;
    }
}

// J3: only a person leads out of an end, and only out of quarantine.
TEST(Places, an_ended_state_is_left_by_nobody_but_a_person) {
    for (const auto& row : places) {
        const bool by_a_person = row.left_by.find("a person's") != std::string_view::npos;
        EXPECT_EQ(has_ended(row.state), row.left_by == "never" || by_a_person) << row.name;
        EXPECT_EQ(by_a_person, row.state == JobState::quarantined) << row.name;
        EXPECT_EQ(has_ended(row.state), row.place == Place::outcome) << row.name;
    }
}

TEST(Places, what_waits_for_a_claim_neither_runs_nor_has_ended) {
    for (const auto& row : places) {
        const bool waits =
            row.place == Place::timer || row.place == Place::ready || row.place == Place::blocked;
        EXPECT_EQ(is_waiting_for_a_claim(row.state), waits) << row.name;
    }
}

TEST(Places, what_has_not_been_claimed_and_has_not_ended_can_be_held) {
    for (const auto& row : places)
        EXPECT_EQ(can_be_held(row.state), row.place != Place::run && !has_ended(row.state));
}

// J2.
TEST(Epoch, rises_by_one) {
    EXPECT_EQ(Epoch{}.next(), Epoch{1});
    EXPECT_LT(Epoch{7}, Epoch{7}.next());
}

TEST(AttemptKey, tells_attempts_of_one_job_apart) {
    const AttemptKey first{JobId{5}, Epoch{1}};
    const AttemptKey second{JobId{5}, Epoch{2}};
    EXPECT_NE(first, second);
    EXPECT_LT(first, second);
}

TEST(JobSpec, needs_holders_for_a_key_and_for_each_limit) {
    EXPECT_FALSE(JobSpec{}.needs_holders());
    EXPECT_TRUE(JobSpec{.key = "a"}.needs_holders());
    EXPECT_TRUE(JobSpec{.limits = {"b"}}.needs_holders());
}

TEST(JobSpec, has_a_deadline_for_waiting_and_for_running_unless_told_otherwise) {
    EXPECT_EQ(JobSpec{}.timeouts.queue, days(7));
    EXPECT_EQ(JobSpec{}.timeouts.run, hours(24));
}

TEST(Effects, are_spelt_as_in_the_table) {
    EXPECT_EQ(to_string(Effects::repeatable), "repeatable");
    EXPECT_EQ(to_string(Effects::resumable), "resumable");
    EXPECT_EQ(to_string(Effects::once), "once");
    EXPECT_EQ(JobSpec{}.effects, Effects::repeatable);
}

}  // namespace
}  // namespace perdure::job_test
