// StreamReader: keeps one stream open at the session's current server and hands on what comes.
// A broken stream is only a suspicion (O3): it is opened again, elsewhere, and nothing else
// happens.
#pragma once

#include <functional>
#include <memory>

#include "ports/server_api.h"
#include "worker/supervisor.h"
#include "worker/talk/backoff.h"
#include "worker/talk/worker_session.h"
#include "worker/worker_context.h"

namespace perdure {

class StreamReader {
public:
    StreamReader(WorkerContext& context, WorkerSession& session, Supervisor& supervisor,
                 std::function<void()> drain);

    Task<void> run();

private:
    // Opens a stream and reads it to its end.
    Task<void> read_one();
    Task<void> read(std::shared_ptr<Stream> stream, SessionId session);

    WorkerContext& context_;
    WorkerSession& session_;
    Supervisor& supervisor_;
    std::function<void()> drain_;
    Backoff backoff_;
    std::unique_ptr<Alarm> pause_;
    bool has_had_one_ = false;
};

}  // namespace perdure
