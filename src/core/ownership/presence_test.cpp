#include "core/ownership/presence.h"

#include <gtest/gtest.h>

namespace perdure::presence_test {
namespace {

constexpr bool both[] = {false, true};

TEST(DecidePresence, lists_what_has_attempts_or_may_still_speak) {
    const Timing timing;
    const ServiceTime now{1'000'000'000};
    for (const std::int64_t silent : {0, 3, 4, 5, 100})
        for (const std::int64_t left : {-1, 0, 1})
            for (const bool draining : both)
                for (const std::uint32_t running : {0U, 1U}) {
                    const auto d = decide_presence(
                        {now - seconds(silent), now + seconds(left), draining, running, now},
                        timing);
                    EXPECT_EQ(d.suspect, seconds(silent) >= timing.suspect);
                    const bool over = left <= 0;
                    const bool drained = draining && d.suspect;
                    EXPECT_EQ(d.left, running == 0 && (over || drained)) << d.rule;
                }
}

std::vector<OutputPieceFacts> every_piece() {
    std::vector<OutputPieceFacts> all;
    for (const bool open : both)
        for (const bool its_own : both)
            for (const bool elsewhere : both)
                for (const bool may_return : both)
                    for (const bool ended_there : both)
                        all.push_back({open, its_own, elsewhere, may_return, ended_there});
    return all;
}

// [P2].
TEST(DecideOutputPiece, counts_only_in_an_open_session_for_what_runs_or_has_ended_there) {
    for (const auto& f : every_piece())
        EXPECT_EQ(decide_output_piece(f).answer == OutputAnswer::accept,
                  f.session_is_open && (f.in_run_under_it || f.ended_in_its_directory));
}

// O1: otherwise a job whose end is accepted has an empty log.
TEST(DecideOutputPiece, is_never_thrown_away_while_its_attempt_can_still_be_reinstated) {
    for (const auto& f : every_piece())
        if (f.may_be_reinstated) {
            EXPECT_NE(decide_output_piece(f).answer, OutputAnswer::fenced);
        }
}

TEST(DecideOutputPiece, of_an_ended_session_is_sent_again_while_its_attempt_runs) {
    for (const auto& f : every_piece())
        if (!f.session_is_open && (f.in_run_under_it || f.in_run_elsewhere)) {
            EXPECT_EQ(decide_output_piece(f).answer, OutputAnswer::again);
        }
}

TEST(DecideOutputPiece, of_an_attempt_that_somebody_else_has_or_that_has_ended_is_fenced) {
    for (const auto& f : every_piece()) {
        const bool somebody_elses = f.session_is_open && !f.in_run_under_it;
        const bool ended = !f.in_run_under_it && !f.in_run_elsewhere;
        const bool is_its_rest = f.session_is_open && f.ended_in_its_directory;
        if ((somebody_elses || ended) && !f.may_be_reinstated && !is_its_rest) {
            EXPECT_EQ(decide_output_piece(f).answer, OutputAnswer::fenced);
        }
    }
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

TEST(DecideAppendedPiece, takes_back_only_what_nobody_can_vouch_for) {
    using Kind = AppendedPieceDecision::Kind;
    for (const bool in_run : {false, true})
        for (const bool reported : {false, true})
            for (const bool may_come_back : {false, true}) {
                const auto kind = decide_appended_piece({in_run, reported, may_come_back}).kind;
                EXPECT_EQ(kind == Kind::keep, in_run || reported);
                EXPECT_EQ(kind == Kind::take_back, !in_run && !reported && !may_come_back);
            }
}

TEST(DecideServerRetention, forgets_only_what_every_live_server_would_have_outlived) {
    for (const std::uint64_t behind : {std::uint64_t{0}, std::uint64_t{1}, uses_until_dead - 1})
        EXPECT_FALSE(decide_server_retention({.last_use = 7, .uses = 7 + behind}).forget);
    for (const auto behind : {uses_until_dead, 5 * uses_until_dead})
        EXPECT_TRUE(decide_server_retention({.last_use = 7, .uses = 7 + behind}).forget);
}

}  // namespace
}  // namespace perdure::presence_test
