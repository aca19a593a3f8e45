#include "core/explain/why.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace perdure::why_test {
namespace {

std::vector<WhyWorkers> all_workers() {
    std::vector<WhyWorkers> all;
    for (const std::uint32_t connected : {0U, 1U, 3U})
        for (const std::uint32_t matching : {0U, 1U, 3U})
            for (const std::uint32_t suspect : {0U, 1U})
                for (const std::uint32_t draining : {0U, 1U})
                    for (const std::uint32_t free_slots : {0U, 2U})
                        for (const std::uint32_t deaf : {0U, 1U})
                            if (matching <= connected && suspect + draining + deaf <= matching)
                                all.push_back(
                                    {connected, matching, suspect, draining, free_slots, deaf});
    return all;
}

std::vector<WhyFacts> every_combination() {
    std::vector<WhyFacts> all;
    for (const auto& place : places)
        for (const auto& workers : all_workers())
            for (unsigned bits = 0; bits < 64; ++bits) {
                const auto bit = [&](unsigned n) { return (bits >> n & 1U) != 0; };
                WhyFacts facts{.state = place.state, .queue = "q", .workers = workers};
                if (bit(0))
                    facts.due_at = WallTime{1};
                else
                    facts.due_in = seconds(1);
                facts.queue_paused = bit(1);
                facts.presumed_lost = bit(2);
                facts.held = bit(3);
                if (bit(3)) facts.taken.push_back({"key `k`", {}});
                if (bit(4))
                    facts.taken.push_back({"limit `l`", {"0000000000001", "0000000000002"}});
                if (bit(5))
                    facts.worker = "w", facts.kill_ordered = Cause::cancelled;
                else
                    facts.silent_for = seconds(5), facts.asks = true;
                facts.lease_left = bit(0) ? seconds(5) : seconds(-5);
                facts.hold = bit(1) ? seconds(3) : minutes(5);
                facts.runs_again = bit(2);
                all.push_back(facts);
            }
    return all;
}

bool says(const std::vector<Blocker>& blockers, std::string_view part) {
    return std::any_of(blockers.begin(), blockers.end(), [&](const Blocker& blocker) {
        return blocker.what.find(part) != std::string::npos;
    });
}

// U3.
TEST(Explain, a_submitter_as_whom_nobody_may_run_a_job_is_named) {
    WhyFacts facts{.state = JobState::ready, .queue = "q", .submitter = "token deploy"};
    facts.workers = {.connected = 2, .refusing = 2};
    const auto blockers = explain(facts, Timing{});
    ASSERT_EQ(blockers.size(), 1U);
    EXPECT_TRUE(
        says(blockers, "2 workers take queue `q` but run each job as whoever submitted it"));
    EXPECT_TRUE(says(blockers, "token deploy"));
    facts.workers.matching = 1;  // another worker takes it
    EXPECT_FALSE(says(explain(facts, Timing{}), "token deploy"));
}

TEST(Explain, every_state_that_is_not_final_has_a_blocker_and_no_other) {
    for (const auto& facts : every_combination())
        EXPECT_EQ(explain(facts, {}).empty(), has_ended(facts.state)) << to_string(facts.state);
}

TEST(Explain, each_blocker_says_what_it_is_and_what_removes_it) {
    for (const auto& facts : every_combination())
        for (const auto& blocker : explain(facts, {})) {
            EXPECT_FALSE(blocker.what.empty());
            EXPECT_FALSE(blocker.removed_by.empty());
            EXPECT_FALSE(blocker.in && blocker.at);
        }
}

bool waits_for_a_claim(const WhyFacts& facts) {
    return facts.state == JobState::ready || facts.state == JobState::blocked ||
           facts.state == JobState::scheduled;
}

TEST(Explain, a_paused_queue_is_named_exactly_while_the_job_waits_for_a_claim) {
    for (const auto& facts : every_combination())
        EXPECT_EQ(says(explain(facts, {}), "is paused"),
                  facts.queue_paused && waits_for_a_claim(facts));
}

TEST(Explain, what_is_not_due_says_when_also_while_a_person_holds_it) {
    for (const auto& facts : every_combination()) {
        const bool held = facts.state == JobState::blocked && facts.held && facts.due_at;
        EXPECT_EQ(says(explain(facts, {}), "not due yet"),
                  held || facts.state == JobState::scheduled);
    }
}

// "By itself in 0 ms" is no answer, and what happens then is.
TEST(Explain, a_running_job_of_a_lost_worker_says_what_happens_after_its_hold) {
    for (const auto& facts : every_combination()) {
        if (facts.state != JobState::running) continue;
        const bool lost = !facts.worker.empty() && facts.lease_left <= Duration{};
        const auto blockers = explain(facts, {});
        EXPECT_EQ(says(blockers, "is lost, its lease ended"), lost);
        for (const auto& blocker : blockers) {
            EXPECT_NE(blocker.in, Duration{}) << blocker.what;
            if (blocker.what.find("is lost") == std::string::npos) continue;
            EXPECT_EQ(blocker.removed_by.find("quarantined") != std::string::npos,
                      !facts.runs_again);
            const auto left = facts.hold + facts.lease_left;
            EXPECT_EQ(blocker.in, left > Duration{} ? std::optional(left) : std::nullopt);
        }
    }
}

TEST(Explain, a_ready_job_that_nobody_can_take_names_the_workers) {
    for (const auto& facts : every_combination()) {
        if (facts.state != JobState::ready) continue;
        const auto blockers = explain(facts, {});
        const auto& w = facts.workers;
        const bool able = w.matching > w.suspect + w.draining + w.deaf && w.free_slots > 0;
        EXPECT_EQ(says(blockers, "worker") && !able, !able);
        EXPECT_EQ(says(blockers, "no worker is connected"), w.connected == 0);
        EXPECT_EQ(says(blockers, "next in line"),
                  able && !facts.queue_paused && !facts.presumed_lost && facts.taken.empty());
        const bool nobody = w.matching > 0 && w.matching == w.suspect + w.draining + w.deaf;
        EXPECT_EQ(says(blockers, "start nothing"), nobody && w.deaf > 0);
        EXPECT_EQ(says(blockers, "are silent"), nobody && w.suspect > 0);
    }
}

TEST(Explain, every_thing_that_is_taken_is_named_with_each_of_its_holders) {
    for (const auto& facts : every_combination()) {
        if (!waits_for_a_claim(facts)) continue;
        const auto blockers = explain(facts, {});
        for (const auto& thing : facts.taken) {
            EXPECT_TRUE(says(blockers, thing.name));
            for (const auto& holder : thing.holders) EXPECT_TRUE(says(blockers, holder));
        }
    }
}

TEST(Explain, a_kill_and_a_silent_worker_are_named_while_it_runs) {
    for (const auto& facts : every_combination()) {
        if (place_of(facts.state).place != Place::run) continue;
        const auto blockers = explain(facts, {});
        EXPECT_EQ(says(blockers, "being killed"), facts.kill_ordered.has_value());
        EXPECT_EQ(says(blockers, "is over"), facts.worker.empty());
    }
}

TEST(Explain, a_waiting_job_names_what_it_waits_for_and_where_that_is) {
    WhyFacts facts{.state = JobState::waiting, .queue_timeout_in = hours(2)};
    facts.awaited = {{"06na5x0g00000", On::success, "running"},
                     {"06na5x0g00001", On::end, "ready"}};
    const auto blockers = explain(facts, {});
    ASSERT_EQ(blockers.size(), 2U);
    EXPECT_TRUE(says(blockers, "the success of job 06na5x0g00000, which is running"));
    EXPECT_TRUE(says(blockers, "the end of job 06na5x0g00001, which is ready"));
    EXPECT_EQ(blockers.front().in, hours(2));
}

TEST(Explain, a_blocked_job_names_also_what_would_be_in_its_way_after_that) {
    const WhyFacts facts{.state = JobState::blocked,
                         .queue = "q",
                         .queue_paused = true,
                         .taken = {{"key `k`", {"0000000000001"}}}};
    const auto blockers = explain(facts, {});
    ASSERT_EQ(blockers.size(), 3U);
    EXPECT_TRUE(says(blockers, "is held by job 0000000000001"));
    EXPECT_TRUE(says(blockers, "is paused"));
    EXPECT_TRUE(says(blockers, "no worker is connected"));
}

TEST(Explain, a_running_job_names_the_earlier_of_its_timeouts) {
    const WhyFacts facts{.state = JobState::running,
                         .worker = "w",
                         .lease_left = seconds(8),
                         .total_timeout_in = seconds(90),
                         .run_timeout_in = seconds(20)};
    EXPECT_EQ(explain(facts, {}).front().in, seconds(20));
}

// O9.
TEST(Explain, a_suspect_names_what_it_waits_for_and_how_long) {
    WhyFacts facts{.state = JobState::ready, .suspect_for = minutes(1)};
    facts.workers = {.connected = 1, .matching = 1, .free_slots = 3};
    const auto blockers = explain(facts, {});
    ASSERT_EQ(blockers.size(), 1U);
    EXPECT_TRUE(says(blockers, "it is a suspect"));
    EXPECT_EQ(blockers.front().in, minutes(4));
    facts.suspect_for = minutes(5);
    EXPECT_TRUE(says(explain(facts, {}), "it is next in line"));
}

TEST(Explain, a_scheduled_job_says_when) {
    const WhyFacts facts{.state = JobState::scheduled, .due_in = seconds(90)};
    const auto blockers = explain(facts, {});
    ASSERT_EQ(blockers.size(), 2U);
    EXPECT_EQ(blockers.front().in, seconds(90));
    EXPECT_TRUE(says(blockers, "no worker is connected")) << "what blocks it after that";
}

}  // namespace
}  // namespace perdure::why_test
