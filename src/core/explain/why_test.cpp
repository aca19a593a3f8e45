#include "core/explain/why.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace perdure::why_test {
namespace {

// What one worker can be to a job.
std::vector<WhyWorker> every_worker() {
    std::vector<WhyWorker> all;
    for (unsigned bits = 0; bits < 256; ++bits) {
        const auto bit = [&](unsigned n) { return (bits >> n & 1U) != 0; };
        all.push_back({.name = "w",
                       .serves_tenant = bit(0),
                       .takes_queue = bit(1),
                       .takes_kind = bit(2),
                       .cannot_limit = bit(3) ? "memory" : "",
                       .suspect = bit(4),
                       .draining = bit(5),
                       .deaf = bit(6),
                       .free_slots = bit(7) ? 2U : 0U});
    }
    return all;
}

// None, one of each, and pairs: each with one that is fit, and with one that is not.
std::vector<std::vector<WhyWorker>> all_workers() {
    std::vector<std::vector<WhyWorker>> all = {{}};
    for (const auto& worker : every_worker()) {
        all.push_back({worker});
        all.push_back({worker, {.name = "fit", .free_slots = 1}});
        all.push_back({worker, {.name = "other", .takes_queue = false}});
    }
    return all;
}

bool is_able(const WhyWorker& w) {
    return w.matches() && !w.suspect && !w.draining && !w.deaf && w.free_slots > 0;
}

// All facts about the job, beside a few about workers.
std::vector<WhyFacts> every_combination() {
    std::vector<WhyFacts> all;
    const std::vector<std::vector<WhyWorker>> some_workers = {
        {}, {{.name = "fit", .free_slots = 1}}, {{.name = "busy"}}, {{.suspect = true}}};
    for (const auto& place : places)
        for (const auto& workers : some_workers)
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

// All facts about workers, beside a few about the job.
std::vector<WhyFacts> every_offer() {
    std::vector<WhyFacts> all;
    for (const auto state : {JobState::scheduled, JobState::ready, JobState::blocked})
        for (const auto& workers : all_workers())
            for (unsigned bits = 0; bits < 8; ++bits) {
                WhyFacts facts{.state = state, .queue = "q", .workers = workers};
                facts.queue_paused = (bits & 1U) != 0;
                facts.presumed_lost = (bits & 2U) != 0;
                if ((bits & 4U) != 0) facts.taken.push_back({"key `k`", {}});
                all.push_back(facts);
            }
    return all;
}

bool waits_for_a_claim(const WhyFacts& facts) {
    return facts.state == JobState::ready || facts.state == JobState::blocked ||
           facts.state == JobState::scheduled;
}

bool says(const std::vector<Blocker>& blockers, std::string_view part) {
    return std::any_of(blockers.begin(), blockers.end(), [&](const Blocker& blocker) {
        return blocker.what.find(part) != std::string::npos;
    });
}

// U3.
TEST(Explain, a_submitter_as_whom_nobody_may_run_a_job_is_named) {
    WhyFacts facts{.state = JobState::ready, .queue = "q", .submitter = "token deploy"};
    facts.workers = {{.name = "a", .runs_for_submitter = false},
                     {.name = "b", .runs_for_submitter = false}};
    const auto blockers = explain(facts, Timing{});
    ASSERT_EQ(blockers.size(), 1U);
    EXPECT_TRUE(
        says(blockers, "2 workers would take it, but run each job as whoever submitted it"));
    EXPECT_TRUE(says(blockers, "token deploy"));
    facts.workers.push_back({.name = "c", .free_slots = 1});  // another worker takes it
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

template <class Condition>
bool any_of(const WhyFacts& facts, Condition condition) {
    return std::any_of(facts.workers.begin(), facts.workers.end(), condition);
}
template <class Condition>
bool all_of(const WhyFacts& facts, Condition condition) {
    return std::all_of(facts.workers.begin(), facts.workers.end(), condition);
}

// What nobody offers is named by its name: the tenant, else the queue and the kind.
TEST(Explain, what_no_worker_offers_is_named_while_the_job_waits_for_a_claim) {
    for (const auto& facts : every_offer()) {
        if (facts.workers.empty()) continue;
        const auto blockers = explain(facts, {});
        const bool served = any_of(facts, [](const auto& w) { return w.serves_tenant; });
        const auto served_by = [&](auto takes) {
            return any_of(facts, [&](const auto& w) { return w.serves_tenant && takes(w); });
        };
        const bool queue = served_by([](const auto& w) { return w.takes_queue; });
        const bool kind = served_by([](const auto& w) { return w.takes_kind; });
        const bool both = served_by([](const auto& w) { return w.takes_queue && w.takes_kind; });
        EXPECT_EQ(says(blockers, "serves tenant `default`"), !served);
        EXPECT_EQ(says(blockers, "takes queue `q`"), served && !queue);
        EXPECT_EQ(says(blockers, "takes a command") && !says(blockers, "of queue `q`"),
                  served && !kind);
        EXPECT_EQ(says(blockers, "takes a command of queue `q`"), queue && kind && !both);
    }
}

// A limit that is a promise: it is a blocker exactly if nobody who takes the job can keep it.
TEST(Explain, a_limit_that_no_matching_worker_can_keep_is_named) {
    for (const auto& facts : every_offer()) {
        const bool matched = any_of(facts, [](const auto& w) { return w.matches(); });
        const bool none_can =
            all_of(facts, [](const auto& w) { return !w.matches() || !w.cannot_limit.empty(); });
        EXPECT_EQ(says(explain(facts, {}), "can limit `memory`"), matched && none_can);
    }
}

TEST(Explain, a_job_that_waits_after_an_attempt_tells_how_that_ended) {
    WhyFacts facts{.state = JobState::scheduled, .due_in = seconds(30)};
    facts.last = {.attempt = 4, .cause = Cause::no_resources, .detail = "it cannot limit `memory`"};
    EXPECT_TRUE(says(explain(facts, {}),
                     "not due yet: attempt 4 ended (no_resources): it cannot limit `memory`"));
    facts.last->detail.clear();
    EXPECT_TRUE(says(explain(facts, {}), "not due yet: attempt 4 ended (no_resources)"));
}

TEST(Explain, of_many_workers_only_some_are_named) {
    WhyFacts facts{.state = JobState::ready};
    for (int i = 0; i < 5'000; ++i)
        facts.workers.push_back({.name = "worker" + std::to_string(i), .suspect = true});
    const auto blockers = explain(facts, {});
    ASSERT_EQ(blockers.size(), 1U);
    EXPECT_LT(blockers.front().what.size(), 200U);
}

TEST(Explain, a_ready_job_that_nobody_can_take_names_the_workers) {
    for (const auto& facts : every_offer()) {
        if (facts.state != JobState::ready) continue;
        const auto blockers = explain(facts, {});
        const bool able = any_of(facts, is_able);
        const bool limited = says(blockers, "can limit");
        EXPECT_TRUE((able && !limited) || says(blockers, "worker"));
        EXPECT_EQ(says(blockers, "no worker is connected"), facts.workers.empty());
        EXPECT_EQ(says(blockers, "next in line"), able && !limited && !facts.queue_paused &&
                                                      !facts.presumed_lost && facts.taken.empty());
        const bool nobody = all_of(
            facts, [](const auto& w) { return !w.matches() || w.suspect || w.draining || w.deaf; });
        const auto is_one = [&](auto condition) {
            return nobody &&
                   any_of(facts, [&](const auto& w) { return w.matches() && condition(w); });
        };
        EXPECT_EQ(says(blockers, "start nothing"),
                  is_one([](const auto& w) { return w.deaf && !w.suspect && !w.draining; }));
        EXPECT_EQ(says(blockers, "are silent"), is_one([](const auto& w) { return w.suspect; }));
        EXPECT_EQ(says(blockers, "are draining"),
                  is_one([](const auto& w) { return w.draining && !w.suspect; }));
    }
}

TEST(Explain, every_thing_that_is_taken_is_named_with_each_of_its_holders) {
    for (const auto& facts : every_combination()) {
        if (!waits_for_a_claim(facts)) continue;
        const auto blockers = explain(facts, {});
        for (const auto& permit : facts.taken) {
            EXPECT_TRUE(says(blockers, permit.name));
            for (const auto& holder : permit.holders) EXPECT_TRUE(says(blockers, holder));
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
    facts.awaited = {{"06na5x0g00000", Trigger::success, "running"},
                     {"06na5x0g00001", Trigger::end, "ready"}};
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
    facts.workers = {{.name = "w", .free_slots = 3}};
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
