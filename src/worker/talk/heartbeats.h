// Heartbeats: each renews the session's lease, lists all that is here, and its answer is obeyed
// (O6). One is in flight at a time; each has a new number, a repetition too, for its content may
// differ.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.h"
#include "wire/worker_protocol.h"
#include "worker/attempt_table.h"
#include "worker/supervisor.h"
#include "worker/talk/backoff.h"
#include "worker/talk/worker_session.h"
#include "worker/watch.h"
#include "worker/worker_context.h"

namespace perdure {

class Heartbeats {
public:
    Heartbeats(WorkerContext& context, AttemptTable& table, WorkerSession& session,
               Supervisor& supervisor, Watch& watch);

    Task<void> run();

private:
    // What the answer is about.
    struct Sent {
        SessionId session;
        std::size_t server = 0;
        BootTime at;
        Duration lease;
        WorkerMode mode = WorkerMode::working;
        std::vector<Listed> listed;
    };

    HeartbeatRequest build();
    // True if the server has answered.
    Task<bool> beat();
    void failed(const Sent& sent, const Error& why);
    void renew(const Sent& sent, const std::vector<AttemptKey>& stopped);
    void announced(WorkerMode mode);
    void obey(const Sent& sent, HeartbeatAnswerMessage answer);

    WorkerContext& context_;
    AttemptTable& table_;
    WorkerSession& session_;
    Supervisor& supervisor_;
    Watch& watch_;
    Backoff backoff_;
    std::unique_ptr<Alarm> pause_;
    std::uint64_t last_number_ = 0;
};

}  // namespace perdure
