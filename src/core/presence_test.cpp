#include "core/presence.h"

#include <gtest/gtest.h>

namespace perdure::presence_test {
namespace {

constexpr bool both[] = {false, true};

TEST(DecidePresence, lists_what_has_attempts_or_may_still_speak) {
    const Timing timing;
    const ServiceTime now{1'000'000'000};
    for (const std::int64_t silent : {0, 3, 4, 5, 100})
        for (const std::int64_t left : {-1, 0, 1})
            for (const std::uint32_t slots : {0U, 3U})
                for (const std::uint32_t running : {0U, 1U}) {
                    const auto d = decide_presence(
                        {now - seconds(silent), now + seconds(left), slots, running, now}, timing);
                    EXPECT_EQ(d.suspect, seconds(silent) >= timing.suspect);
                    const bool over = left <= 0;
                    const bool drained = slots == 0 && d.suspect;
                    EXPECT_EQ(d.left, running == 0 && (over || drained)) << d.rule;
                }
}

TEST(DecideOutputPiece, counts_only_for_the_running_attempt_of_an_open_session) {
    for (const bool open : both)
        for (const bool its_own : both)
            EXPECT_EQ(decide_output_piece({open, its_own}).counts, open && its_own);
}

TEST(DecideSessionRetention, forgets_what_no_attempt_can_name) {
    const ServiceTime now{days(100).us};
    for (const bool owns : both)
        for (const std::int64_t lease : {-1, 0, 1})
            for (const std::int64_t silent : {0, 23, 24, 240})
                for (const std::int64_t oldest : {-1, 0, 23, 24, 100, 240, 241}) {
                    SessionRetentionFacts facts{.owns_attempts = owns,
                                                .lease_deadline = now + seconds(lease),
                                                .heard_at = now - hours(silent),
                                                .now = now};
                    if (oldest >= 0) facts.oldest_submit = facts.heard_at + hours(oldest);
                    const bool long_ago = silent >= 24;
                    const bool unnamed = oldest < 0 || oldest >= 24;
                    EXPECT_EQ(decide_session_retention(facts).forget,
                              !owns && lease <= 0 && long_ago && unnamed)
                        << decide_session_retention(facts).rule;
                }
}

}  // namespace
}  // namespace perdure::presence_test
