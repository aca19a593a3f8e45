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
#include "ports/task.h"

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
    std::string subject;  // what the route's {} stand for, or what was made
    unsigned status = 0;
    std::string rule;  // of the decision about access
};

struct AuditQuery {
    std::string word;                          // only lines that contain it; empty: all
    std::optional<std::uint64_t> before = {};  // only lines whose `seq` is smaller
    std::uint32_t limit = 50;
};
// JSON objects, newest first. It may be empty and still have a next one.
struct AuditPage {
    std::vector<std::string> lines;
    std::optional<std::uint64_t> next;  // what the next page is asked with
};

// In this server's life, but for the bytes.
struct AuditCounts {
    std::uint64_t acts = 0;               // lines
    std::uint64_t refusals = 0;           // lines
    std::uint64_t refusals_left_out = 0;  // there were too many in a second
    std::uint64_t lost = 0;               // lines that could not be written, and there was no room
    std::uint64_t files_cut = 0;          // removed before their time: there was too much
    std::uint64_t bytes = 0;              // on the disk
};

// Append-only, bounded in size and age. Whoever appends never waits for the disk: lines are written
// a moment later. The server's death may take those of the last moment, a power loss those of the
// last seconds; whatever else is lost is counted and said, in the log itself, too.
class AuditLog {
public:
    virtual ~AuditLog() = default;
    virtual void append(const AuditRecord& record) = 0;
    // What is done thousands of times a second is added up: one line a minute for each of these.
    virtual void count(std::string_view who, std::string_view action, unsigned status) = 0;
    // One bounded piece. overloaded: too many wait already.
    virtual Task<Result<AuditPage>> read(AuditQuery query) = 0;
    virtual AuditCounts counts() const = 0;
};

}  // namespace perdure
