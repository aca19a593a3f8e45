#include "core/worker/kinds.h"

#include <gtest/gtest.h>

#include "core/job/webhook.h"
#include "core/ownership/claim.h"

namespace perdure::kinds_test {
namespace {

using Names = std::vector<std::string>;

TEST(ChooseKinds, a_worker_lists_all_that_it_can_do_and_never_everything) {
    const auto all = choose_kinds({});
    ASSERT_TRUE(all);
    EXPECT_EQ(*all, (Names{"", "perdure.noop", "perdure.sleep", std::string(webhook_kind)}));
}

// Every list of what there is gives exactly those; each with one more that there is not, none.
TEST(ChooseKinds, takes_exactly_what_is_listed_and_refuses_what_it_cannot_run) {
    for (unsigned bits = 1; bits < 1U << own_kinds.size(); ++bits) {
        Names listed;
        Names wanted;
        for (std::size_t i = 0; i < own_kinds.size(); ++i) {
            if ((bits >> i & 1U) == 0) continue;
            listed.emplace_back(spoken_kind(own_kinds[i]));
            wanted.emplace_back(own_kinds[i]);
        }
        const auto chosen = choose_kinds(listed);
        ASSERT_TRUE(chosen);
        EXPECT_EQ(*chosen, wanted);
        listed.emplace_back("mail.send");
        const auto refused = choose_kinds(listed);
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().what.find("`mail.send`"), std::string::npos);
        EXPECT_NE(refused.error().what.find("commands"), std::string::npos);
    }
}

// A job that only a handler can carry out waits for one.
TEST(ChooseKinds, a_worker_without_handlers_does_not_match_another_kind) {
    const auto kinds = choose_kinds({});
    ASSERT_TRUE(kinds);
    const Offer offer{.kinds = *kinds};
    EXPECT_FALSE(matches(offer, {.tenant = "default", .queue = "q", .kind = "mail.send"}));
    EXPECT_TRUE(matches(offer, {.tenant = "default", .queue = "q", .kind = ""}));
    EXPECT_TRUE(matches(offer, {.tenant = "default", .queue = "q", .kind = "perdure.noop"}));
}

}  // namespace
}  // namespace perdure::kinds_test
