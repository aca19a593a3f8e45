#include "api/access_control.h"

#include <fmt/format.h>

#include "api/http/problem.h"

namespace perdure {
namespace {

constexpr std::string_view bearer = "Bearer ";

std::string_view secret_in(const std::string& authorization) {
    const std::string_view text(authorization);
    return text.starts_with(bearer) ? text.substr(bearer.size()) : std::string_view();
}

std::string why_nobody(std::string_view rule) {
    if (rule == "A3/token_expired") return "this token has expired";
    if (rule == "A3/token_unknown") return "there is no such token, or it was revoked";
    if (rule == "A2/forwarded")
        return "a request that came through a proxy needs a token of its own";
    if (rule == "A2/root_not_trusted") return "root needs a token here (access.trust_root)";
    if (rule == "A2/other_account") return "this account needs a token";
    return "who opened this connection is not certain, so that a token is needed";
}

}  // namespace

ConnectionPeer AccessControl::look_up(int socket) const {
    ConnectionPeer peer;
    if (!options_.peers) return {.kind = PeerKind::self, .name = "test"};
    const auto account = options_.peers->account_of(socket);
    if (!account) return peer;
    peer.uid = account;
    peer.name = options_.peers->name_of(*account);
    const auto listed = options_.users.find(*account);
    if (*account == options_.self) {
        peer.kind = PeerKind::self;
    } else if (*account == 0) {
        peer.kind = PeerKind::root;
    } else if (listed != options_.users.end()) {
        peer.kind = PeerKind::listed;
        peer.listed_as = listed->second;
    } else {
        peer.kind = PeerKind::other;
    }
    return peer;
}

TokenState AccessControl::state_of(const Request& request, WallTime now,
                                   const Token*& token) const {
    token = nullptr;
    if (request.authorization.empty()) return TokenState::absent;
    if (options_.tokens) token = options_.tokens->find(secret_in(request.authorization));
    if (!token) return TokenState::unknown;
    return token->expires_at && *token->expires_at <= now ? TokenState::expired : TokenState::valid;
}

Caller AccessControl::judge(const ConnectionPeer& peer, const Request& request,
                            std::optional<Role> least, TenantReach reach, WallTime now) const {
    const Token* token = nullptr;
    AccessFacts facts{.least = least,
                      .peer = peer.kind,
                      .listed_as = peer.listed_as,
                      .trusts_root = options_.trusts_root,
                      .forwarded = request.is_forwarded};
    facts.token = state_of(request, now, token);
    Caller caller;
    if (token) {
        facts.token_role = token->role;
        caller.name = "token " + token->name;
        caller.who.name = caller.name;
        caller.tenant = token->tenant;
        if (!token->tenant.empty()) facts.tenant = reach;
    } else if (!request.is_forwarded) {
        caller.name = peer.name;
        if (peer.uid) caller.who = {peer.name, peer.uid};
    }
    caller.decision = decide_access(facts);
    return caller;
}

std::string AccessControl::tenant_of(const Request& request) const {
    if (request.authorization.empty() || !options_.tokens) return {};
    const auto* token = options_.tokens->find(secret_in(request.authorization));
    return token ? token->tenant : std::string();
}

bool AccessControl::is_still_good(const Request& request, WallTime now) const {
    const Token* token = nullptr;
    const auto state = state_of(request, now, token);
    return state == TokenState::absent || state == TokenState::valid;
}

Response refusal_of(const Caller& caller, std::optional<Role> least) {
    const auto& decision = caller.decision;
    switch (decision.verdict) {
        case AccessVerdict::hidden: return problem(error(Errc::not_found, "there is no such job"));
        case AccessVerdict::forbidden: {
            const auto who = caller.name.empty() ? std::string("this caller") : caller.name;
            if (decision.rule == "A4/role_too_small")
                return problem(
                    error(Errc::forbidden,
                          fmt::format("{} has the role {}, and this needs the role {}", who,
                                      to_string(decision.role.value_or(Role::viewer)),
                                      to_string(least.value_or(Role::viewer)))));
            return problem(error(
                Errc::forbidden,
                fmt::format("{} is bound to the tenant {}, and this is about {}", who,
                            caller.tenant,
                            decision.rule == "A4/all_tenants" ? "all of them" : "another one")));
        }
        case AccessVerdict::allow:
        case AccessVerdict::unauthenticated: break;
    }
    auto response = problem(error(
        Errc::unauthenticated,
        why_nobody(decision.rule) +
            ": send `Authorization: Bearer TOKEN` (`perdure token create` makes one), or use the "
            "command line as the server's own user"));
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
}

}  // namespace perdure
