#include "core/access/access.h"

#include <gtest/gtest.h>

#include <vector>

namespace perdure::access_test {
namespace {

constexpr std::array all_peers = {PeerKind::unknown, PeerKind::self, PeerKind::root,
                                  PeerKind::listed, PeerKind::other};
constexpr std::array all_tokens = {TokenState::absent, TokenState::valid, TokenState::unknown,
                                   TokenState::expired};
constexpr std::array all_reaches = {TenantReach::unbound, TenantReach::own, TenantReach::foreign,
                                    TenantReach::job_of_other, TenantReach::all};

// 6 routes x 5 peers x 5 roles x root trusted x forwarded x 4 tokens x 5 roles x 5 reaches.
std::vector<AccessFacts> every_combination() {
    std::vector<std::optional<Role>> leasts = {std::nullopt};
    for (const auto role : all_roles) leasts.emplace_back(role);
    std::vector<AccessFacts> all;
    for (const auto& least : leasts)
        for (const auto peer : all_peers)
            for (const auto listed_as : all_roles)
                for (const auto token : all_tokens)
                    for (const auto token_role : all_roles)
                        for (const auto tenant : all_reaches)
                            for (int bits = 0; bits < 4; ++bits)
                                all.push_back({.least = least,
                                               .peer = peer,
                                               .listed_as = listed_as,
                                               .trusts_root = (bits & 1) != 0,
                                               .forwarded = (bits & 2) != 0,
                                               .token = token,
                                               .token_role = token_role,
                                               .tenant = tenant});
    return all;
}

bool is_allowed(const AccessFacts& facts) {
    return decide_access(facts).verdict == AccessVerdict::allow;
}

TEST(DecideAccess, an_open_route_is_open_and_no_other_one_is) {
    for (const auto& facts : every_combination()) {
        if (!facts.least) {
            EXPECT_TRUE(is_allowed(facts));
        }
        const bool is_nobody = facts.token == TokenState::absent &&
                               (facts.peer == PeerKind::unknown || facts.peer == PeerKind::other);
        if (facts.least && is_nobody) {
            EXPECT_EQ(decide_access(facts).verdict, AccessVerdict::unauthenticated);
        }
    }
}

TEST(DecideAccess, a_request_that_was_forwarded_has_no_account) {
    for (const auto& facts : every_combination())
        if (facts.least && facts.forwarded && facts.token == TokenState::absent) {
            EXPECT_EQ(decide_access(facts).verdict, AccessVerdict::unauthenticated);
        }
}

TEST(DecideAccess, a_wrong_token_is_not_made_good_by_the_account) {
    for (const auto& facts : every_combination()) {
        const bool is_wrong =
            facts.token == TokenState::unknown || facts.token == TokenState::expired;
        if (facts.least && is_wrong) {
            EXPECT_EQ(decide_access(facts).verdict, AccessVerdict::unauthenticated);
        }
    }
}

TEST(DecideAccess, root_is_believed_only_if_that_is_wanted) {
    for (const auto& facts : every_combination())
        if (facts.least && facts.peer == PeerKind::root && facts.token == TokenState::absent &&
            !facts.trusts_root) {
            EXPECT_FALSE(is_allowed(facts));
        }
}

TEST(DecideAccess, no_role_reaches_more_than_the_route_allows) {
    for (const auto& facts : every_combination()) {
        if (!facts.least || !is_allowed(facts)) continue;
        const bool by_token = facts.token == TokenState::valid;
        const bool is_owner = facts.peer == PeerKind::self || facts.peer == PeerKind::root;
        const auto role = by_token ? facts.token_role : is_owner ? Role::admin : facts.listed_as;
        EXPECT_TRUE(reaches(role, *facts.least));
        EXPECT_EQ(decide_access(facts).role, role);
    }
}

TEST(DecideAccess, who_is_bound_to_a_tenant_reaches_nothing_else) {
    for (const auto& facts : every_combination()) {
        if (!facts.least || !is_allowed(facts)) continue;
        EXPECT_TRUE(facts.tenant == TenantReach::unbound || facts.tenant == TenantReach::own);
    }
}

TEST(DecideAccess, a_job_of_another_tenant_is_hidden_from_those_who_could_see_their_own) {
    for (auto facts : every_combination()) {
        if (facts.tenant != TenantReach::job_of_other) continue;
        auto own = facts;
        own.tenant = TenantReach::own;
        if (facts.least && is_allowed(own)) {
            EXPECT_EQ(decide_access(facts).verdict, AccessVerdict::hidden);
        }
    }
}

TEST(DecideAccess, whoever_is_admitted_by_every_fact_is_admitted) {
    for (const auto role : all_roles) {
        EXPECT_TRUE(is_allowed({.least = role, .peer = PeerKind::self}));
        EXPECT_TRUE(is_allowed({.least = role, .peer = PeerKind::root}));
        EXPECT_TRUE(is_allowed({.least = role, .peer = PeerKind::listed, .listed_as = role}));
        EXPECT_TRUE(is_allowed({.least = role, .token = TokenState::valid, .token_role = role}));
    }
}

TEST(Roles, only_workers_and_administrators_reach_what_workers_do) {
    for (const auto role : all_roles)
        EXPECT_EQ(reaches(role, Role::worker), role == Role::worker || role == Role::admin);
    for (const auto least : all_roles)
        EXPECT_EQ(reaches(Role::worker, least), least == Role::worker);
    EXPECT_TRUE(reaches(Role::submitter, Role::viewer));
    EXPECT_FALSE(reaches(Role::submitter, Role::operator_));
}

TEST(Roles, have_one_name_each) {
    for (const auto role : all_roles) EXPECT_EQ(role_named(to_string(role)), role);
    EXPECT_FALSE(role_named("root"));
}

// Over all facts about a socket, besides the number itself.
TEST(DecidePeer, is_known_only_if_every_sign_says_so) {
    for (int bits = 0; bits < 32; ++bits) {
        SocketFacts facts{.found = (bits & 1) != 0,
                          .established = (bits & 2) != 0,
                          .has_inode = (bits & 4) != 0,
                          .own_end_established = (bits & 8) != 0,
                          .uid = 1'000};
        if (bits & 16) facts.door = SocketFacts::Door::unix_socket;
        const bool is_certain = (bits & 16) || (bits & 15) == 15;
        EXPECT_EQ(decide_peer(facts).has_value(), is_certain) << bits;
        facts.uid = facts.overflow_uid;
        EXPECT_FALSE(decide_peer(facts)) << "it may be anybody of another namespace";
    }
}

TEST(DecideAnswerer, only_this_account_root_and_those_named_are_told_secrets) {
    EXPECT_EQ(decide_answerer({.uid = {}, .self = 1'000}), AnswererDecision::refuse);
    EXPECT_EQ(decide_answerer({.uid = {}, .self = 1'000, .is_listed = true}),
              AnswererDecision::refuse);
    EXPECT_EQ(decide_answerer({.uid = 1'001, .self = 1'000}), AnswererDecision::refuse);
    EXPECT_EQ(decide_answerer({.uid = 1'001, .self = 1'000, .is_listed = true}),
              AnswererDecision::trust);
    EXPECT_EQ(decide_answerer({.uid = 1'000, .self = 1'000}), AnswererDecision::trust);
    EXPECT_EQ(decide_answerer({.uid = 0, .self = 1'000}), AnswererDecision::trust);
}

}  // namespace
}  // namespace perdure::access_test
