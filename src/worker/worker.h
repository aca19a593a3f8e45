// Worker: runs attempts on one host and survives its own crash. It keeps a session with any of the
// servers, takes assignments, has shims run them and reports until it is believed.
//   [P2]  It acts for an attempt only while its session has it; what is fenced is killed.
//   [P8]  What is past its lease is killed before anything is said to a server (O7).
// Everything is a coroutine over the ports. Destroying the worker at any point is a crash: nothing
// is done by destructors. Calls to ports that are under way must then be destroyed as well.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "worker/attempt_table.h"
#include "worker/supervisor.h"
#include "worker/talk/heartbeats.h"
#include "worker/talk/log_shipper.h"
#include "worker/talk/opener.h"
#include "worker/talk/reporter.h"
#include "worker/talk/stream_reader.h"
#include "worker/talk/worker_session.h"
#include "worker/watch.h"
#include "worker/worker_context.h"

namespace perdure {

class Worker {
public:
    Worker(WorkerPorts ports, WorkerOptions options, Log log);
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // Begins a life: call it once.
    void start();
    // Two ways to leave, at any time after start(); the first call counts.
    // Hands back what has not started, gives what runs `timing.drain`, then evicts, and ends when
    // every end is acknowledged.
    void drain();
    // Asks for a long lease and leaves the shims to the next worker (L2).
    void detach();

    // Rung whenever a session has been opened, and when the worker may have finished. It must
    // outlive the worker.
    void rings(Alarm& observer);
    // Nothing is under way any more, except the wait for the next process event.
    bool finished() const;
    std::vector<std::string_view> waiting_for() const { return context_.gate.waiting_for(); }
    // Why it stopped without having been told to: its state directory cannot be had.
    const std::optional<Error>& failure() const { return failure_; }
    const AttemptTable& attempts() const { return table_; }
    const WorkerSession& session() const { return session_; }

private:
    void enter(WorkerMode mode);
    Task<void> leave_drained();
    Task<void> leave_detached();
    // True if no server can still send us anything: it has accepted that we leave.
    bool is_announced() const;
    void stop();
    Task<void> live();
    Task<Result<WorkerLife>> open_directory();

    WorkerContext context_;
    AttemptTable table_;
    WorkerSession session_;
    InsideCalls inside_;
    Supervisor supervisor_;
    Watch watch_;
    Opener opener_;
    Heartbeats heartbeats_;
    StreamReader stream_reader_;
    Reporter reporter_;
    LogShipper log_shipper_;
    Gate events_gate_;  // apart: next_events() cannot be taken back
    std::unique_ptr<Alarm> pause_;
    std::optional<Error> failure_;
};

}  // namespace perdure
