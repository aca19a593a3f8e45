#include "core/ownership/keeper.h"

#include <gtest/gtest.h>

#include <set>

namespace perdure::keeper_test {
namespace {

using Kind = KeeperDecision::Kind;

constexpr ServerId me{7};
constexpr ServerId other{8};
constexpr Timing timing;

std::vector<KeeperFacts> every_combination() {
    std::vector<KeeperFacts> all;
    for (const auto holder : {ServerId{}, me, other})
        for (const std::uint64_t epoch : {0, 1, 9})
            for (const std::int64_t deadline : {0, 999, 1'000, 1'001})
                all.push_back({.role = {holder, epoch, ServiceTime{deadline}},
                               .me = me,
                               .clock = {.now = ServiceTime{1'000}}});
    return all;
}

TEST(DecideKeeper, never_takes_the_role_from_a_holder_whose_deadline_has_not_come) {
    for (const auto& f : every_combination()) {
        const bool held = f.role.holder == other && f.clock.now < f.role.deadline;
        const auto decision = decide_keeper(f, timing);
        if (held) {
            EXPECT_EQ(decision.kind, Kind::wait);
        }
        if (held) {
            EXPECT_EQ(decision.next, f.role);
        }
    }
}

TEST(DecideKeeper, takes_every_vacant_role_under_a_new_epoch) {
    for (const auto& f : every_combination()) {
        const bool vacant =
            !f.role.holder || (f.role.holder == other && f.clock.now >= f.role.deadline);
        const auto decision = decide_keeper(f, timing);
        EXPECT_EQ(decision.kind == Kind::take, vacant);
        if (vacant) {
            EXPECT_EQ(decision.next.epoch, f.role.epoch + 1);
        }
    }
}

TEST(DecideKeeper, renews_its_own_role_and_keeps_the_epoch) {
    for (const auto& f : every_combination()) {
        const auto decision = decide_keeper(f, timing);
        EXPECT_EQ(decision.kind == Kind::renew, f.role.holder == me);
        if (decision.kind == Kind::renew) {
            EXPECT_EQ(decision.next.epoch, f.role.epoch);
        }
    }
}

TEST(DecideKeeper, who_holds_the_role_holds_it_until_a_deadline) {
    for (const auto& f : every_combination()) {
        const auto decision = decide_keeper(f, timing);
        if (decision.kind == Kind::wait) continue;
        EXPECT_EQ(decision.next.holder, me);
        EXPECT_EQ(decision.next.deadline, f.clock.now + timing.keeper);
    }
}

TEST(DecideKeeper, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_combination()) rules.insert(decide_keeper(f, timing).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"keeper/renew", "keeper/held", "keeper/vacant"}));
}

}  // namespace
}  // namespace perdure::keeper_test
