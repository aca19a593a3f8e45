// Changes: everything that can be written to a store, each guarded by what it rests on.
// A group of them is one transaction (store.h). Within it each change is applied or refused on its
// own: a refusal touches nothing and says why.
//   fenced     the attempt, session or server that speaks is not the current one
//   conflict   what the decision rests on has changed: read again, decide again
//   not_found  no such job, session or limit
//   invalid    never acceptable as it stands
// All facts are in rows that are read where they are written: the store asks core inside the
// transaction; it never judges by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "core/explain/detector.h"
#include "core/explain/evidence.h"
#include "core/job/body_hash.h"
#include "core/job/cancel.h"
#include "core/job/job.h"
#include "core/ownership/claim.h"
#include "core/ownership/isolation.h"
#include "core/ownership/keeper.h"
#include "core/ownership/reconcile.h"
#include "core/ownership/report.h"
#include "core/ownership/service_time.h"
#include "core/ownership/start.h"
#include "core/ownership/takeover.h"
#include "core/ownership/timeouts.h"
#include "core/policy/cause.h"
#include "core/policy/recovery.h"
#include "wire/worker_protocol.h"

namespace perdure {

// A heartbeat (O6): whether it counts, what it renews, and what becomes of each attempt that its
// session has or lists. If it counts it raises the session's deadline and its last heartbeat
// number; what was presumed lost and is alive comes back in this very transaction, before the
// session can be given anything else.
// not_found: there is no such session. All else is answered, see HeartbeatTaken.
struct Heartbeat {
    SessionId session;
    std::uint64_t number = 0;
    std::uint64_t content_hash = 0;
    std::uint64_t seen = 0;  // highest assignment number that the worker has seen
    std::uint32_t slots = 0;
    bool draining = false;  // it has said that it leaves
    Offer offer;
    Duration lease;
    std::vector<Listed> attempts;
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

// An attempt that asks for something from inside, by the socket of its job. It counts only while
// that attempt is in `run` under this very session [P2]: fenced otherwise, whatever was asked.
struct ByAttempt {
    SessionId session;
    AttemptKey attempt;
};

// Makes a job, or finds the one with the same idempotency key (P1, C5). The very same submit
// again (same id and body, after a lost reply) gets the first answer again.
// conflict: same key or id, other body. gone: the key's job has ended and was removed.
// invalid: it, or one of its callbacks, names a limit that is not defined; or `after` names a job
// that is not there. What has ended already counts at once.
struct Submit {
    JobId id;
    std::shared_ptr<const JobSpec> spec;
    BodyHash body_hash;
    // Of the same body, to be compared with a key of an earlier release. Empty if there is no key.
    std::optional<std::uint64_t> old_hash = {};
    std::optional<ByAttempt> by = {};
};

// Several at once, all or nothing: the first that would be refused refuses them all, and the reply
// says which one it was. Two with the same idempotency key and body are one job.
// `after` may name earlier ones by their ids; if such a one is found to be another job, by its
// idempotency key, that job is meant.
struct SubmitAll {
    std::vector<Submit> jobs;
    std::optional<ByAttempt> by = {};
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

// Opens a session (O5): decide_opening(), then decide_inherit() for each attempt of the directory's
// previous session. That one ends, and each of its attempts goes over or ends, in this transaction;
// so does what was presumed lost and is on disk. The new lease is never shorter than what is left
// of the old one (L2). An opening that has been answered before gets the same session again.
// fenced: a later life of the directory has spoken. conflict: its twin is alive, or there is a
// session with this id.
struct OpenSession {
    SessionId session;
    StateDirectory directory;
    std::uint64_t life = 0;
    std::string worker;
    std::uint32_t slots = 0;
    Offer offer;
    Duration lease;
    std::vector<Listed> on_disk;
    Duration away = {};  // since the earlier life ended, as its watchdog knows; zero: nobody knows
    // Of its worker; empty: it has none of its own. It judges what ends under this session.
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

// Judges everything that is overdue and carries it out (O2, E5): attempts whose lease or
// confirmation expired, jobs whose instant has come, permits that are freer than they are offered.
// Attempts it finds by itself; of the rest it looks at what is named here (OverdueView), which
// may be outdated: only what is overdue now is moved.
struct Sweep {
    std::vector<JobId> waiting;
    std::vector<Permit> permits;
    bool report_only = false;  // what it would do; nothing is changed
};

// A person's acts. `who` is kept with the job if something has changed (W2). not_found: no such
// job. conflict: not possible in its state.
struct Cancel {
    JobId job;
    std::string who = {};
    // An attempt may cancel what it, or an earlier attempt of its job, has submitted: not_found.
    std::optional<ByAttempt> by = {};
};
struct Hold {
    JobId job;
    bool hold = true;  // false: let it go on
    std::string who = {};
};
struct DealWithQuarantined {
    JobId job;
    QuarantineAction action = QuarantineAction::release;
    bool may_still_run = false;
    std::string who = {};
};

// The keeper's role; conflict unless `expected` is what is stored.
struct TakeKeeper {
    KeeperRole expected;
    KeeperRole next;
};

// Removes at most `max` jobs whose retention has ended, with their history. Their idempotency keys
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

using Change = std::variant<Heartbeat, Tick, Submit, SubmitAll, AddCallback, Claim, OpenSession,
                            OpenStream, EndSession, Start, Report, Progress, Sweep, Cancel, Hold,
                            DealWithQuarantined, TakeKeeper, ForgetEnded, DefineLimit, PauseQueue>;

// What an applied change answers; `Applied` where there is nothing to say.
struct Applied {};
// An attempt that a change has ended by itself, and what its job does now.
struct EndedAttempt {
    AttemptKey attempt;
    Next next;
};
// What a worker is to be told. Unless it was accepted nothing has changed, but that a clone's
// session has ended.
struct HeartbeatTaken {
    HeartbeatAnswer answer = HeartbeatAnswer::ignore;
    // The worker has an epoch that was never given out: commits were lost. Nothing has changed.
    bool store_is_behind = false;
    std::vector<Assignment> resent;
    std::vector<AttemptKey> stop;
    std::vector<KillOrder> kill;
    std::vector<AttemptKey> recall;
    std::vector<EndedAttempt> ended;
};
struct SessionOpened {
    SessionId session;
    Opening opening = Opening::fresh;
    bool store_is_behind = false;  // as for heartbeats: nothing has changed
    Sighting seen = {};            // of the previous session's end, if there was one
    std::vector<EndedAttempt> ended;
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

// What a sweep has seen, and done about it unless it was only to tell.
struct Swept {
    struct Attempt {
        AttemptKey attempt;
        SessionId session;
        Effects effects = Effects::repeatable;
        RecoveryDecision decision;
        Sighting seen;
        std::optional<AttemptEnd> end;  // judged; empty: it is left alone, or ordered back
        Next next = {};                 // if it has ended
    };
    struct Waiting {
        AttemptKey newest;  // epoch 0: it has never run
        JobState state = JobState::ready;
        WaitDecision decision;
    };
    ServiceTick clock;
    std::vector<Attempt> attempts;
    std::vector<Waiting> waiting;
    std::vector<Permit> permits;
    bool unfinished = false;  // it did as much as one transaction should: there is more
};

using ChangeReply =
    Result<std::variant<Applied, HeartbeatTaken, Submitted, BatchSubmitted, CallbackAdded, Claimed,
                        SessionOpened, StreamOpened, Reported, Swept, Cancelled, Forgotten>>;

}  // namespace perdure
