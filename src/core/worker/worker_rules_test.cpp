#include "core/worker/worker_rules.h"

#include <gtest/gtest.h>

#include <vector>

namespace perdure::worker_rules_test {
namespace {

constexpr bool both[] = {false, true};

std::vector<FoundFacts> every_find() {
    std::vector<FoundFacts> all;
    for (bool result : both)
        for (bool started : both)
            for (bool alive : both) all.push_back({result, started, alive});
    return all;
}

TEST(DecideFound, never_says_that_a_started_attempt_did_not_run) {
    for (const auto& facts : every_find()) {
        const auto decision = decide_found(facts);
        if (facts.started && decision.end) {
            EXPECT_NE(decision.end->ran, Ran::no);
        }
        if (facts.started) {
            EXPECT_NE(decision.phase, Listed::Phase::unstarted);
        }
    }
}

TEST(DecideFound, gives_an_end_exactly_if_nobody_else_will) {
    for (const auto& facts : every_find()) {
        const auto decision = decide_found(facts);
        EXPECT_EQ(decision.end.has_value(), !facts.has_result && !facts.shim_alive);
        if (decision.end) {
            EXPECT_TRUE(decision.end->reported);
        }
    }
}

std::vector<AssignmentFacts> every_assignment() {
    std::vector<AssignmentFacts> all;
    for (bool known : both)
        for (bool handled : both)
            for (std::uint64_t named : {4U, 5U, 6U})
                for (std::optional<Epoch> other :
                     {std::optional<Epoch>{}, std::optional{Epoch{1}}, std::optional{Epoch{3}}})
                    for (bool takes_new : both)
                        all.push_back({known, handled, 5, named, Epoch{2}, other, takes_new});
    return all;
}

bool is_taken(const AssignmentFacts& facts) {
    const auto answer = decide_assignment(facts).answer;
    return answer == AssignmentAnswer::take || answer == AssignmentAnswer::take_and_kill_older;
}

TEST(DecideAssignment, takes_nothing_twice) {
    for (const auto& facts : every_assignment())
        if (facts.known || facts.handled) {
            EXPECT_FALSE(is_taken(facts));
        }
}

TEST(DecideAssignment, takes_nothing_that_the_server_was_told_is_not_here) {
    for (const auto& facts : every_assignment()) {
        if (facts.number > facts.named) continue;
        const auto answer = decide_assignment(facts).answer;
        EXPECT_TRUE(answer == AssignmentAnswer::ignore || answer == AssignmentAnswer::discard);
    }
}

TEST(DecideAssignment, takes_an_epoch_only_if_it_is_the_newest_and_kills_the_older) {
    for (const auto& facts : every_assignment()) {
        const bool newer_is_here = facts.other && *facts.other > facts.epoch;
        if (newer_is_here) {
            EXPECT_FALSE(is_taken(facts));
        }
        const bool kills = decide_assignment(facts).answer == AssignmentAnswer::take_and_kill_older;
        EXPECT_EQ(kills, is_taken(facts) && facts.other.has_value());
    }
}

TEST(DecideAssignment, takes_or_hands_back_everything_else) {
    for (const auto& facts : every_assignment()) {
        const bool newer_is_here = facts.other && *facts.other > facts.epoch;
        if (facts.known || facts.handled || facts.number <= facts.named || newer_is_here) continue;
        EXPECT_EQ(is_taken(facts), facts.takes_new);
        const bool back = decide_assignment(facts).answer == AssignmentAnswer::hand_back;
        EXPECT_EQ(back, !facts.takes_new);
    }
}

TEST(DecidePrepareFailure, never_blames_the_job_unless_its_command_is_unusable) {
    for (int code = 0; code <= static_cast<int>(Errc::corrupt); ++code) {
        const auto errc = static_cast<Errc>(code);
        const auto cause = decide_prepare_failure(errc);
        const bool unusable = errc == Errc::invalid || errc == Errc::not_found;
        EXPECT_EQ(cause == Cause::command_unusable, unusable);
        EXPECT_EQ(cause == Cause::lock_busy, errc == Errc::conflict);
    }
}

TEST(DecideAsk, asks_exactly_while_a_shim_waits_without_a_good_go) {
    for (int bits = 0; bits < 64; ++bits)
        for (std::optional<BootTime> go :
             {std::optional<BootTime>{}, std::optional{BootTime{9}}, std::optional{BootTime{10}},
              std::optional{BootTime{11}}}) {
            const AskFacts facts{.asks = (bits & 1) != 0,
                                 .prepared = (bits & 2) != 0,
                                 .started = (bits & 4) != 0,
                                 .killed = (bits & 8) != 0,
                                 .may_start = (bits & 16) != 0,
                                 .lease_is_good = (bits & 32) != 0,
                                 .go_until = go,
                                 .now = BootTime{10}};
            const bool waits = facts.asks && facts.prepared && !facts.started && !facts.killed;
            const bool good = go && *go > facts.now;
            EXPECT_EQ(decide_ask(facts).ask,
                      waits && facts.may_start && facts.lease_is_good && !good);
        }
}

TEST(DecideWorkerKill, comes_after_the_shim_and_before_speaking) {
    const Timing timing;
    const BootTime lease{1'000'000'000};
    for (auto effects : {Effects::repeatable, Effects::resumable, Effects::once})
        for (bool keyed : both)
            for (bool may_run : both)
                for (bool leased : both)
                    for (bool speaks : both)
                        for (std::int64_t after : {-20, -2, 0, 400}) {
                            const auto terms = decide_terms({effects, keyed, {}}, timing);
                            const auto now = lease + seconds(after);
                            std::optional<BootTime> until;
                            if (leased) until = lease;
                            const auto kill =
                                decide_worker_kill({terms, may_run, until, now, speaks}, timing);
                            const auto shim = decide_lease_kill({terms, lease, now}, timing);
                            const bool expected = may_run && leased && shim.at;
                            ASSERT_EQ(kill.at.has_value(), expected);
                            if (!expected) continue;
                            const auto later = speaks ? Duration{} : timing.worker_kill;
                            EXPECT_EQ(*kill.at, *shim.at + later);
                            if (terms.isolation == Isolation::exclusive) {
                                EXPECT_LT(*kill.at, lease + terms.hold);
                            }
                        }
}

// O1, [P5]: output is waited for while it is being taken, and no end waits for ever.
TEST(DecideOutput, holds_an_end_back_while_output_is_taken_and_for_thirty_seconds_at_most) {
    for (const bool answers : both)
        for (std::int64_t waits = 0; waits <= 40; ++waits)
            for (std::int64_t quiet = 0; quiet <= waits; ++quiet) {
                const auto decision = decide_output({answers, seconds(waits), seconds(quiet)});
                const bool in_time = waits < 30 && seconds(quiet) < output_patience;
                EXPECT_EQ(decision.keep_trying, !answers || in_time) << decision.rule;
                EXPECT_TRUE(decision.rule.starts_with("O1/"));
            }
}

TEST(DecideLeave, never_leaves_an_attempt_and_never_waits_for_ever) {
    const Timing timing;
    for (bool has_attempts : both)
        for (bool announced : both)
            for (bool has_session : both)
                for (std::int64_t s : {0, 1, 2, 29, 30, 100}) {
                    const auto d =
                        decide_leave({has_attempts, announced, has_session, seconds(s)}, timing);
                    EXPECT_EQ(d.evict, has_attempts && seconds(s) >= timing.drain);
                    const bool over = seconds(s) >= timing.drain;
                    const bool alone = !has_session && seconds(s) >= timing.call_timeout;
                    EXPECT_EQ(d.leave, !has_attempts && (announced || over || alone)) << d.rule;
                }
}

TEST(DecideRefused, finds_the_bad_item_and_gives_up_what_is_not_needed_first) {
    for (const bool evidence : {false, true})
        for (const std::size_t items : {2U, 3U, 1000U})
            EXPECT_EQ(decide_refused({items, evidence}), RefusedDecision::halve);
    EXPECT_EQ(decide_refused({1, true}), RefusedDecision::without_evidence);
    EXPECT_EQ(decide_refused({1, false}), RefusedDecision::set_aside);
}

}  // namespace
}  // namespace perdure::worker_rules_test
