#include "base/id.h"

#include <gtest/gtest.h>

#include <set>

namespace perdure::id_test {
namespace {

TEST(Id, text_is_thirteen_characters_and_sorts_like_the_value) {
    const std::uint64_t values[] = {0, 1, 31, 32, 1ULL << 40, (1ULL << 63) - 1};
    std::string before;
    for (const auto value : values) {
        const auto text = id_text(value);
        EXPECT_EQ(text.size(), 13U);
        EXPECT_LT(before, text);
        EXPECT_EQ(id_value(text), value);
        before = text;
    }
}

TEST(Id, refuses_text_that_it_did_not_write) {
    for (const auto* text : {"", "0", "00000000000000", "000000000000i", "8000000000000",
                             "000000000000A", "0000000 00000"}) {
        EXPECT_FALSE(id_value(text)) << text;
    }
}

TEST(IdSource, stays_monotone_when_the_wall_clock_steps_back) {
    IdSource source(3, 0);
    std::uint64_t last = 0;
    for (const std::int64_t second : {100, 50, 200, 0, 199, -5}) {
        const auto id = source.next(WallTime{second * 1'000'000});
        EXPECT_GT(id, last);
        last = id;
    }
}

TEST(IdSource, goes_on_above_the_stored_high_water_mark) {
    IdSource before(3, 0);
    for (int i = 0; i < 5; ++i) before.next(WallTime{9'000'000});
    IdSource after(3, before.high_water());
    EXPECT_GT(after.next(WallTime{1'000'000}), before.high_water());
}

// Numbers go round: the next one may be lower than the one whose server drew the mark.
TEST(IdSource, goes_on_above_a_mark_that_another_number_has_drawn) {
    constexpr WallTime drawn_at{9'000'000};
    for (const std::uint32_t number : {0U, 3U, IdSource::server_number_max}) {
        for (const std::int64_t clock_us : {0, 8'000'000, 9'000'000, 9'000'999}) {
            IdSource before(510, 0);
            const auto mark = before.next(drawn_at);
            IdSource after(number, mark);
            const auto first = after.next(WallTime{clock_us});
            EXPECT_GT(first, mark);
            EXPECT_GT(after.next(WallTime{clock_us}), first);
        }
    }
}

TEST(IdSource, ids_tell_when_they_were_drawn) {
    IdSource ids(511, 0);
    const auto drawn = ids.next(WallTime{1'700'000'000'123'456});
    EXPECT_EQ(time_of_id(drawn), WallTime{1'700'000'000'123'000});
    EXPECT_EQ(time_of_id(ids.next(WallTime{1})), WallTime{1'700'000'000'123'000});
}

TEST(IdSource, two_servers_never_make_the_same_id) {
    IdSource a(1, 0);
    IdSource b(2, 0);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 10'000; ++i) {
        EXPECT_TRUE(seen.insert(a.next(WallTime{i})).second);
        EXPECT_TRUE(seen.insert(b.next(WallTime{i})).second);
    }
}

}  // namespace
}  // namespace perdure::id_test
