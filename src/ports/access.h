// What access control needs of the world: the account at the other end of a connection, and tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/access/access.h"

namespace perdure {

class Peers {
public:
    virtual ~Peers() = default;
    // The account that opened this connection, if that is certain (A2). Before the first byte of it
    // is read.
    virtual std::optional<std::uint32_t> account_of(int socket) = 0;
    virtual std::string name_of(std::uint32_t account) = 0;
};

struct Token {
    std::string name;
    Role role = Role::viewer;
    std::string tenant;  // empty: bound to none
    std::string created_by;
    WallTime created_at;
    std::optional<WallTime> expires_at;
};

// All tokens of an instance. What is stored of a secret is its SHA-256. On the server's loop.
class Tokens {
public:
    virtual ~Tokens() = default;
    // Null: there is none with this secret. Whether it has expired is judged by the caller.
    virtual const Token* find(std::string_view secret) const = 0;
    virtual std::vector<Token> list() const = 0;
    // Answers the secret, which nobody can read again. conflict: there is one of this name.
    // overloaded: there are too many. Durable when it returns.
    virtual Result<std::string> create(Token token) = 0;
    // not_found: there is none of this name. Durable when it returns.
    virtual Result<void> revoke(std::string_view name) = 0;
};

// One thing that was asked for and done or refused, as it is kept for whoever asks later.
struct AuditRecord {
    WallTime at;
    std::string who;      // "alice", "token deploy"; empty: nobody knows
    std::string action;   // "POST /v1/jobs/{}/cancel"
    std::string subject;  // what the route's {} stand for, or the job that was made
    unsigned status = 0;
    std::string rule;  // of the decision about access
};

// Append-only, bounded in size and age. What was appended survives the server's death; a power loss
// may take the last seconds.
class AuditLog {
public:
    virtual ~AuditLog() = default;
    virtual void append(const AuditRecord& record) = 0;
    // The newest lines, JSON objects, oldest first; those that contain `word`, if it is not empty.
    virtual std::vector<std::string> newest(std::size_t count, std::string_view word) = 0;
};

}  // namespace perdure
