// LogShipper: brings what attempts print to a server, in order, piece by piece, while they run.
// An attempt's end is reported after its output: only then does the output still count [P2]. But
// output never holds an end back for long: decide_output() says when it is given up, and what is
// given up is said with the end (O1). Attempts take turns: a loud one keeps nobody else back.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/worker/worker_rules.h"
#include "wire/worker_protocol.h"
#include "worker/attempt_table.h"
#include "worker/talk/backoff.h"
#include "worker/talk/worker_session.h"
#include "worker/worker_context.h"

namespace perdure {

class LogShipper {
public:
    LogShipper(WorkerContext& context, AttemptTable& table, WorkerSession& session);

    Task<void> run();

private:
    // Whose turn it is: those that have waited longest, at most chunks_max.
    std::vector<AttemptKey> next_in_turn();
    // The next piece of each of them that has one.
    Task<std::vector<LogChunk>> collect();
    // True if the server has answered.
    Task<bool> ship(std::vector<LogChunk> chunks);
    Task<void> apply_answer(LogChunk chunk, ItemAnswer answer, SessionId sent_by);
    Task<void> give_up_late_output();
    OutputFacts facts_of(const Attempt& attempt) const;
    // Nobody will have the rest of it: its end says how much that is.
    Task<void> give_up(AttemptKey key, std::string_view rule);
    Duration until_next() const;

    WorkerContext& context_;
    AttemptTable& table_;
    WorkerSession& session_;
    Backoff backoff_;
    std::unique_ptr<Alarm> pause_;
    std::uint64_t turn_ = 0;
};

}  // namespace perdure
