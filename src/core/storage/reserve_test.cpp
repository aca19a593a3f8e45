#include "core/storage/reserve.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

constexpr std::uint64_t reserve_mib = std::uint64_t{1} << 20;

// P11
TEST(DecideSpace, refuses_submits_exactly_below_the_reserve) {
    for (const auto disk :
         {std::uint64_t{0}, 100 * reserve_mib, 5'120 * reserve_mib, 1'000'000 * reserve_mib})
        for (const auto reserve : {std::uint64_t{0}, std::uint64_t{1}, 256 * reserve_mib})
            for (const auto free :
                 {std::uint64_t{0}, std::uint64_t{1}, 5 * reserve_mib - 1, 5 * reserve_mib,
                  256 * reserve_mib - 1, 256 * reserve_mib, 999'999 * reserve_mib}) {
                const SpaceFacts facts{free, disk, reserve};
                const bool refuses =
                    decide_space(facts).kind == SpaceDecision::Kind::refuse_submits;
                EXPECT_EQ(refuses, free < reserve && free < disk / 20)
                    << disk << " " << reserve << " " << free;
            }
}

TEST(DecideSpace, a_small_disk_keeps_a_twentieth) {
    EXPECT_EQ(reserve_of({.disk_bytes = 100 * reserve_mib, .reserve = 256 * reserve_mib}),
              5 * reserve_mib);
    EXPECT_EQ(reserve_of({.disk_bytes = 1'000'000 * reserve_mib, .reserve = 256 * reserve_mib}),
              256 * reserve_mib);
}

}  // namespace
}  // namespace perdure
