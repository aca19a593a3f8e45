// LogShipper: brings what attempts print to a server, in order, piece by piece, while they run.
// An attempt's end is reported after its output: only then does the output still count [P2]. But
// output never holds an end back for long: decide_output() says when it is given up.
#pragma once

#include <memory>
#include <vector>

#include "wire/worker_protocol.h"
#include "worker/attempts.h"
#include "worker/context.h"
#include "worker/talk/backoff.h"
#include "worker/talk/session.h"

namespace perdure {

class LogShipper {
public:
    LogShipper(WorkerContext& context, AttemptTable& table, Session& session);

    Task<void> run();

private:
    // The next piece of every attempt that has one, at most chunks_max.
    Task<std::vector<LogChunk>> collect();
    // True if the server took or refused all of it for good.
    Task<bool> ship(std::vector<LogChunk> chunks);
    void settle(const LogChunk& chunk, ItemAnswer answer);
    void give_up_late_output();

    WorkerContext& context_;
    AttemptTable& table_;
    Session& session_;
    Backoff backoff_;
    std::unique_ptr<Alarm> pause_;
};

}  // namespace perdure
