#include "store/engine/state/slots.h"

#include <gtest/gtest.h>

#include <random>

namespace perdure::store {
namespace {

TEST(Slots, the_lowest_free_one_is_given_again) {
    Slots slots;
    for (std::uint64_t job = 1; job <= 5; ++job) slots.take(slots.lowest_free(), JobId{job});
    EXPECT_EQ(slots.lowest_free(), 6u);
    slots.release(2);
    slots.release(4);
    EXPECT_EQ(slots.lowest_free(), 2u);
    slots.take(2, JobId{6});
    EXPECT_EQ(slots.lowest_free(), 4u);
    EXPECT_EQ(slots.held_by(JobId{6}), 2u);
    EXPECT_EQ(slots.held_by(JobId{2}), std::nullopt);
}

TEST(Slots, a_job_with_several_is_known_by_each_of_them) {
    Slots slots;
    slots.take(7, JobId{1});
    slots.take(Slots::odd_min, JobId{1});
    EXPECT_EQ(slots.held_by(JobId{1}), 7u);
    slots.release(7);
    EXPECT_EQ(slots.held_by(JobId{1}), Slots::odd_min);
    EXPECT_EQ(slots.lowest_free(), 1u);
}

// Against the obvious way: a list that is searched from its beginning.
TEST(Slots, as_a_list_would_have_it) {
    std::mt19937 random(1);
    Slots slots;
    std::map<Slots::Number, JobId> list;
    for (std::uint64_t step = 1; step <= 3'000; ++step) {
        if (random() % 2 == 0 && !list.empty()) {
            const auto at = std::next(list.begin(), static_cast<int>(random() % list.size()));
            slots.release(at->first);
            list.erase(at);
        } else {
            const auto any = static_cast<Slots::Number>(random() % 40 + 1);
            const auto slot = random() % 3 == 0 ? any : slots.lowest_free();
            if (list.contains(slot)) continue;
            slots.take(slot, JobId{step});
            list.emplace(slot, JobId{step});
        }
        Slots::Number lowest = 1;
        while (list.contains(lowest)) ++lowest;
        ASSERT_EQ(slots.lowest_free(), lowest) << "after step " << step;
        ASSERT_EQ(slots.jobs(), list);
        for (const auto& [slot, job] : list) ASSERT_EQ(slots.held_by(job), slot);
    }
}

}  // namespace
}  // namespace perdure::store
