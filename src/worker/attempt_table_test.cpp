#include "worker/attempt_table.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

AttemptKey key(std::uint64_t job, std::uint32_t epoch) { return {JobId{job}, {epoch}}; }

TEST(AttemptTable, lists_attempts_as_they_came) {
    AttemptTable table;
    const std::vector<AttemptKey> came = {key(7, 1), key(3, 2), key(5, 1), key(3, 1)};
    for (const auto each : came) table.add(each, {});
    EXPECT_EQ(table.keys(), came);

    table.erase(key(3, 2));
    table.erase(key(9, 9));
    EXPECT_EQ(table.keys(), (std::vector{key(7, 1), key(5, 1), key(3, 1)}));
    EXPECT_EQ(table.find(key(3, 2)), nullptr);
    EXPECT_TRUE(table.contains(key(3, 1)));
    ASSERT_EQ(table.for_heartbeat().size(), 3U);
    EXPECT_EQ(table.for_heartbeat()[1].attempt, key(5, 1));
}

TEST(AttemptTable, knows_the_newest_other_epoch_of_a_job) {
    AttemptTable table;
    for (std::uint64_t job = 1; job <= 100; ++job) table.add(key(job, 1), {});
    EXPECT_EQ(table.other_epoch(key(7, 1)), std::nullopt);
    EXPECT_EQ(table.other_epoch(key(101, 1)), std::nullopt);
    table.add(key(7, 5), {});
    table.add(key(7, 3), {});
    EXPECT_EQ(table.other_epoch(key(7, 9)), Epoch{5});
    EXPECT_EQ(table.other_epoch(key(7, 5)), Epoch{3});
}

TEST(AssignmentNumbers, are_handled_once_in_any_order) {
    AssignmentNumbers numbers;
    for (const std::uint64_t number : {5U, 6U, 2U, 9U, 6U}) numbers.handle(number);
    for (const std::uint64_t number : {2U, 5U, 6U, 9U}) EXPECT_TRUE(numbers.is_handled(number));
    for (const std::uint64_t number : {1U, 3U, 7U, 10U}) EXPECT_FALSE(numbers.is_handled(number));
    numbers.see(9);
    EXPECT_EQ(numbers.name(), 9U);
    EXPECT_FALSE(numbers.is_handled(9));
}

}  // namespace
}  // namespace perdure
