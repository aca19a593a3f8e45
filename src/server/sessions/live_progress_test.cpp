#include "server/sessions/live_progress.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

AttemptKey attempt(std::uint64_t job, std::uint32_t epoch = 1) { return {JobId{job}, {epoch}}; }

using Keys = std::set<AttemptKey>;
constexpr SessionId speaker{1};
constexpr SessionId another{2};

TEST(LiveProgress, shows_the_newest_note_of_what_runs) {
    LiveProgress progress;
    progress.replace_notes(speaker, Keys{attempt(7)}, {{attempt(7), 10, "begun"}});
    progress.replace_notes(speaker, Keys{attempt(7)}, {{attempt(7), 40, "half"}});
    ASSERT_TRUE(progress.find(attempt(7)));
    EXPECT_EQ(progress.find(attempt(7))->percent, 40U);
    EXPECT_EQ(progress.find(attempt(7))->text, "half");
    EXPECT_FALSE(progress.find(attempt(7, 2)));
}

// [P2]
TEST(LiveProgress, takes_no_note_of_what_the_session_does_not_own) {
    LiveProgress progress;
    progress.replace_notes(speaker, Keys{attempt(7)}, {{attempt(7), 10, "mine"}});
    progress.replace_notes(another, Keys{attempt(8)},
                           {{attempt(7), 99, "not mine"}, {attempt(9), 1, ""}});
    EXPECT_EQ(progress.find(attempt(7))->text, "mine");
    EXPECT_FALSE(progress.find(attempt(9)));
}

TEST(LiveProgress, forgets_what_has_ended) {
    LiveProgress progress;
    progress.replace_notes(speaker, Keys{attempt(7), attempt(8)},
                           {{attempt(7), 1, ""}, {attempt(8), 2, ""}});
    progress.replace_notes(speaker, Keys{attempt(8)}, {{attempt(8), 3, ""}});
    EXPECT_FALSE(progress.find(attempt(7)));
    EXPECT_EQ(progress.find(attempt(8))->percent, 3U);
}

TEST(LiveProgress, keeps_no_more_text_than_it_should) {
    LiveProgress progress;
    progress.replace_notes(speaker, Keys{attempt(7)}, {{attempt(7), 1, std::string(100'000, 'x')}});
    EXPECT_EQ(progress.find(attempt(7))->text.size(), progress_text_max);
}

}  // namespace
}  // namespace perdure
