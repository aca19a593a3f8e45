#include "core/job/turns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <vector>

namespace perdure::turns_test {
namespace {

// Lines that always have a job, unless they are told otherwise, and sessions that can take some.
class Lines {
public:
    explicit Lines(const std::vector<std::uint32_t>& weights) {
        for (const auto weight : weights) add(weight);
    }

    std::size_t add(std::uint32_t weight = 1) {
        lines_.push_back({.weight = weight});
        claims_.push_back(0);
        turns_.enter(lines_.back());
        return lines_.size() - 1;
    }
    void enter(std::size_t line) { turns_.enter(lines_[line]); }
    void leave(std::size_t line) { turns_.leave(lines_[line]); }
    void charge(std::size_t line) {
        ++claims_[line];
        turns_.charge(lines_[line]);
    }

    using CanTake = std::function<bool(std::size_t)>;
    // The line that is first; the lower number stands for the older job.
    std::size_t first(const CanTake& can_take) const {
        std::size_t first = lines_.size();
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (!lines_[i].waits || !can_take(i)) continue;
            if (first == lines_.size() || lines_[i].rank < lines_[first].rank) first = i;
        }
        return first;
    }
    std::size_t claim(const CanTake& can_take = [](std::size_t) { return true; }) {
        const auto line = first(can_take);
        EXPECT_LT(line, lines_.size());
        charge(line);
        return line;
    }
    std::vector<std::size_t> claim_some(int count) {
        std::vector<std::size_t> lines;
        for (int i = 0; i < count; ++i) lines.push_back(claim());
        return lines;
    }

    const Turn& turn(std::size_t line) const { return lines_[line]; }
    std::size_t size() const { return lines_.size(); }
    double claims(std::size_t line) const { return static_cast<double>(claims_[line]); }
    // As if each claim of the line had taken this long.
    double served(std::size_t line) const { return claims(line) / lines_[line].weight; }
    std::int64_t lowest() const {
        auto lowest = INT64_MAX;
        for (const auto& line : lines_)
            if (line.waits) lowest = std::min(lowest, line.rank.tag);
        return lowest;
    }

private:
    std::vector<Turn> lines_;
    std::vector<std::uint64_t> claims_;
    Turns turns_;
};

using Order = std::vector<std::size_t>;

TEST(Turns, go_round_between_lines_of_equal_weight) {
    Lines lines({1, 1, 1});
    EXPECT_EQ(lines.claim_some(6), (Order{0, 1, 2, 0, 1, 2}));
}

TEST(Turns, one_to_three_is_never_off_by_more_than_one) {
    Lines lines({1, 3});
    for (int i = 1; i <= 10'000; ++i) {
        lines.claim();
        EXPECT_LE(std::abs(lines.claims(0) - i / 4.0), 1.0) << i;
        EXPECT_LE(std::abs(lines.claims(1) - i * 3 / 4.0), 1.0) << i;
    }
}

// No line gets ahead of another by more than one claim of each.
TEST(Turns, keep_to_the_weights_at_every_moment) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 50; ++round) {
        std::vector<std::uint32_t> weights(2 + random() % 6);
        for (auto& weight : weights)
            weight = 1 + static_cast<std::uint32_t>(random() % (round % 2 == 0 ? 7 : weight_max));
        Lines lines(weights);
        for (int i = 0; i < 3'000; ++i) {
            lines.claim();
            for (std::size_t a = 0; a < weights.size(); ++a)
                for (std::size_t b = 0; b < a; ++b)
                    ASSERT_LE(std::abs(lines.served(a) - lines.served(b)),
                              1.0 / weights[a] + 1.0 / weights[b] + 1e-6);
        }
    }
}

// Were steps rounded, a weight of 999 would lose a claim in every thousand.
TEST(Turns, are_exact_for_every_weight) {
    for (std::uint32_t weight = 1; weight <= weight_max; ++weight) {
        Lines lines({weight, 1});
        for (std::uint32_t i = 0; i < 3 * (weight + 1); ++i) lines.claim();
        EXPECT_EQ(lines.claims(1), 3) << weight;
        EXPECT_EQ(lines.turn(0).rank.tag, 3 * Turns::one) << weight;
    }
}

TEST(Turns, give_nothing_for_the_time_in_which_a_line_was_empty) {
    Lines lines({1, 1});
    lines.leave(1);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(lines.claim(), 0U);
    lines.enter(1);
    EXPECT_EQ(lines.claim_some(4), (Order{1, 0, 1, 0}));
}

TEST(Turns, remember_what_a_line_had_that_is_empty_for_a_moment) {
    Lines lines({1, 1, 1});
    EXPECT_EQ(lines.claim(), 0U);
    lines.leave(0);
    lines.enter(0);
    EXPECT_EQ(lines.claim_some(3), (Order{1, 2, 0}));
}

TEST(Turns, let_a_new_line_in_where_the_others_are) {
    Lines lines({1, 1});
    for (int i = 0; i < 100; ++i) lines.claim();
    const auto fresh = lines.add();
    EXPECT_EQ(lines.claim_some(4), (Order{fresh, 0, 1, fresh}));
}

// E6: a job that is first in line goes before all turns; its line pays for it.
TEST(Turns, charge_what_goes_before_them) {
    Lines lines({1, 1});
    lines.charge(0);
    EXPECT_EQ(lines.claim_some(3), (Order{1, 0, 1}));
}

// … and no more than one turn, however many of them there were.
TEST(Turns, charge_at_most_one_in_advance) {
    Lines lines({1, 1});
    for (int i = 0; i < 1'000; ++i) lines.charge(0);
    EXPECT_EQ(lines.claim_some(4), (Order{1, 0, 1, 0}));
}

// E7: "a queue that had a worker of its own starves once that one dies".
TEST(Turns, do_not_make_a_line_pay_for_a_worker_of_its_own) {
    Lines lines({1, 1});
    for (int i = 0; i < 1'000; ++i) lines.claim([](std::size_t line) { return line == 0; });
    EXPECT_EQ(lines.claim_some(4), (Order{1, 0, 1, 0}));
}

// Its tag stays, and so does the turn: the others still take turns, by their weights.
TEST(Turns, go_on_beside_a_line_that_nobody_takes) {
    Lines lines({1, 1, 3});
    const auto others = [](std::size_t line) { return line != 0; };
    for (int i = 0; i < 400; ++i) lines.claim(others);
    EXPECT_NEAR(lines.claims(1), 100, 3);
    EXPECT_NEAR(lines.claims(2), 300, 3);
    // And once somebody takes it, it has no more than one turn to make up for.
    lines.claim_some(10);
    EXPECT_LE(lines.claims(0), 3);
}

TEST(Turns, never_fall_and_stay_within_one) {
    std::mt19937_64 random(11);
    Lines lines({1, 2, 3, 5, 1'000, 1});
    std::vector<std::int64_t> before(lines.size());
    for (int i = 0; i < 20'000; ++i) {
        const auto line = random() % lines.size();
        switch (random() % 4) {
            case 0: lines.turn(line).waits ? lines.leave(line) : lines.enter(line); break;
            case 1:
                if (lines.turn(line).waits) lines.charge(line);
                break;
            default:
                if (lines.lowest() != INT64_MAX) lines.claim();
                break;
        }
        const auto lowest = lines.lowest();
        for (std::size_t j = 0; j < lines.size(); ++j) {
            const auto& turn = lines.turn(j);
            ASSERT_GE(turn.rank.tag, before[j]);
            before[j] = turn.rank.tag;
            if (turn.waits) {
                ASSERT_LE(turn.rank.tag, lowest + Turns::one);
            }
        }
    }
}

// The proof in the header, tried: sessions with all kinds of offers, one that can take line 0, and
// lines that come and go. Line 0 waits all the time.
TEST(Turns, starve_nobody_whatever_else_is_taken) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<std::uint32_t> weights(2 + random() % 8);
        for (auto& weight : weights) weight = 1 + static_cast<std::uint32_t>(random() % 5);
        Lines lines(weights);
        std::uint64_t bound = 1;
        for (std::size_t i = 1; i < lines.size(); ++i) bound += std::uint64_t{2} * weights[i];
        std::vector<std::uint64_t> offers(4);
        for (auto& offer : offers) offer = random();
        offers[0] |= 1;
        std::uint64_t passed = 0;
        for (int i = 0; i < 5'000; ++i) {
            const auto line = 1 + random() % (lines.size() - 1);
            if (random() % 3 == 0) lines.turn(line).waits ? lines.leave(line) : lines.enter(line);
            const auto offer = offers[random() % (i % 100 < 50 ? 1 : offers.size())];
            const auto can_take = [&](std::size_t l) { return ((offer >> l) & 1U) != 0; };
            if (lines.first(can_take) == lines.size()) continue;
            const auto taken = lines.claim(can_take);
            if (taken == 0) {
                passed = 0;
            } else if (can_take(0)) {
                ASSERT_LE(++passed, bound) << "seed " << seed;
            }
        }
    }
}

TEST(Turns, ask_for_the_weight_of_a_queue_by_its_name) {
    const QueueWeights weights{{{"mail", 5}}};
    EXPECT_EQ(weights.of("mail"), 5U);
    EXPECT_EQ(weights.of("other"), 1U);
}

}  // namespace
}  // namespace perdure::turns_test
