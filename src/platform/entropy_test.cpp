#include "platform/entropy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace perdure {
namespace {

// 1,000 numbers of 64 bits: a repetition has a chance of 1 to 3.7e13, a bit that never or always
// shows one of 1 to 2^994.
TEST(Entropy, numbers_differ_and_use_every_bit) {
    Entropy entropy;
    std::set<std::uint64_t> drawn;
    std::uint64_t any = 0;
    std::uint64_t all = ~std::uint64_t{0};
    for (int i = 0; i < 1'000; ++i) {
        const auto number = entropy.next();
        drawn.insert(number);
        any |= number;
        all &= number;
    }
    EXPECT_EQ(drawn.size(), 1'000u);
    EXPECT_EQ(any, ~std::uint64_t{0});
    EXPECT_EQ(all, 0u);
}

TEST(Entropy, two_sources_are_independent) {
    Entropy one;
    Entropy other;
    EXPECT_NE(one.next(), other.next());
}

}  // namespace
}  // namespace perdure
