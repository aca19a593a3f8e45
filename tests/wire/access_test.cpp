// Access over real connections: that the server asks decide_access() at all, for every route, and
// keeps with a job who it was. The decisions themselves are tried over all facts in core.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <optional>
#include <string>

#include "api/router.h"
#include "client/api_client.h"
#include "tests/wire/live_server.h"

namespace perdure::wire_tests {
namespace {

constexpr std::uint32_t owner = 1'000;
constexpr std::uint32_t listed = 1'001;
constexpr std::uint32_t stranger = 1'002;

class PeersOfTest final : public Peers {
public:
    std::atomic<std::uint32_t> account = owner;
    std::optional<std::uint32_t> account_of(int) override { return account.load(); }
    std::string name_of(std::uint32_t uid) override { return uid == listed ? "ann" : "somebody"; }
};

class TokensOfTest final : public Tokens {
public:
    std::map<std::string, Token, std::less<>> by_secret;

    const Token* find(std::string_view secret) const override {
        const auto found = by_secret.find(secret);
        return found == by_secret.end() ? nullptr : &found->second;
    }
    std::vector<Token> list() const override { return {}; }
    Result<std::string> create(Token) override { return error(Errc::invalid, "not here"); }
    Result<void> revoke(std::string_view) override { return error(Errc::not_found, "not here"); }
};

struct Asked {
    unsigned status = 0;
    std::string body;
};

class AccessOverHttp : public testing::Test {
protected:
    AccessOverHttp() {
        for (const auto role : all_roles) {
            const std::string name(to_string(role));
            tokens.by_secret[name] = {.name = name, .role = role};
            tokens.by_secret[name + "-of-shop"] = {.name = name, .role = role, .tenant = "shop"};
        }
        ApiOptions options;
        options.access.peers = &peers;
        options.access.tokens = &tokens;
        options.access.self = owner;
        options.access.users = {{listed, Role::submitter}};
        server.emplace(std::move(options));
    }
    // On a connection of its own: that is when the account is looked up.
    Asked ask(const std::string& method, const std::string& target, const std::string& body = "",
              const std::string& token = "", const std::string& type = "application/json") {
        std::string text = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
        if (!token.empty()) text += "Authorization: Bearer " + token + "\r\n";
        if (!body.empty()) text += "Content-Type: " + type + "\r\n";
        text += "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
                body;
        const auto answer = exchange(server->port(), text);
        Asked asked;
        if (answer.size() > 12)
            asked.status = static_cast<unsigned>(std::stoi(answer.substr(9, 3)));
        if (const auto end = answer.find("\r\n\r\n"); end != std::string::npos)
            asked.body = answer.substr(end + 4);
        return asked;
    }
    std::string submit(const std::string& body, const std::string& token = "") {
        const auto made = ask("POST", "/v1/jobs", body, token);
        EXPECT_EQ(made.status, 201U) << made.body;
        const auto at = made.body.find("\"id\":\"");
        return at == std::string::npos ? "" : made.body.substr(at + 6, 13);
    }
    static std::string target_of(const Route& route, const std::string& name,
                                 const std::string& tenant) {
        std::string target(route.pattern);
        if (const auto at = target.find("{}"); at != std::string::npos) target.replace(at, 2, name);
        return route.scope == Scope::tenant ? target + "?tenant=" + tenant : target;
    }

    PeersOfTest peers;
    TokensOfTest tokens;
    std::optional<LiveServer> server;
};

TEST_F(AccessOverHttp, no_route_but_two_answers_a_stranger) {
    const auto job = submit(R"({"argv":["true"]})");
    peers.account = stranger;
    for (const auto& route : all_routes()) {
        const bool is_open = !route.least;
        const auto asked =
            ask(std::string(to_string(route.method)), target_of(route, job, "default"));
        EXPECT_EQ(asked.status == 401, !is_open) << route.pattern << " " << asked.status;
        if (!is_open) {
            EXPECT_EQ(asked.body.find("argv"), std::string::npos) << route.pattern;
        }
    }
}

// Every role, every route, a job of one's own tenant and of another: what was let in may be refused
// for another reason, but never for who it was.
TEST_F(AccessOverHttp, every_route_asks_for_the_role_and_the_tenant_of_a_token) {
    const auto of_shop = submit(R"({"argv":["true"],"tenant":"shop","queue":"unused"})");
    const auto of_bank = submit(R"({"argv":["true"],"tenant":"bank","queue":"unused"})");
    for (const auto role : all_roles)
        for (const auto& route : all_routes()) {
            if (!route.least) continue;
            const auto method = std::string(to_string(route.method));
            const std::string name(to_string(role));
            const bool may = reaches(role, *route.least);
            const bool is_refusable = !may || !route.stream;
            if (is_refusable) {  // a stream that is let in has no end
                const auto unbound = ask(method, target_of(route, of_bank, "bank"), "", name);
                EXPECT_EQ(unbound.status == 403, !may) << name << " " << route.pattern;
            }
            const auto foreign =
                ask(method, target_of(route, of_bank, "bank"), "", name + "-of-shop");
            if (route.scope == Scope::job) {
                EXPECT_EQ(foreign.status, may ? 404U : 403U) << name << " " << route.pattern;
            } else if (route.scope == Scope::tenant || route.scope == Scope::instance) {
                EXPECT_EQ(foreign.status, 403U) << name << " " << route.pattern;
            }
            if (route.scope == Scope::job && is_refusable) {
                const auto own =
                    ask(method, target_of(route, of_shop, "shop"), "", name + "-of-shop");
                EXPECT_EQ(own.status == 403, !may) << name << " " << route.pattern;
            }
        }
}

TEST_F(AccessOverHttp, a_job_keeps_who_the_connection_was_whatever_its_body_says) {
    const auto said =
        ask("POST", "/v1/jobs", R"({"argv":["true"],"submitted_by":{"name":"root","uid":0}})");
    EXPECT_EQ(said.status, 400U) << said.body;
    const auto said_parent =
        ask("POST", "/v1/jobs", R"({"argv":["true"],"parent":{"job":"06na5x0g00000","epoch":1}})");
    EXPECT_EQ(said_parent.status, 400U) << said_parent.body;

    peers.account = listed;
    const auto job = submit(R"({"argv":["true"],"queue":"unused","on_end":[{"argv":["false"]}]})");
    EXPECT_NE(
        ask("GET", "/v1/jobs/" + job).body.find(R"("submitted_by":{"name":"ann","uid":1001})"),
        std::string::npos);
    EXPECT_NE(ask("GET", "/v1/jobs").body.find(R"("submitted_by":{"name":"ann","uid":1001})"),
              std::string::npos);

    // A token counts alone, and has no uid.
    const auto by_token = submit(R"({"argv":["true"],"queue":"unused"})", "submitter");
    EXPECT_NE(ask("GET", "/v1/jobs/" + by_token)
                  .body.find(R"("submitted_by":{"name":"token submitter"})"),
              std::string::npos);

    // Cancelled by somebody else: that one is named; the callback is its asker's.
    peers.account = owner;
    EXPECT_EQ(ask("POST", "/v1/jobs/" + job + "/hold").status, 200U);
    EXPECT_EQ(ask("POST", "/v1/jobs/" + job + "/cancel", "", "operator").status, 200U);
    const auto shown = ask("GET", "/v1/jobs/" + job).body;
    EXPECT_NE(shown.find(R"("act":"held","by":"somebody")"), std::string::npos) << shown;
    EXPECT_NE(shown.find(R"("act":"cancelled","by":"token operator")"), std::string::npos) << shown;
    const auto all = ask("GET", "/v1/jobs").body;
    std::size_t of_ann = 0;
    for (auto at = all.find("\"uid\":1001"); at != std::string::npos;
         at = all.find("\"uid\":1001", at + 1))
        ++of_ann;
    EXPECT_EQ(of_ann, 2U) << all;
}

TEST_F(AccessOverHttp, a_retry_is_whose_the_first_job_was) {
    peers.account = listed;
    const auto job = submit(R"({"argv":["true"],"queue":"unused"})");
    peers.account = owner;
    ASSERT_EQ(ask("POST", "/v1/jobs/" + job + "/cancel").status, 200U);
    const auto again = ask("POST", "/v1/jobs/" + job + "/retry");
    ASSERT_EQ(again.status, 201U) << again.body;
    const auto id = again.body.substr(again.body.find("\"id\":\"") + 6, 13);
    EXPECT_NE(ask("GET", "/v1/jobs/" + id).body.find(R"("submitted_by":{"name":"ann","uid":1001})"),
              std::string::npos);
}

// What is meant for us must not reach whoever listens on the other address of `localhost`.
TEST_F(AccessOverHttp, both_addresses_of_loopback_are_ours) {
    ApiClient client({.urls = {"http://[::1]:" + std::to_string(server->port())}});
    const auto answer = client.request("GET", "/livez");
    if (!answer && answer.error().what.find("assign requested address") != std::string::npos)
        GTEST_SKIP() << "no IPv6 here";
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_EQ(answer->status, 200U);
}

}  // namespace
}  // namespace perdure::wire_tests
