#include "core/presence.h"

#include <gtest/gtest.h>

namespace perdure {
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

}  // namespace
}  // namespace perdure
