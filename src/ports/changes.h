// Changes: everything that can be written to a store, each guarded by what it rests on.
// A group of them is one transaction (store.h). Within it each change is applied or refused on its
// own: a refusal touches nothing and says why.
//   fenced     the attempt, session or server that speaks is not the current one
//   conflict   what the decision rests on has changed: read again, decide again
//   not_found  no such job, session or limit
//   invalid    never acceptable as it stands
// Where all facts are in the rows that a change touches, the store asks core inside the
// transaction (submit, claim, start, report, cancel, quarantine); it never judges by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "core/cancel.h"
#include "core/cause.h"
#include "core/claim.h"
#include "core/detector.h"
#include "core/evidence.h"
#include "core/isolation.h"
#include "core/job.h"
#include "core/keeper.h"
#include "core/reconcile.h"
#include "core/recovery.h"
#include "core/report.h"
#include "core/service_time.h"
#include "core/start.h"
#include "core/takeover.h"
#include "core/timeouts.h"
#include "wire/worker_protocol.h"

namespace perdure {

// A heartbeat that counts. Raises the session's deadline, its renewal number and its last
// heartbeat number. fenced: the session has ended. conflict: the number is not newer.
struct Renew {
    SessionId session;
    std::uint64_t heartbeat = 0;
    std::uint64_t content_hash = 0;
    std::uint64_t seen = 0;  // highest assignment number that the worker has seen
    std::uint32_t slots = 0;
    bool draining = false;  // it has said that it leaves
    Offer offer;
    Duration lease;
};

// Advances service time, if the tick it rests on is the newest; otherwise conflict (T2a).
struct Tick {
    std::uint64_t seen_tick = 0;
    ServiceTick next;
    // It leads a group that makes deadlines: this must be the time at that tick, and whatever
    // stands behind it is carried out only if it counts; otherwise all that is conflict as well,
    // for its waits would end too early (T2).
    std::optional<ServiceTime> leads_from = {};
};

// Makes a job, or finds the one with the same idempotency key (P1, C5). The very same submit
// again (same id and body, after a lost reply) gets the first answer again.
// conflict: same key or id, other body. gone: the key's job has ended and was removed.
// invalid: it, or one of its callbacks, names a limit that is not defined; or `after` names a job
// that is not there. What has ended already counts at once.
struct Submit {
    JobId id;
    std::shared_ptr<const JobSpec> spec;
    std::uint64_t body_hash = 0;
};

// Several at once, all or nothing: the first that would be refused refuses them all, and the reply
// says which one it was. Two with the same idempotency key and body are one job.
// `after` may name earlier ones by their ids; if such a one is found to be another job, by its
// idempotency key, that job is meant.
struct SubmitAll {
    std::vector<Submit> jobs;
};

// Adds a callback to a job, whatever state that is in [P7]. It counts from the present generation
// on; if that has ended, the callback is made at once, should it fit. The very same again (same id)
// gets the first answer again.
// not_found: no such job. invalid: it names a limit that is not defined, or the job has as many
// callbacks as it may have.
struct AddCallback {
    JobId id;  // of the asking, drawn like a job's
    JobId job;
    Callback callback;
};

// Takes as many jobs as the session has free slots, in claim order, at most `max`; draws epochs
// and assignment numbers; takes keys and limits, or blocks what cannot have them (C4).
// It may stop early in a long line of jobs that it can only block: `left` says that there is more.
// fenced: the session has ended or the stream is not its newest. conflict: it is suspect.
struct Claim {
    SessionId session;
    std::uint64_t stream = 0;
    std::uint32_t max = 0;
};

// Opens a session; decided by decide_opening() and decide_inherit() over opening_facts().
// In one transaction the previous session ends and each of its attempts goes over or is settled.
// The new lease is never shorter than what is left of the old one (L2).
// conflict: the directory's current session or its set of attempts is not the one decided on.
struct OpenSession {
    struct Inherited {
        AttemptKey attempt;
        JobState state = JobState::starting;
        std::optional<AttemptEnd> end;  // nothing: goes over to the new session
        Next next;
        std::string_view rule = {};  // by which it goes over or ended, for the ledger
    };
    SessionId session;
    StateDirectory directory;
    std::uint64_t life = 0;
    std::string worker;
    std::uint32_t slots = 0;
    Offer offer;
    Duration lease;
    std::optional<SessionId> previous;
    std::vector<Inherited> inherited;
    Sighting seen = {};  // of the previous session's end
    // Of its worker; nothing: it has none of its own. It judges what ends under this session.
    std::shared_ptr<const PolicyChoice> policy = {};
};

// Raises the session's stream number; claims for older streams are refused from now on (O6).
struct OpenStream {
    SessionId session;
};

// Ends a session. Its attempts, if any, stay until its lease ends.
struct EndSession {
    SessionId session;
};

// "May I start?" or "I have started": decide_start() over the row. fenced: no. Also a refused one
// shows that its session hears (O3): that is noted.
struct Start {
    SessionId session;
    AttemptKey attempt;
};

// The end of an attempt, said by its worker: decide_report(), then decide_next(). The end of the
// job, the release of its key and limits, the promotion of who waited, its callbacks and the going
// on of jobs that waited for it (`after`) are this transaction; so it is with every other end.
// It counts from every session that owned the attempt, or that has the state directory of one:
// results lie on disk. `end.clean` is replaced by what the store has committed (O10).
struct Report {
    SessionId session;
    AttemptKey attempt;
    AttemptEnd end;
    EvidenceRef evidence;
    Duration age = {};  // of that end when it was sent
};

// begin: something starts that must not be repeated. checkpoint: saved, the attempt is clean.
struct Progress {
    enum class Kind { begin, checkpoint } kind = Kind::begin;
    SessionId session;
    AttemptKey attempt;
    std::string checkpoint;
    std::uint64_t number = 0;  // of this attempt's begins and checkpoints; only newer ones count
};

// The end of an attempt, decided by the server (sweep, reconcile). conflict unless the attempt is
// in `run` in that very state and, if given, the session's renewal number is the same (O2); also
// if it was cancelled and `next` is not an end, if the end says clean and the attempt is not, or if
// another policy judges it by now: then one of them came after the facts were read. The same holds
// for Inherited.
struct Settle {
    struct Renewal {
        SessionId session;
        std::uint64_t number = 0;
    };
    AttemptKey attempt;
    JobState state = JobState::starting;
    std::optional<Renewal> renewal;
    AttemptEnd end;
    Next next;
    Sighting seen = {};
};

// A presumed-lost attempt is alive: back into `run`, epoch unchanged (O1).
// fenced: the session has ended, or its state directory never had the attempt.
// conflict: claimed since, ended since, not only presumed, exclusive, or it never got its go.
struct Reinstate {
    SessionId session;
    AttemptKey attempt;
    Sighting seen = {.detector = Detector::heartbeat};
};

// Orders the kill of a running attempt; its report then decides. conflict: not in `run`.
struct OrderKill {
    AttemptKey attempt;
    Cause cause = Cause::cancelled;
};

// Orders an attempt back that its session has not started at its deadline (O3). It is given up
// `Timing::recall` later, unless it starts or is handed back before.
// conflict: not in `run` under that session, started, or its end is ordered already.
struct OrderBack {
    AttemptKey attempt;
    SessionId session;
};

// Moves a job that waits, as decide_wait() said. conflict: state or epoch is another one, or
// decide_wait() says something else by now, its deadlines being new ones.
struct MoveWaiting {
    JobId job;
    Epoch epoch;
    JobState state = JobState::ready;
    WaitDecision decision;
};

// A person's acts. not_found: no such job. conflict: not possible in its state.
struct Cancel {
    JobId job;
};
struct Hold {
    JobId job;
    bool hold = true;  // false: let it go on
};
struct DealWithQuarantined {
    JobId job;
    QuarantineAction action = QuarantineAction::release;
    bool may_still_run = false;
};

// Promotes what waits for a thing that is free. Only the sweep asks; each success is a bug of
// ours that was repaired, and is counted.
struct PromoteWaiting {
    Thing thing;
};

// The keeper's role; conflict unless `expected` is what is stored.
struct TakeKeeper {
    KeeperRole expected;
    KeeperRole next;
};

// Removes at most `max` jobs whose retention is over, with their history. Their idempotency keys
// stay for `Timing::keep_key` after the end and are answered with `gone` (C5).
struct ForgetEnded {
    std::uint32_t max = 100;
};

struct DefineLimit {
    std::string tenant;
    std::string name;
    std::uint32_t max = 1;
};
struct PauseQueue {
    std::string tenant;
    std::string queue;
    bool paused = true;
};

using Change = std::variant<Renew, Tick, Submit, SubmitAll, AddCallback, Claim, OpenSession,
                            OpenStream, EndSession, Start, Report, Progress, Settle, Reinstate,
                            OrderKill, OrderBack, MoveWaiting, Cancel, Hold, DealWithQuarantined,
                            PromoteWaiting, TakeKeeper, ForgetEnded, DefineLimit, PauseQueue>;

// What an applied change answers; `Applied` where there is nothing to say.
struct Applied {};
struct Renewed {
    ServiceTime deadline;
    std::uint64_t renewal = 0;
};
struct Submitted {
    JobId id;
    bool created = false;
    JobState state = JobState::ready;
};
struct BatchSubmitted {
    std::vector<Submitted> jobs;  // one for each, unless one was refused
    // The first that was refused; then nothing has changed.
    struct Refused {
        std::size_t index = 0;
        Error why;
    };
    std::optional<Refused> refused;
};
struct CallbackAdded {
    std::uint32_t number = 0;   // among the callbacks of that job
    std::optional<JobId> made;  // the job had ended before: this is the callback
};
struct Claimed {
    std::vector<Assignment> assignments;
    std::size_t left = 0;  // zero: nothing that it could take is left
    // It looked at as much as one transaction should, and slots are free still: claim again.
    bool unfinished = false;
};
struct StreamOpened {
    std::uint64_t stream = 0;
};
struct Reported {
    ReportAnswer answer = ReportAnswer::accept;
    std::string_view rule;
    std::optional<Next> next;  // what the job does now, if this report decided it
};
struct Cancelled {
    CancelDecision::Kind kind = CancelDecision::Kind::already_ended;
    std::optional<AttemptKey> running;  // to be told at once; the next heartbeat tells it anyway
    std::optional<SessionId> session;
};

struct Forgotten {
    std::vector<JobId> jobs;
    bool unfinished = false;  // it did as much as it may: there may be more
};

using ChangeReply = Result<std::variant<Applied, Renewed, Submitted, BatchSubmitted, CallbackAdded,
                                        Claimed, StreamOpened, Reported, Cancelled, Forgotten>>;

}  // namespace perdure
