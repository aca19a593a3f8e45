// Access: who may do what. Pure: the server gathers the facts about a connection and a request, and
// carries the decision out. The first line that fits decides.
//   A2  Without a token only the kernel's word counts: an account that provably opened this very
//       connection. Whoever cannot be told for certain is nobody.
//   A3  A token that was given counts alone: a wrong one is not made good by the account.
//   A4  A role reaches what its route needs, and the tenant it is bound to; nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace perdure {

enum class Role { viewer, submitter, operator_, worker, admin };

inline constexpr std::array all_roles = {Role::viewer, Role::submitter, Role::operator_,
                                         Role::worker, Role::admin};

constexpr std::string_view to_string(Role role) {
    switch (role) {
        case Role::viewer: return "viewer";
        case Role::submitter: return "submitter";
        case Role::operator_: return "operator";
        case Role::worker: return "worker";
        case Role::admin: return "admin";
    }
    return "viewer";
}
std::optional<Role> role_named(std::string_view name);

// viewer < submitter < operator < admin; worker stands apart, and admin reaches that, too.
bool reaches(Role role, Role least);

// What the kernel says about the other end of a connection on this host.
struct SocketFacts {
    enum class Door { unix_socket, loopback } door = Door::loopback;
    bool found = false;        // loopback: exactly this pair of addresses and ports
    bool established = false;  // the peer's end, as listed
    bool has_inode = false;    // somebody has it open: one that was closed is listed as root's
    // Asked after everything else: had the peer left before, its ports could be another's by now.
    bool own_end_established = false;
    std::uint32_t uid = 0;
    std::uint32_t overflow_uid = 65'534;  // stands for everybody of other user namespaces
};
// The account that opened the connection; empty if that is not certain (A2).
std::optional<std::uint32_t> decide_peer(const SocketFacts& facts);

enum class PeerKind {
    unknown,  // another host, or not certain
    self,     // the account that runs the server
    root,
    listed,  // named in access.users
    other,
};

enum class TokenState { absent, valid, unknown, expired };

// What a request is about, seen from the tenant that its token is bound to.
enum class TenantReach {
    unbound,  // the identity is bound to none
    own,
    foreign,
    job_of_other,  // the id of another tenant's job
    all,           // about the whole instance
};

struct AccessFacts {
    std::optional<Role> least;  // of the route; empty: open to everybody
    PeerKind peer = PeerKind::unknown;
    Role listed_as = Role::submitter;  // of a listed account
    bool trusts_root = true;
    bool forwarded = false;  // it came through a proxy: the account is the proxy's
    TokenState token = TokenState::absent;
    Role token_role = Role::viewer;
    TenantReach tenant = TenantReach::unbound;
};

enum class AccessVerdict {
    allow,
    unauthenticated,
    forbidden,
    hidden,  // as if it did not exist
};

struct AccessDecision {
    AccessVerdict verdict = AccessVerdict::unauthenticated;
    std::string_view rule;
    std::optional<Role> role;  // of who asks, if known
};

AccessDecision decide_access(const AccessFacts& facts);

// Whether a client may tell a server on this host its secrets: by the account that answered.
struct AnswererFacts {
    std::optional<std::uint32_t> uid;  // empty: not certain
    std::uint32_t self = 0;
    bool is_listed = false;  // in server.users
};
enum class AnswererDecision { trust, refuse };
AnswererDecision decide_answerer(const AnswererFacts& facts);

}  // namespace perdure
