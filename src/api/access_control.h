// AccessControl: the facts about who asks, for decide_access, and the answer if it says no. The
// account is looked up once for each connection, before its first byte is read; a token is looked
// up for each request, and again while an answer is streamed, so that one that was revoked is of no
// use within seconds.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/http/message.h"
#include "ports/access.h"

namespace perdure {

struct Route;

struct AccessOptions {
    Peers* peers = nullptr;  // null: everybody is an administrator. For tests alone.
    Tokens* tokens = nullptr;
    AuditLog* audit = nullptr;
    std::uint32_t self = 0;
    bool trusts_root = true;
    std::map<std::uint32_t, Role> users;  // accounts that need no token
};

// Of a connection.
struct ConnectionPeer {
    PeerKind kind = PeerKind::unknown;
    Role listed_as = Role::submitter;
    std::string name;  // of the account; empty: unknown
    std::optional<std::uint32_t> uid;
};

// Of a request.
struct Caller {
    AccessDecision decision;
    std::string name;    // "alice", "token deploy"; empty: unknown
    Who who;             // as jobs keep it; empty: nobody knows
    std::string tenant;  // that it is bound to; empty: none
};

class AccessControl {
public:
    explicit AccessControl(AccessOptions options) : options_(std::move(options)) {}

    ConnectionPeer look_up(int socket) const;
    // `reach`: what the request is about, asked for only if the caller is bound to a tenant.
    Caller judge(const ConnectionPeer& peer, const Request& request, std::optional<Role> least,
                 TenantReach reach, WallTime now) const;
    // The tenant that this request's token is bound to; empty: none.
    std::string tenant_of(const Request& request) const;
    // Whether the token of a request that was let in still is good.
    bool is_still_good(const Request& request, WallTime now) const;

    const AccessOptions& options() const { return options_; }

private:
    TokenState state_of(const Request& request, WallTime now, const Token*& token) const;

    AccessOptions options_;
};

// What a caller who was refused is told.
Response refusal_of(const Caller& caller, std::optional<Role> least);

}  // namespace perdure
