#include "core/access/access.h"

namespace perdure {
namespace {

int rank(Role role) {
    switch (role) {
        case Role::viewer: return 1;
        case Role::submitter: return 2;
        case Role::operator_: return 3;
        case Role::worker: return 0;
        case Role::admin: return 4;
    }
    return 0;
}

AccessDecision nobody(std::string_view rule) {
    return {AccessVerdict::unauthenticated, rule, std::nullopt};
}

AccessDecision identify_token(const AccessFacts& facts) {
    if (facts.token == TokenState::expired) return nobody("A3/token_expired");
    if (facts.token == TokenState::unknown) return nobody("A3/token_unknown");
    return {AccessVerdict::allow, "A3/token", facts.token_role};
}

AccessDecision identify_peer(const AccessFacts& facts) {
    if (facts.forwarded) return nobody("A2/forwarded");
    switch (facts.peer) {
        case PeerKind::self: return {AccessVerdict::allow, "A2/own_account", Role::admin};
        case PeerKind::root:
            if (!facts.trusts_root) return nobody("A2/root_not_trusted");
            return {AccessVerdict::allow, "A2/root", Role::admin};
        case PeerKind::listed: return {AccessVerdict::allow, "A2/listed", facts.listed_as};
        case PeerKind::other: return nobody("A2/other_account");
        case PeerKind::unknown: return nobody("A2/not_certain");
    }
    return nobody("A2/not_certain");
}

}  // namespace

std::optional<Role> role_named(std::string_view name) {
    for (const auto role : all_roles)
        if (to_string(role) == name) return role;
    return std::nullopt;
}

bool reaches(Role role, Role least) {
    if (role == Role::admin) return true;
    if (role == Role::worker || least == Role::worker) return role == least;
    return rank(role) >= rank(least);
}

std::optional<std::uint32_t> decide_peer(const SocketFacts& facts) {
    if (facts.uid == facts.overflow_uid) return std::nullopt;
    if (facts.door == SocketFacts::Door::unix_socket) return facts.uid;
    const bool is_theirs = facts.found && facts.established && facts.has_inode;
    if (!is_theirs || !facts.own_end_established) return std::nullopt;
    return facts.uid;
}

AccessDecision decide_access(const AccessFacts& facts) {
    if (!facts.least) return {AccessVerdict::allow, "A4/open", std::nullopt};
    const bool by_token = facts.token != TokenState::absent;
    auto decision = by_token ? identify_token(facts) : identify_peer(facts);
    if (decision.verdict != AccessVerdict::allow) return decision;
    if (!reaches(*decision.role, *facts.least))
        return {AccessVerdict::forbidden, "A4/role_too_small", decision.role};
    switch (facts.tenant) {
        case TenantReach::unbound:
        case TenantReach::own: return decision;
        case TenantReach::foreign:
            return {AccessVerdict::forbidden, "A4/other_tenant", decision.role};
        case TenantReach::job_of_other:
            return {AccessVerdict::hidden, "A4/job_of_other_tenant", decision.role};
        case TenantReach::all: return {AccessVerdict::forbidden, "A4/all_tenants", decision.role};
    }
    return nobody("A2/not_certain");
}

AnswererDecision decide_answerer(const AnswererFacts& facts) {
    if (!facts.uid) return AnswererDecision::refuse;
    const bool is_ours = *facts.uid == facts.self || *facts.uid == 0;
    return is_ours || facts.is_listed ? AnswererDecision::trust : AnswererDecision::refuse;
}

}  // namespace perdure
