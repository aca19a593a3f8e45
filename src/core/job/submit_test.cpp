#include "core/job/submit.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "core/job/callbacks.h"

namespace perdure::submit_test {
namespace {

JobSpec acceptable() { return {.argv = {"true"}}; }

using Edit = std::function<void(JobSpec&)>;

TEST(CheckSpec, accepts_the_smallest_job) {
    EXPECT_FALSE(check_spec(acceptable()));
    EXPECT_FALSE(check_spec({.kind = "send-mail"}));
    EXPECT_FALSE(check_spec({.argv = {"true"}, .effects = Effects::once}));
}

TEST(CheckSpec, refuses_with_a_sentence_that_names_what_to_change) {
    const std::pair<Edit, std::string_view> table[] = {
        {[](JobSpec& s) { s.tenant = ""; }, "tenant"},
        {[](JobSpec& s) { s.queue = "-a"; }, "queue"},
        {[](JobSpec& s) { s.argv.clear(); }, "command"},
        {[](JobSpec& s) { s.kind = "A"; }, "kind"},
        {[](JobSpec& s) { s.priority = 10; }, "priority"},
        {[](JobSpec& s) { s.key = ""; }, "key"},
        {[](JobSpec& s) { s.key = std::string(256, 'k'); }, "key"},
        {[](JobSpec& s) { s.key = std::string(3, '\0'); }, "key"},
        {[](JobSpec& s) { s.idempotency_key = std::string(3, '\0'); }, "key"},
        {[](JobSpec& s) { s.idempotency_key = ""; }, "key"},
        {[](JobSpec& s) { s.args = std::string((1U << 20) + 1, ' '); }, "args"},
        {[](JobSpec& s) {
             s.limits = {"ok", "not ok"};
         },
         "limit"},
        {[](JobSpec& s) { s.timeouts.queue = {}; }, "timeouts"},
        {[](JobSpec& s) { s.timeouts.run = Duration{-1}; }, "timeouts"},
        {[](JobSpec& s) { s.timeouts.idle = Duration{}; }, "timeouts"},
        {[](JobSpec& s) { s.timeouts.total = Duration{}; }, "timeouts"},
        {[](JobSpec& s) { s.timeouts.total = days(3651); }, "timeouts"},
        {[](JobSpec& s) { s.hold = Duration{-1}; }, "hold"},
        {[](JobSpec& s) { s.hold = Duration{INT64_MAX}; }, "hold"},
        {[](JobSpec& s) { s.policy.retry_wait = Duration{-1}; }, "retry wait"},
        {[](JobSpec& s) { s.effects = Effects::once, s.policy.retries = 1; }, "once"},
        {[](JobSpec& s) { s.policy.retry_wait_max = days(3651); }, "retry wait"},
        {[](JobSpec& s) { s.policy.jitter_percent = 101; }, "jitter"},
        {[](JobSpec& s) { s.argv = {""}; }, "argv"},
        {[](JobSpec& s) { s.argv.emplace_back("a\0b", 3); }, "NUL"},
        {[](JobSpec& s) { s.argv.emplace_back(128U << 10, 'a'); }, "128 KiB"},
        {[](JobSpec& s) { s.env.emplace_back("", "a"); }, "env"},
        {[](JobSpec& s) { s.env.emplace_back("a=b", "a"); }, "env"},
        {[](JobSpec& s) { s.env.emplace_back("a", std::string(1, '\0')); }, "NUL"},
        {[](JobSpec& s) { s.cwd = "here"; }, "cwd"},
        {[](JobSpec& s) { s.keep_key = hours(1); }, "idempotency_key"},
        {[](JobSpec& s) { s.idempotency_key = "k", s.keep_key = days(3651); }, "keep_key"},
        {[](JobSpec& s) { s.resources.memory = (1U << 20) - 1; }, "memory"},
        {[](JobSpec& s) { s.resources.memory = (1ULL << 50) + 1; }, "memory"},
        {[](JobSpec& s) { s.resources.cpu_percent = 0; }, "cpu_percent"},
        {[](JobSpec& s) { s.resources.cpu_percent = 100'001; }, "cpu_percent"},
        {[](JobSpec& s) { s.resources.processes = 0; }, "processes"},
        {[](JobSpec& s) { s.share = "Ann"; }, "share"},
    };
    for (const auto& [edit, word] : table) {
        auto spec = acceptable();
        edit(spec);
        const auto refused = check_spec(spec);
        ASSERT_TRUE(refused) << word;
        EXPECT_EQ(refused->code, Errc::invalid);
        EXPECT_NE(refused->what.find(word), std::string::npos) << refused->what;
    }
}

TEST(CheckSpec, takes_every_value_up_to_its_bound) {
    const Edit table[] = {
        [](JobSpec& s) { s.tenant = std::string(64, 'a'); },
        [](JobSpec& s) { s.queue = "0.a_b-c"; },
        [](JobSpec& s) { s.share = std::string(64, 'a'); },
        [](JobSpec& s) { s.priority = 9; },
        [](JobSpec& s) { s.key = std::string(255, ' '); },
        [](JobSpec& s) { s.args = std::string(1U << 20, ' '); },
        [](JobSpec& s) {
            s.timeouts = {Duration{1}, Duration{1}, Duration{1}, days(3650)};
        },
        [](JobSpec& s) { s.hold = Duration{}; },
        [](JobSpec& s) { s.policy.retries = 1'000'000; },
        [](JobSpec& s) { s.idempotency_key = "k", s.keep_key = Duration{}; },
        [](JobSpec& s) { s.resources = {.memory = 1U << 20, .cpu_percent = 1, .processes = 1}; },
    };
    for (const auto& edit : table) {
        auto spec = acceptable();
        edit(spec);
        EXPECT_FALSE(check_spec(spec)) << &edit - table;
    }
}

TEST(CheckSpec, knows_a_name_by_each_of_its_characters) {
    for (int c = 0; c < 256; ++c) {
        const auto letter = static_cast<char>(c);
        const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
        const bool mark = letter == '.' || letter == '_' || letter == '-';
        auto first = acceptable();
        first.queue = std::string(1, letter) + "x";
        EXPECT_EQ(check_spec(first).has_value(), !plain) << c;
        auto later = acceptable();
        later.queue = std::string("x") + letter;
        EXPECT_EQ(check_spec(later).has_value(), !(plain || mark)) << c;
    }
    auto spec = acceptable();
    spec.queue = std::string(65, 'a');
    EXPECT_TRUE(check_spec(spec));
}

std::vector<IdempotencyFacts> every_combination() {
    std::vector<IdempotencyFacts> all;
    for (const bool known : {false, true})
        for (const bool same : {false, true})
            for (const bool gone : {false, true}) all.push_back({known, same, gone});
    return all;
}

// [P1]: same key, same job.
TEST(DecideIdempotency, makes_a_job_exactly_for_a_new_key) {
    for (const auto& f : every_combination())
        EXPECT_EQ(decide_idempotency(f).kind == IdempotencyDecision::Kind::create, !f.key_known);
}

TEST(DecideIdempotency, answers_a_known_key_by_body_and_then_by_what_is_left_of_the_job) {
    using Kind = IdempotencyDecision::Kind;
    for (const auto& f : every_combination()) {
        if (!f.key_known) continue;
        const auto same = f.job_gone ? Kind::gone : Kind::same_job;
        EXPECT_EQ(decide_idempotency(f).kind, f.same_body ? same : Kind::other_body);
    }
}

TEST(DecideIdempotency, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_combination()) rules.insert(decide_idempotency(f).rule);
    EXPECT_EQ(rules,
              (std::set<std::string_view>{"C5/new", "C5/other_body", "C5/gone", "C5/same_job"}));
}

std::shared_ptr<JobSpec> plain() { return std::make_shared<JobSpec>(acceptable()); }

TEST(CheckCallbacks, are_looked_at_like_jobs_and_named_by_their_path) {
    auto deep = plain();
    deep->priority = 10;
    auto callback = plain();
    callback->callbacks = {
        {Trigger::success, plain()}, {Trigger::end, plain()}, {Trigger::end, deep}};
    auto spec = acceptable();
    spec.callbacks = {{Trigger::end, plain()}, {Trigger::failure, callback}};
    const auto fault = find_fault(spec);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->field, "on_failure[0].on_end[1].priority");
}

TEST(CheckCallbacks, have_nothing_that_only_a_submit_can_have) {
    const std::pair<std::string, Edit> table[] = {
        {"tenant", [](JobSpec& s) { s.tenant = "other"; }},
        {"idempotency_key", [](JobSpec& s) { s.idempotency_key = "k"; }},
        {"after", [](JobSpec& s) { s.after = {{JobId{1}}}; }},
    };
    for (const auto& [field, edit] : table) {
        auto callback = plain();
        edit(*callback);
        auto spec = acceptable();
        spec.callbacks = {{Trigger::end, callback}};
        ASSERT_TRUE(find_fault(spec));
        EXPECT_EQ(find_fault(spec)->field, "on_end[0]." + field);
        ASSERT_TRUE(find_fault_of_callback(*callback, acceptable()));
        EXPECT_EQ(find_fault_of_callback(*callback, acceptable())->field, field);
    }
}

TEST(CheckCallbacks, are_100_at_most_and_8_levels_deep) {
    auto spec = acceptable();
    for (int i = 0; i < 50; ++i) {
        auto callback = plain();
        callback->callbacks = {{Trigger::end, plain()}};
        spec.callbacks.push_back({Trigger::end, callback});
    }
    EXPECT_FALSE(find_fault(spec));
    spec.callbacks.push_back({Trigger::end, plain()});
    EXPECT_TRUE(find_fault(spec));

    auto chain = plain();
    for (std::size_t level = 1; level < callback_levels_max; ++level) {
        auto next = plain();
        next->callbacks = {{Trigger::end, chain}};
        chain = next;
    }
    auto deep = acceptable();
    deep.callbacks = {{Trigger::end, chain}};
    EXPECT_FALSE(find_fault(deep));
    auto too_deep = acceptable();
    too_deep.callbacks = {{Trigger::end, std::make_shared<JobSpec>(deep)}};
    EXPECT_TRUE(find_fault(too_deep));
}

TEST(CheckAfter, names_1000_jobs_at_most) {
    auto spec = acceptable();
    spec.after.resize(after_max);
    EXPECT_FALSE(find_fault(spec));
    spec.after.emplace_back();
    ASSERT_TRUE(find_fault(spec));
    EXPECT_EQ(find_fault(spec)->field, "after");
}

// A delay becomes a date: now + delay must be one.
TEST(FindFault, of_a_delay_refuses_what_is_no_duration_of_ours) {
    for (const auto good : {Duration{}, seconds(1), days(3650)})
        EXPECT_FALSE(find_fault_of_delay(good));
    for (const auto bad : {microseconds(-1), days(3650) + microseconds(1), days(106'751'991)})
        EXPECT_EQ(find_fault_of_delay(bad)->field, "delay");
}

TEST(FindFault, refuses_a_date_that_nobody_can_write) {
    JobSpec spec{.kind = "k"};
    for (const std::int64_t good : {std::int64_t{0}, std::int64_t{253'402'300'799'999'999}}) {
        spec.run_at = WallTime{good};
        EXPECT_FALSE(find_fault(spec)) << good;
    }
    for (const std::int64_t bad :
         {std::int64_t{-1}, std::int64_t{253'402'300'800'000'000}, INT64_MAX}) {
        spec.run_at = WallTime{bad};
        EXPECT_EQ(find_fault(spec)->field, "run_at") << bad;
    }
}

}  // namespace
}  // namespace perdure::submit_test
