// Processes: the attempts of one host, as its worker sees them: directories on disk and shims.
// Shims outlive the worker; a new worker on the same state directory finds them again (O5, O8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/explain/evidence.h"
#include "core/job/job.h"
#include "core/ownership/crash_loop.h"
#include "core/ownership/isolation.h"
#include "core/ownership/takeover.h"
#include "core/policy/cause.h"
#include "ports/changes.h"
#include "ports/task.h"
#include "wire/inside.h"

namespace perdure {

// An attempt's directory, as found at a worker's start.
struct OnDisk {
    AttemptKey attempt;
    std::uint64_t assignment = 0;
    std::uint64_t life = 0;  // of the worker, when the attempt came; zero: not known
    PolicyName policy = PolicyName::default_;
    Terms terms;
    bool started = false;  // `started` is there: it may have run
    bool shim_alive = false;
    std::optional<AttemptEnd> result;  // `result.json` is there
    EvidenceRef evidence;              // and what it says besides
};

// What a shim reports to its worker. begin and checkpoint wait for answer() (O10), call for
// reply(), one of an attempt at a time; what was not answered is said again to the next worker.
// printed: there is more output than before; progress: the job has said how far it is; both at
// most ten in a second.
struct ProcessEvent {
    enum class Kind { started, ended, begin, checkpoint, printed, progress, call };
    Kind kind = Kind::ended;
    AttemptKey attempt;
    AttemptEnd end;
    EvidenceRef evidence;  // of an end
    std::string checkpoint;
    std::uint64_t number = 0;   // of a begin or checkpoint; kept by the shim, rising
    std::uint32_t percent = 0;  // of a progress
    std::string text;           // of a progress
    InsideCall call;            // of a call; its session is the worker's to fill in
};

// To begin, checkpoint and call.
struct ProcessAnswer {
    ProcessEvent::Kind kind = ProcessEvent::Kind::begin;
    bool committed = false;    // of begin and checkpoint
    std::uint64_t number = 0;  // of a call
    InsideReply reply;         // of a call
};

// When a start is allowed. The shim checks it itself, right before it writes `started`.
struct StartOrder {
    std::optional<BootTime> go_until;  // nothing for attempts that need not ask
    BootTime lease_until;
};

struct WorkerLife {
    StateDirectory directory;
    std::uint64_t life = 0;  // raised durably by open()
    CrashHistory history;    // ends of earlier lives that were no clean stop
    JobHost host;            // what jobs find here
    std::vector<OnDisk> found;
};

class Processes {
public:
    virtual ~Processes() = default;

    // Takes the state directory's lock and begins a life. conflict: another worker holds it.
    // What dead shims have left behind is killed before it answers (O8).
    virtual Task<Result<WorkerLife>> open() = 0;
    // A new life number within this process, after the server has ended our session.
    virtual Task<Result<std::uint64_t>> next_life() = 0;
    // Makes the attempt's directory durable and starts its shim, which waits for start().
    // conflict: the lock is held (`lock_busy`). unavailable: the shim cannot start.
    virtual Task<Result<void>> prepare(Assignment assignment) = 0;
    // The same for attempts that need neither directory nor shim: answered without a wait. Empty:
    // nothing was done, and it is prepare() that must be asked.
    virtual std::optional<Result<void>> prepare_at_once(const Assignment&) { return std::nullopt; }
    virtual void start(AttemptKey attempt, StartOrder order) = 0;
    // Tells this attempt's shim that the worker lives, and until when its lease lasts; only ever
    // raised. Zero before this life has a lease for it: then the shim goes by what it knows.
    virtual void renew(AttemptKey attempt, BootTime lease_until) = 0;
    // SIGTERM, then SIGKILL after the grace; the event `ended` follows with this cause, unless the
    // process had ended before. An attempt that has not started ends at once, with ran == no.
    virtual void kill(AttemptKey attempt, Cause cause) = 0;
    // The next events, one at least. Events of one attempt come in order; `ended` is repeated by
    // found() after a restart until forget().
    virtual Task<std::vector<ProcessEvent>> next_events() = 0;
    // What the attempt's process waits for. Harmless if it has ended, or waits no more.
    virtual void deliver(AttemptKey attempt, ProcessAnswer answer) = 0;
    // To the oldest unanswered `begin` or `checkpoint` (O10). True only after the server has
    // committed it.
    void answer(AttemptKey attempt, ProcessEvent::Kind kind, bool committed) {
        deliver(attempt, {.kind = kind, .committed = committed});
    }
    // To the call with this number.
    void reply(AttemptKey attempt, std::uint64_t number, InsideReply reply) {
        deliver(attempt,
                {.kind = ProcessEvent::Kind::call, .number = number, .reply = std::move(reply)});
    }
    // At most `max` bytes of what the attempt has printed, from `offset` on; empty at the end.
    virtual Task<Result<std::string>> output(AttemptKey attempt, std::uint64_t offset,
                                             std::size_t max) = 0;
    // The server has the result: the directory can go. Harmless if prepare() has failed.
    virtual void forget(AttemptKey attempt) = 0;
    // The next worker's crash count leaves this life out.
    virtual void stopped_cleanly() = 0;
};

}  // namespace perdure
