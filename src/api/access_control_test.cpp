// Every route, every role, and every tenant that a request can be about: who gets in. The routes
// are those of the table, so that one that is added is tried without being named here.
#include "api/access_control.h"

#include <gtest/gtest.h>

#include <map>

#include "api/router.h"

namespace perdure {
namespace {

constexpr WallTime now{1'000'000'000};

class TokensOfTest final : public Tokens {
public:
    std::map<std::string, Token, std::less<>> by_secret;

    const Token* find(std::string_view secret) const override {
        const auto found = by_secret.find(secret);
        return found == by_secret.end() ? nullptr : &found->second;
    }
    std::vector<Token> list() const override { return {}; }
    Result<std::string> create(Token) override { return error(Errc::invalid, "not here"); }
    Result<void> revoke(std::string_view name) override {
        std::erase_if(by_secret, [&](const auto& entry) { return entry.second.name == name; });
        return {};
    }
};

class PeersOfTest final : public Peers {
public:
    std::optional<std::uint32_t> account;

    std::optional<std::uint32_t> account_of(int) override { return account; }
    std::string name_of(std::uint32_t) override { return "somebody"; }
};

class Access : public testing::Test {
protected:
    AccessControl control() {
        return AccessControl(
            {.peers = &peers, .tokens = &tokens, .self = 1'000, .users = {{1'001, Role::viewer}}});
    }
    // A request that names `tenant` in its query and carries this token, if any.
    static Request request(const std::string& secret, const std::string& tenant = "default") {
        Request made;
        made.query.emplace_back("tenant", tenant);
        if (!secret.empty()) made.authorization = "Bearer " + secret;
        return made;
    }
    AccessVerdict verdict(const Route& route, const Request& asked, const std::string& job_tenant) {
        const auto access = control();
        const auto bound_to = access.tenant_of(asked);
        const auto reach =
            bound_to.empty() ? TenantReach::unbound : reach_of(route, asked, bound_to, job_tenant);
        return access.judge({}, asked, route.least, reach, now).decision.verdict;
    }

    TokensOfTest tokens;
    PeersOfTest peers;
};

TEST_F(Access, every_route_is_closed_to_strangers_but_livez_and_readyz) {
    for (const auto& route : all_routes()) {
        const bool is_open = route.pattern == "/livez" || route.pattern == "/readyz";
        EXPECT_EQ(verdict(route, request(""), "") == AccessVerdict::allow, is_open)
            << route.pattern;
        EXPECT_EQ(verdict(route, request("wrong"), "") == AccessVerdict::allow, is_open)
            << route.pattern;
    }
}

TEST_F(Access, every_route_lets_in_the_roles_that_reach_it_and_no_others) {
    for (const auto role : all_roles) {
        tokens.by_secret["s"] = {.name = "t", .role = role};
        for (const auto& route : all_routes()) {
            const bool may = !route.least || reaches(role, *route.least);
            EXPECT_EQ(verdict(route, request("s"), "other") == AccessVerdict::allow, may)
                << to_string(role) << " " << route.pattern;
        }
    }
}

TEST_F(Access, a_token_of_a_tenant_reaches_its_own_and_nothing_of_others) {
    for (const auto role : all_roles) {
        tokens.by_secret["s"] = {.name = "t", .role = role, .tenant = "shop"};
        for (const auto& route : all_routes()) {
            const bool may = !route.least || reaches(role, *route.least);
            const bool of_all = route.scope == Scope::instance && route.least;
            const auto own = verdict(route, request("s", "shop"), "shop");
            EXPECT_EQ(own == AccessVerdict::allow, may && !of_all)
                << to_string(role) << " " << route.pattern;
            const auto foreign = verdict(route, request("s", "bank"), "bank");
            const bool is_no_tenants = route.scope == Scope::anyone || route.scope == Scope::body;
            if (route.least && !is_no_tenants) {
                EXPECT_NE(foreign, AccessVerdict::allow) << to_string(role) << route.pattern;
            }
            if (may && route.scope == Scope::job) {
                EXPECT_EQ(foreign, AccessVerdict::hidden) << route.pattern;
            }
        }
    }
}

TEST_F(Access, what_workers_do_is_for_workers_alone) {
    for (const auto& route : all_routes())
        EXPECT_EQ(route.pattern.starts_with("/v1/worker/"), route.least == Role::worker)
            << route.pattern;
}

TEST_F(Access, a_revoked_or_expired_token_is_of_no_use_at_once) {
    tokens.by_secret["s"] = {.name = "t", .role = Role::admin};
    EXPECT_TRUE(control().is_still_good(request("s"), now));
    ASSERT_TRUE(tokens.revoke("t").has_value());
    EXPECT_FALSE(control().is_still_good(request("s"), now));
    tokens.by_secret["s"] = {.name = "t", .role = Role::admin, .expires_at = now};
    EXPECT_FALSE(control().is_still_good(request("s"), now));
    EXPECT_TRUE(control().is_still_good(request(""), now)) << "the account stays who it was";
}

TEST_F(Access, an_account_is_told_by_its_number) {
    EXPECT_EQ(control().look_up(0).kind, PeerKind::unknown);
    peers.account = 1'000;
    EXPECT_EQ(control().look_up(0).kind, PeerKind::self);
    peers.account = 0;
    EXPECT_EQ(control().look_up(0).kind, PeerKind::root);
    peers.account = 1'001;
    EXPECT_EQ(control().look_up(0).kind, PeerKind::listed);
    EXPECT_EQ(control().look_up(0).listed_as, Role::viewer);
    peers.account = 1'002;
    EXPECT_EQ(control().look_up(0).kind, PeerKind::other);
    EXPECT_EQ(control().look_up(0).name, "somebody");
}

TEST_F(Access, refusals_have_a_status_a_sentence_and_a_page) {
    Caller nobody{.decision = decide_access({.least = Role::viewer})};
    auto response = refusal_of(nobody, Role::viewer);
    EXPECT_EQ(response.status, 401U);
    EXPECT_NE(response.body.find("Authorization: Bearer"), std::string::npos);
    EXPECT_NE(response.body.find("docs/errors/unauthenticated.md"), std::string::npos);
    Caller small{
        .decision = decide_access(
            {.least = Role::admin, .token = TokenState::valid, .token_role = Role::viewer}),
        .name = "token t"};
    response = refusal_of(small, Role::admin);
    EXPECT_EQ(response.status, 403U);
    EXPECT_NE(response.body.find("token t has the role viewer, and this needs the role admin"),
              std::string::npos);
}

}  // namespace
}  // namespace perdure
