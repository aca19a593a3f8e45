// Whatever lies between them in the table: those that leave are gone, and no others.
#include "store/sqlite/tables/range_delete.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace perdure::store::sqlite {
namespace {

using Keys = std::vector<std::int64_t>;

class RangeDeleteTest : public testing::Test {
protected:
    RangeDeleteTest() { connection.run("CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT"); }

    void fill(const Keys& keys) {
        Statement insert(connection, "INSERT INTO t (id) VALUES (?)");
        for (const auto key : keys) insert.run_one({key});
    }
    Keys left() {
        Keys keys;
        Statement all(connection, "SELECT id FROM t ORDER BY id");
        auto row = all.query({});
        while (row.next()) keys.push_back(row.number(0));
        return keys;
    }
    // The ranges that left.
    std::vector<KeyRange> leave(const Keys& keys) {
        std::vector<KeyRange> ranges;
        for (const auto key : keys) rows.add(JobId{static_cast<std::uint64_t>(key)});
        rows.finish([&](const KeyRange& range) { ranges.push_back(range); });
        return ranges;
    }

    Connection connection{":memory:", Connection::Access::create};
    RangeDelete rows{connection, "t", "id"};
};

Keys from_to(std::int64_t first, std::int64_t last, std::int64_t step = 1) {
    Keys keys;
    for (auto key = first; key <= last; key += step) keys.push_back(key);
    return keys;
}

// All subsets of a small table, repeated so that neighbours are looked for.
TEST_F(RangeDeleteTest, takes_exactly_those_that_leave) {
    for (unsigned bits = 1; bits < 1U << 8; ++bits) {
        connection.run("DELETE FROM t");
        Keys goes, stays, all = from_to(1, 8 * 8);
        for (const auto key : all) ((bits >> (key % 8)) & 1U ? goes : stays).push_back(key);
        fill(all);
        std::reverse(goes.begin(), goes.end());
        leave(goes);
        EXPECT_EQ(left(), stays) << bits;
    }
}

TEST_F(RangeDeleteTest, neighbours_leave_as_one_range_whatever_their_distance) {
    fill(from_to(10, 400, 10));
    const auto ranges = leave(from_to(10, 300, 10));
    ASSERT_EQ(ranges.size(), 1U);
    EXPECT_EQ(ranges[0].first, 10);
    EXPECT_EQ(ranges[0].last, 300);
    EXPECT_EQ(left(), from_to(310, 400, 10));
}

TEST_F(RangeDeleteTest, no_range_goes_over_a_row_that_stays) {
    fill(from_to(1, 40));
    auto goes = from_to(1, 40);
    std::erase(goes, 20);
    const auto ranges = leave(goes);
    ASSERT_EQ(ranges.size(), 2U);
    EXPECT_EQ(ranges[0].last, 19);
    EXPECT_EQ(ranges[1].first, 21);
    EXPECT_EQ(left(), Keys{20});
}

// More of them than are looked at: the others leave one by one.
TEST_F(RangeDeleteTest, many_that_stay_between_them_do_no_harm) {
    fill(from_to(1, 10'000));
    const auto goes = from_to(1, 10'000, 100);
    leave(goes);
    auto stays = from_to(1, 10'000);
    std::erase_if(stays, [](std::int64_t key) { return key % 100 == 1; });
    EXPECT_EQ(left(), stays);
}

// C3. One is missing, and another lies beside it: as many rows, but not the same.
TEST_F(RangeDeleteTest, a_row_that_is_missing_is_corrupt) {
    auto there = from_to(1, 40);
    std::erase(there, 20);
    fill(there);
    auto goes = from_to(20, 40);
    std::erase(goes, 21);
    try {
        leave(goes);
        FAIL() << "nobody noticed";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.error.code, Errc::corrupt);
    }
}

}  // namespace
}  // namespace perdure::store::sqlite
