// Opener: gives the worker a session, and a new one whenever the server has ended the last (O5).
// An opening message is repeated as it is until it is answered. Its answer's lease counts from the
// first time it was sent, for that may be the one that was committed.
#pragma once

#include <cstdint>
#include <memory>

#include "base/time.h"
#include "core/ownership/takeover.h"
#include "wire/worker_protocol.h"
#include "worker/attempt_table.h"
#include "worker/supervisor.h"
#include "worker/talk/backoff.h"
#include "worker/talk/worker_session.h"
#include "worker/watch.h"
#include "worker/worker_context.h"

namespace perdure {

class Opener {
public:
    Opener(WorkerContext& context, AttemptTable& table, WorkerSession& session,
           Supervisor& supervisor, Watch& watch);

    Task<void> run(StateDirectory directory, std::uint64_t life);

private:
    struct Message {
        OpenRequest request;
        BootTime first_sent;
    };

    Message write(std::uint64_t life) const;
    Task<void> open();
    Task<void> begin_next_life();
    Task<void> refused(std::size_t server, Error why);

    WorkerContext& context_;
    AttemptTable& table_;
    WorkerSession& session_;
    Supervisor& supervisor_;
    Watch& watch_;
    Backoff backoff_;
    std::unique_ptr<Alarm> pause_;
    StateDirectory directory_;
    Message message_;
};

}  // namespace perdure
