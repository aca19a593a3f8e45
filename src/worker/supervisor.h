// Supervisor: takes assignments, prepares, starts and kills shims, and follows their events.
// It carries out what core/worker/worker_rules.h decides; it never says anything to a server
// itself.
#pragma once

#include <vector>

#include "base/time.h"
#include "core/policy/cause.h"
#include "ports/process.h"
#include "wire/worker_protocol.h"
#include "worker/attempt_table.h"
#include "worker/talk/inside_calls.h"
#include "worker/talk/worker_session.h"
#include "worker/worker_context.h"

namespace perdure {

class Supervisor {
public:
    Supervisor(WorkerContext& context, AttemptTable& table, WorkerSession& session,
               InsideCalls& inside);

    // At the start of a life: what is on disk, and how often the worker has crashed (O5, O9).
    void adopt(const WorkerLife& life);

    void take(Assignment assignment);
    // A new session or a renewed lease: attempts that waited for it start, or ask.
    void start_what_waits();
    // Whether the lease, as it is known now, is good enough to begin such an attempt (O4, O7).
    bool may_begin(const Terms& terms) const;
    // The answer to an ask that was sent at `sent` (O4).
    void go(AttemptKey key, BootTime sent, BootTime lease_until);
    // Idempotent. One that has not started ends without having run.
    void kill(AttemptKey key, Cause cause);
    // The server says that it is not ours any more: its epoch is stale (O7).
    void disown(AttemptKey key);
    // Goes back unless it has started (O3).
    void hand_back(AttemptKey key);
    // Everything that has not started goes back (drain).
    void hand_back_unstarted();
    void evict_all();

    // The server has the end: the attempt leaves the table and its directory goes.
    void acknowledge(AttemptKey key);
    // The server has committed the oldest begin or checkpoint, or never will.
    void answer_progress(AttemptKey key, std::uint64_t serial, bool committed);
    void give_up_old_progress();

    // Never ends by itself: the port has no way to take a wait back.
    Task<void> follow_events();

private:
    Task<void> prepare(Assignment assignment);
    Task<void> prepare_late(Assignment assignment);  // an armed fault
    void on_prepared(AttemptKey key, const Result<void>& prepared);
    void adopt_one(const OnDisk& found);
    void begin_probation(const WorkerLife& life);
    void note_end(const Attempt& attempt);
    void start_at_once(AttemptKey key, Attempt& attempt);
    void on_event(ProcessEvent event);
    void on_started(AttemptKey key);
    void on_printed(AttemptKey key);
    void on_note(ProcessEvent event);
    void on_progress(ProcessEvent event);
    void conclude(AttemptKey key, AttemptEnd end, EvidenceRef evidence = nullptr);

    WorkerContext& context_;
    AttemptTable& table_;
    WorkerSession& session_;
    InsideCalls& inside_;
    std::uint64_t last_serial_ = 0;
};

}  // namespace perdure
