// As whom jobs run: as the worker's own user, or as another one that the job's process alone
// becomes.
//   U1  Worker and shim keep the worker's user: what they write, a job of another user can neither
//       read nor forge, and it cannot signal them.
//   U2  A worker that lacks a right for it does not start, and says which.
//   U3  Where each job runs as whoever submitted it, that is the account of the connection, as the
//       server has kept it (W1), and as this host knows it by its uid. A worker offers to take what
//       accounts have submitted and is given nothing else; what it is given all the same is handed
//       back. Jobs of root run only if that was allowed by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perdure {

// What the process becomes, in the order groups, gid, uid.
struct Credentials {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::vector<std::uint32_t> groups;  // all of them; none: none
    friend bool operator==(const Credentials&, const Credentials&) = default;
};

// An account of the host, as its databases have it.
struct Account {
    std::string name;  // empty: nobody knows it by name
    Credentials credentials;
    std::string home = "/";
    std::string shell;
};

struct JobUserFacts {
    std::uint32_t own = 0;  // the worker's uid
    std::uint32_t wanted = 0;
    // Its capabilities, root's included.
    bool may_set_uid = false;
    bool may_set_gid = false;
    bool may_kill = false;
    bool may_chown = false;
};
struct JobUserDecision {
    enum class Kind { as_the_worker, as_another, refuse } kind = Kind::as_the_worker;
    std::string why;  // of a refusal: a sentence without its end
};
JobUserDecision decide_job_user(const JobUserFacts& facts);

// U3. Asked for each attempt; the worker's rights were looked at when it started.
struct SubmitterFacts {
    std::optional<std::uint32_t> uid;  // of whoever submitted the job; empty: no account
    bool is_known = false;             // to this host's databases
    std::uint32_t own = 0;             // the worker's uid
    bool allows_root = false;
};
JobUserDecision decide_submitter(const SubmitterFacts& facts);

// One folder on the way to what a job's process must be able to open.
struct FolderOnTheWay {
    std::string path;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::uint32_t mode = 0;
};
// The first one that these credentials may not pass; null: all can be passed.
const FolderOnTheWay* find_barrier(const std::vector<FolderOnTheWay>& way, const Credentials& who);

}  // namespace perdure
