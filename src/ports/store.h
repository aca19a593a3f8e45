// Store: the durable truth. SQLite and memory implement it on one engine and pass one
// contract suite (tests/contract), which is its specification [P12].
//
// Every method is one transaction. A value that is returned survives power loss [P1]; an error
// means that nothing has changed, unless it is `outcome_unknown`: then resolve_unknown() tells.
//   unavailable      the store cannot be reached; nothing was done
//   outcome_unknown  the reply to a commit was lost
//   fenced           this server's life was fenced off (C1): it must start a new one
//   corrupt          a stored row cannot be understood; a group is then halved by the caller
// Wall time comes from the caller; service time is read inside the transaction.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/explain/ledger.h"
#include "ports/changes.h"
#include "ports/task.h"
#include "ports/views.h"

namespace perdure {

// What a server gets at its start: number bits for ids and the mark above which they begin (L3).
struct ServerOpened {
    std::uint32_t number = 0;
    std::uint64_t id_high_water = 0;
    std::uint64_t last_group = 0;
    std::uint64_t fence = 0;
    ServiceTick clock;
};

// One transaction. Its number and fence make a lost reply decidable (C1).
struct Group {
    ServerId server;
    std::uint64_t number = 0;  // the server's last group + 1
    std::uint64_t fence = 0;
    std::uint64_t id_high_water = 0;
    WallTime wall;
    std::vector<Change> changes;  // applied in this order
};
// What a group has done to a job, for those who count.
struct JobEvent {
    struct End {
        JobState state = JobState::failed;
        Cause cause = Cause::exit;
    };
    std::shared_ptr<const JobSpec> spec;
    std::optional<Duration> waited;  // it was claimed: since it became ready
    std::optional<Duration> ran;     // an attempt has ended that may have run: since its claim
    std::optional<End> end;          // the job has
};
struct GroupReply {
    std::vector<ChangeReply> replies;  // one for each change
    ServiceTick clock;                 // after the group
    KeeperRole keeper;                 // after the group
    std::uint64_t written_tick = 0;    // the newest that is durable: all others may be lost (T4)
    bool work_appeared = false;        // something became `ready`: a hint for dispatchers
    bool attempts_overdue = false;     // some may be: a hint to sweep
    bool idle = false;                 // nothing is to be done for a while (T4)
    bool owes = false;                 // it was too much for one group: the next ones go on (C8)
    std::vector<Recovery> recoveries;  // that it has entered into the ledger
    std::vector<JobEvent> events;
};

struct LastGroup {
    std::uint64_t last_group = 0;
    std::uint64_t fence = 0;
};

class Store {
public:
    virtual ~Store() = default;

    virtual Task<Result<ServerOpened>> open_server(ServerId server, WallTime wall) = 0;
    // A server's groups may be sent before the one ahead is answered; one whose predecessor was not
    // committed is `fenced`.
    virtual Task<Result<GroupReply>> commit(Group group) = 0;
    // How many jobs a group should be about to be sent like that: smaller ones share a commit.
    virtual std::size_t pipeline_min_jobs() const { return 1; }
    // After `outcome_unknown`: raises the fence, so that the lost group can no longer commit, and
    // only then reads the last group that did.
    virtual Task<Result<LastGroup>> resolve_unknown(ServerId server, std::uint64_t fence) = 0;

    // Facts. Each is one consistent snapshot.
    virtual Task<Result<ServiceView>> service() = 0;
    // With what runs in it, a piece at a time (C8): of jobs behind this one.
    virtual Task<Result<SessionView>> session(SessionId session, JobId runs_behind = {}) = 0;
    // The same without what runs in it: one row.
    virtual Task<Result<OwnerView>> owner(SessionId session) = 0;
    // The latest session of the directory, open or ended.
    virtual Task<Result<std::optional<SessionId>>> latest_session(StateDirectory directory) = 0;
    // What a sweep must look at besides attempts, at most `limit` of each kind.
    virtual Task<Result<OverdueView>> overdue(WallTime wall, std::uint32_t limit) = 0;
    virtual Task<Result<std::vector<JobView>>> jobs(std::vector<JobId> ids,
                                                    AttemptWindow attempts = {}) = 0;
    virtual Task<Result<std::optional<JobId>>> job_of_key(std::string tenant,
                                                          std::string idempotency_key) = 0;
    // A piece of all that fsck compares, jobs in order of their ids and at most `limit` of them;
    // with many attempts, fewer. For fsck and checkers.
    virtual Task<Result<AuditView>> audit(AuditPlace after, std::uint32_t limit) = 0;
};

// A store that lives in the process of its server, and dies with it. For simulations: what had
// stayed in memory is lost (T4).
class EmbeddedStore {
public:
    virtual ~EmbeddedStore() = default;
    virtual void crash() = 0;
};

}  // namespace perdure
