#include "core/policy/policy_book.h"

#include <gtest/gtest.h>

#include <string>

namespace perdure::policy_book_test {
namespace {

PolicyChoice patient() {
    return {.name = PolicyName::forever, .rules = {{.causes = {Cause::exit}, .times = 3}}};
}

PolicyBook book_with(bool kind, bool queue) {
    PolicyBook book;
    book.named = {{"patient", patient()}, {"bare", {.name = PolicyName::never}}};
    if (kind) book.of_kind = {{"mail", "patient"}};
    if (queue) book.of_queue = {{"slow", "never"}};
    book.of_server = "forever";
    return book;
}

JobSpec asking(const std::string& queue, const std::string& kind) {
    JobSpec spec{.queue = queue, .kind = kind};
    spec.policy.retries = 7;
    return spec;
}

TEST(DecidePolicy, job_before_kind_before_queue_before_server) {
    for (const bool kind : {false, true})
        for (const bool queue : {false, true})
            for (const auto* queue_name : {"slow", "other"})
                for (const auto* kind_name : {"mail", "other", ""})
                    for (const auto wish : {PolicyOrigin::inherited, PolicyOrigin::chosen}) {
                        const auto spec = asking(queue_name, kind_name);
                        const auto got = decide_policy(book_with(kind, queue), spec, wish);
                        auto expected = PolicyLevel::server;
                        auto name = PolicyName::forever;
                        if (queue && std::string(queue_name) == "slow")
                            expected = PolicyLevel::queue, name = PolicyName::never;
                        if (kind && std::string(kind_name) == "mail")
                            expected = PolicyLevel::kind, name = PolicyName::forever;
                        if (wish == PolicyOrigin::chosen)
                            expected = PolicyLevel::job, name = PolicyName::default_;
                        EXPECT_EQ(got.level, expected);
                        EXPECT_EQ(got.policy.level, expected) << "it is stored with the job";
                        EXPECT_EQ(got.policy.name, name);
                        EXPECT_EQ(!got.policy.rules.empty(), expected == PolicyLevel::kind);
                        EXPECT_EQ(got.policy.retries, 7U) << "retries are the job's own";
                        EXPECT_FALSE(got.refused);
                    }
}

TEST(DecidePolicy, looks_up_what_a_job_only_names) {
    auto spec = asking("default", "");
    spec.policy.custom = "patient";
    auto got = decide_policy(book_with(false, false), spec, PolicyOrigin::chosen);
    EXPECT_EQ(got.policy.rules, patient().rules);
    EXPECT_EQ(got.policy.name, PolicyName::forever);
    EXPECT_EQ(got.policy.custom, "patient");
    spec.policy.custom = "bare";
    got = decide_policy(book_with(false, false), spec, PolicyOrigin::chosen);
    EXPECT_EQ(got.policy.name, PolicyName::never);
}

TEST(DecidePolicy, refuses_a_name_that_nobody_knows_with_a_suggestion) {
    auto spec = asking("default", "");
    spec.policy.custom = "pateint";
    const auto got = decide_policy(book_with(false, false), spec, PolicyOrigin::chosen);
    ASSERT_TRUE(got.refused);
    EXPECT_EQ(got.refused->place, "");
    EXPECT_EQ(got.refused->what, "there is no policy \"pateint\"; did you mean patient?");
}

// Else a queue's policy would make it impossible to submit a `once` job there.
TEST(DecidePolicy, only_what_a_job_chooses_itself_may_not_contradict_its_effects) {
    auto spec = asking("default", "mail");
    spec.effects = Effects::once;
    EXPECT_FALSE(decide_policy(book_with(true, true), spec, PolicyOrigin::inherited).refused);
    spec.policy.custom = "patient";
    EXPECT_TRUE(decide_policy(book_with(true, true), spec, PolicyOrigin::chosen).refused);
    spec.policy = patient();
    const auto own = decide_policy(book_with(true, true), spec, PolicyOrigin::chosen);
    ASSERT_TRUE(own.refused);
    EXPECT_EQ(own.refused->place, "rules[0].times");
}

TEST(DecidePolicy, what_was_settled_before_stays_whatever_the_configuration_says_now) {
    auto spec = asking("slow", "mail");
    spec.effects = Effects::once;
    spec.policy = patient();
    spec.policy.custom = "of-last-year";
    for (const auto level : {PolicyLevel::job, PolicyLevel::server}) {
        spec.policy.level = level;
        const auto got = decide_policy(book_with(true, true), spec, PolicyOrigin::frozen);
        EXPECT_EQ(got.policy, spec.policy);
        EXPECT_EQ(got.level, level);
        EXPECT_FALSE(got.refused);
    }
}

TEST(DecideWorkerPolicy, is_what_the_book_says_about_a_worker_of_that_name) {
    auto book = book_with(true, true);
    book.of_worker = {{"gpu-7", "patient"}, {"gpu-8", "never"}};
    const auto own = decide_worker_policy(book, "gpu-7");
    ASSERT_TRUE(own);
    EXPECT_EQ(own->rules, patient().rules);
    EXPECT_EQ(own->custom, "patient");
    EXPECT_EQ(own->level, PolicyLevel::worker);
    const auto built_in = decide_worker_policy(book, "gpu-8");
    ASSERT_TRUE(built_in);
    EXPECT_EQ(built_in->name, PolicyName::never);
    EXPECT_TRUE(built_in->custom.empty());
    EXPECT_FALSE(decide_worker_policy(book, "gpu-9"));
}

// Job, kind and queue are more specific than the worker, and the server is less.
TEST(PolicyForAttempt, is_the_workers_exactly_if_the_job_has_inherited_the_servers) {
    auto of_worker = patient();
    of_worker.custom = "patient";
    of_worker.retries = 99;
    of_worker.level = PolicyLevel::worker;
    for (const auto level :
         {PolicyLevel::job, PolicyLevel::kind, PolicyLevel::queue, PolicyLevel::server})
        for (const auto name : {PolicyName::default_, PolicyName::never, PolicyName::forever})
            for (const bool has_rules : {false, true})
                for (const bool worker_has_one : {false, true}) {
                    PolicyChoice job{.name = name, .retries = 7, .retry_wait = seconds(9)};
                    job.growth = Growth::linear;
                    job.jitter_percent = 3;
                    job.level = level;
                    if (has_rules) job.rules = {{.causes = {Cause::oom}, .times = 1}};
                    const auto got = policy_for_attempt(job, worker_has_one ? &of_worker : nullptr);
                    auto expected = job;
                    if (worker_has_one && level == PolicyLevel::server) {
                        expected.name = of_worker.name;
                        expected.rules = of_worker.rules;
                        expected.custom = of_worker.custom;
                        expected.level = PolicyLevel::worker;
                    }
                    EXPECT_EQ(got, expected) << "retries stay the job's own";
                }
}

}  // namespace
}  // namespace perdure::policy_book_test
