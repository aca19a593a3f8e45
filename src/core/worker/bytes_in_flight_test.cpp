#include "core/worker/bytes_in_flight.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace perdure {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t budget = 64 * mib;
constexpr auto kinds = {BytesFor::small, BytesFor::worker, BytesFor::bulk};

bool taken(std::size_t in_flight, std::size_t wanted, BytesFor what) {
    return decide_bytes({budget, in_flight, wanted, what}) == BytesDecision::take;
}

std::vector<std::size_t> amounts() {
    return {0, 1, 4096, 64 << 10, mib, 15 * mib, 48 * mib, 56 * mib, 64 * mib, 99 * mib, SIZE_MAX};
}

TEST(DecideBytes, never_lets_what_it_takes_exceed_the_budget) {
    for (const auto in_flight : amounts())
        for (const auto wanted : amounts())
            for (const auto what : kinds)
                if (taken(in_flight, wanted, what)) {
                    EXPECT_LE(in_flight, budget);
                    EXPECT_LE(wanted, budget - in_flight);
                }
}

TEST(DecideBytes, keeps_a_reserve_that_bulk_cannot_fill) {
    // However much bulk was let in, a small request and a worker's one fit beside it.
    std::size_t in_flight = 0;
    while (taken(in_flight, 15 * mib, BytesFor::bulk)) in_flight += 15 * mib;
    while (taken(in_flight, 64 << 10, BytesFor::bulk)) in_flight += 64 << 10;
    EXPECT_FALSE(taken(in_flight, 1, BytesFor::bulk));
    EXPECT_TRUE(taken(in_flight, 8 * mib, BytesFor::worker));
    // And beside as much of workers as is let in, a small one.
    while (taken(in_flight, 64 << 10, BytesFor::worker)) in_flight += 64 << 10;
    EXPECT_TRUE(taken(in_flight, 8 * mib, BytesFor::small));
}

TEST(DecideBytes, takes_less_whenever_it_takes_more) {
    for (const auto in_flight : amounts())
        for (const auto wanted : amounts())
            for (const auto what : kinds) {
                if (!taken(in_flight, wanted, what)) continue;
                EXPECT_TRUE(taken(in_flight / 2, wanted, what));
                EXPECT_TRUE(taken(in_flight, wanted / 2, what));
                EXPECT_TRUE(taken(in_flight, wanted, BytesFor::small));
            }
}

TEST(DecideBytes, calls_whatever_is_small_small_whoever_sends_it) {
    for (const auto peer : {Peer::worker, Peer::person})
        EXPECT_EQ(bytes_for(peer, small_bytes_max), BytesFor::small);
    EXPECT_EQ(bytes_for(Peer::worker, small_bytes_max + 1), BytesFor::worker);
    EXPECT_EQ(bytes_for(Peer::person, small_bytes_max + 1), BytesFor::bulk);
}

TEST(DecidePeak, gives_back_after_three_quiet_looks_and_only_after_a_peak) {
    EXPECT_FALSE(decide_peak({.peak = mib, .recent = 0, .quiet_looks = 9}).give_back);
    PeakFacts facts{.peak = 60 * mib, .recent = 15 * mib};
    for (unsigned look = 1; look < 3; ++look) {
        const auto decision = decide_peak(facts);
        EXPECT_FALSE(decision.give_back);
        EXPECT_EQ(decision.quiet_looks, look);
        facts.quiet_looks = decision.quiet_looks;
    }
    EXPECT_TRUE(decide_peak(facts).give_back);
    // A busy moment begins anew.
    facts.recent = 16 * mib;
    EXPECT_FALSE(decide_peak(facts).give_back);
    EXPECT_EQ(decide_peak(facts).quiet_looks, 0U);
}

}  // namespace
}  // namespace perdure
