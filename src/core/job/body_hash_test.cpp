#include "core/job/body_hash.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace perdure::body_hash_test {
namespace {

JobSpec acceptable() { return {.argv = {"true"}}; }
std::shared_ptr<JobSpec> plain() { return std::make_shared<JobSpec>(acceptable()); }

// Something in every field that a body had when 64 bits were stored.
JobSpec full() {
    auto spec = acceptable();
    spec.kind = "mail.send";
    spec.args = R"({"to":7})";
    spec.env = {{"A", "b"}};
    spec.key = "k";
    spec.limits = {"pool"};
    spec.policy.custom = "patient";
    spec.policy.rules = {{.causes = {Cause::exit},
                          .exit_codes = {75},
                          .text = "quota",
                          .times = 3,
                          .wait = seconds(5)}};
    spec.callbacks = {{Trigger::failure, plain()}};
    spec.after = {{JobId{9}, Trigger::end}, {JobId{}, Trigger::success}};
    spec.failure_level = Level::info;
    spec.resources.memory = 1U << 20U;
    spec.keep_key = hours(1);
    spec.share = "ann";
    return spec;
}
const std::vector<AfterEarlier> fourth = {{1, 4}};

using Edit = std::function<void(JobSpec&)>;

// C5: another body under the same key is an error of the caller and must be seen.
TEST(BodyHash, differs_for_every_field_that_was_asked) {
    const Edit edits[] = {
        [](JobSpec&) {},
        [](JobSpec& s) { s.tenant = "t"; },
        [](JobSpec& s) { s.queue = "q"; },
        [](JobSpec& s) { s.kind = "k"; },
        [](JobSpec& s) {
            s.argv = {"tr", "ue"};
        },
        [](JobSpec& s) {
            s.argv = {"true", ""};
        },
        [](JobSpec& s) { s.args = "{}"; },
        [](JobSpec& s) { s.priority = 4; },
        [](JobSpec& s) { s.effects = Effects::resumable; },
        [](JobSpec& s) { s.effects = Effects::once; },
        [](JobSpec& s) { s.key = ""; },
        [](JobSpec& s) { s.key = "a"; },
        [](JobSpec& s) { s.limits = {"a"}; },
        [](JobSpec& s) {
            s.limits = {"a", "b"};
        },
        [](JobSpec& s) { s.run_at = WallTime{5}; },
        [](JobSpec& s) { s.policy.name = PolicyName::never; },
        [](JobSpec& s) { s.policy.retries = 5; },
        [](JobSpec& s) { s.policy.retry_wait = seconds(5); },
        [](JobSpec& s) { s.timeouts.queue = seconds(5); },
        [](JobSpec& s) { s.timeouts.run = seconds(5); },
        [](JobSpec& s) { s.timeouts.idle = seconds(5); },
        [](JobSpec& s) { s.timeouts.total = seconds(5); },
        [](JobSpec& s) { s.hold = Duration{}; },
        [](JobSpec& s) { s.hold = seconds(5); },
        [](JobSpec& s) { s.policy.growth = Growth::linear; },
        [](JobSpec& s) { s.policy.retry_wait_max = seconds(5); },
        [](JobSpec& s) { s.policy.jitter_percent = 5; },
        [](JobSpec& s) {
            s.env = {{"a", "b"}};
        },
        [](JobSpec& s) {
            s.env = {{"ab", ""}};
        },
        [](JobSpec& s) { s.cwd = "/"; },
        [](JobSpec& s) { s.output_max = 5; },
        [](JobSpec& s) { s.retry_of = JobId{5}; },
        [](JobSpec& s) { s.keep_key = hours(1); },
        [](JobSpec& s) { s.share = "ann"; },
        [](JobSpec& s) { s.failure_level = Level::debug; },
        [](JobSpec& s) { s.policy.custom = "patient"; },
        [](JobSpec& s) { s.policy.rules = {{}}; },
        [](JobSpec& s) { s.resources.memory = 5; },
        [](JobSpec& s) { s.resources.cpu_percent = 5; },
        [](JobSpec& s) { s.resources.processes = 5; },
    };
    std::set<BodyHash> hashes;
    for (const auto& edit : edits) {
        auto spec = acceptable();
        edit(spec);
        EXPECT_TRUE(hashes.insert(body_hash(spec)).second) << &edit - edits;
    }
}

TEST(BodyHash, leaves_the_idempotency_key_out) {
    auto spec = acceptable();
    spec.idempotency_key = "again";
    EXPECT_EQ(body_hash(spec), body_hash(acceptable()));
}

// It is settled after the submit, by the configuration of that day.
TEST(BodyHash, leaves_out_who_chose_the_policy) {
    auto spec = acceptable();
    spec.policy.level = PolicyLevel::server;
    EXPECT_EQ(body_hash(spec), body_hash(acceptable()));
}

TEST(BodyHash, tells_callbacks_and_after_apart) {
    std::set<BodyHash> hashes;
    auto spec = acceptable();
    EXPECT_TRUE(hashes.insert(body_hash(spec)).second);
    spec.callbacks = {{Trigger::end, plain()}};
    EXPECT_TRUE(hashes.insert(body_hash(spec)).second);
    spec.callbacks.front().on = Trigger::success;
    EXPECT_TRUE(hashes.insert(body_hash(spec)).second);
    spec.after = {{JobId{1}}};
    EXPECT_TRUE(hashes.insert(body_hash(spec)).second);
    spec.after.front().on = Trigger::end;
    EXPECT_TRUE(hashes.insert(body_hash(spec)).second);
}

TEST(BodyHash, tells_apart_what_only_the_request_has) {
    const auto spec = full();
    const std::vector<AfterEarlier> fifth = {{1, 5}};
    const std::vector<AfterEarlier> elsewhere = {{0, 4}};
    std::set<BodyHash> hashes;
    for (const auto& asked :
         {AskedBody{spec}, AskedBody{spec, Duration{}}, AskedBody{spec, seconds(1)},
          AskedBody{spec, {}, fourth}, AskedBody{spec, {}, fifth}, AskedBody{spec, {}, elsewhere},
          AskedBody{spec, seconds(1), fourth}})
        EXPECT_TRUE(hashes.insert(body_hash(asked)).second) << hashes.size();
}

// Else a value could be moved from one field to another, and the bytes would be the same.
TEST(BodyHash, tells_apart_equal_values_of_different_fields) {
    std::set<BodyHash> hashes;
    auto share = acceptable();
    share.share = "debug";
    auto level = acceptable();
    level.failure_level = Level::debug;
    auto keep_key = acceptable();
    keep_key.keep_key = seconds(1);
    EXPECT_TRUE(hashes.insert(body_hash(share)).second);
    EXPECT_TRUE(hashes.insert(body_hash(level)).second);
    EXPECT_TRUE(hashes.insert(body_hash(keep_key)).second);
    EXPECT_TRUE(hashes.insert(body_hash(AskedBody{acceptable(), seconds(1)})).second);
}

// Both halves are used: 64 of the 128 bits alone tell all of these apart.
TEST(BodyHash, has_two_halves_that_differ_everywhere) {
    std::set<std::uint64_t> low;
    std::set<std::uint64_t> high;
    for (int i = 0; i < 1'000; ++i) {
        auto spec = acceptable();
        spec.args = std::to_string(i);
        const auto hash = body_hash(spec);
        low.insert(hash.low);
        high.insert(hash.high);
    }
    EXPECT_EQ(low.size(), 1'000U);
    EXPECT_EQ(high.size(), 1'000U);
}

// It is stored: a new release, compiler or library must find the same (B3).
TEST(BodyHash, is_the_same_in_every_release) {
    EXPECT_EQ(body_hash(acceptable()), (BodyHash{0x65102ffd47ccb0fd, 0x8246058d370f3593}));
    EXPECT_EQ(body_hash(AskedBody{full(), seconds(90), fourth}),
              (BodyHash{0x4f5e8134f3e4539e, 0xe34a1f10e8cc7633}));
}

// As they were computed by a release that stored 64 bits.
TEST(OldBodyHash, is_what_it_was) {
    EXPECT_EQ(old_body_hash({acceptable()}), 18414585724646910867U);
    EXPECT_EQ(old_body_hash({full()}), 11670054643359570171U);
    EXPECT_EQ(old_body_hash({full(), seconds(90), fourth}), 15567351687222697159U);
}

TEST(IsSameBody, compares_with_the_hash_that_is_stored) {
    const BodyHash asked{.low = 1, .high = 2};
    const BodyHash old{.low = 7, .is_short = true};
    EXPECT_TRUE(is_same_body(asked, asked, std::nullopt));
    EXPECT_TRUE(is_same_body(old, asked, 7));
    EXPECT_TRUE(is_same_body(old, old, std::nullopt));
    EXPECT_FALSE(is_same_body(old, asked, 8));
    EXPECT_FALSE(is_same_body(old, asked, std::nullopt));
    EXPECT_FALSE(is_same_body({.low = 1, .high = 3}, asked, 1));
    EXPECT_FALSE(is_same_body({.low = 2, .high = 2}, asked, 2));
    // The lower half of a long hash is not a short one, and the other way round.
    EXPECT_FALSE(is_same_body({.low = 1, .is_short = true}, asked, 7));
    EXPECT_FALSE(is_same_body({.low = 7}, asked, 7));
}

}  // namespace
}  // namespace perdure::body_hash_test
