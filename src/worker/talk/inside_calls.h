// InsideCalls: what running jobs ask of a server as their attempts. One at a time of each attempt,
// repeated until a server has answered: a repeated one has the same number, so that it is carried
// out once. Whether the attempt still counts is the server's to say [P2].
#pragma once

#include <set>

#include "ports/process.h"
#include "wire/inside.h"
#include "worker/attempt_table.h"
#include "worker/talk/worker_session.h"
#include "worker/worker_context.h"

namespace perdure {

class InsideCalls {
public:
    InsideCalls(WorkerContext& context, AttemptTable& table, WorkerSession& session)
        : context_(context), table_(table), session_(session) {}

    // `event` is one of kind `call`.
    void take(ProcessEvent event);

private:
    Task<void> carry(AttemptKey attempt, InsideCall call);
    // Empty: not answered for good.
    Task<std::optional<InsideReply>> ask(InsideCall call);
    bool is_wanted(AttemptKey attempt) const;

    WorkerContext& context_;
    AttemptTable& table_;
    WorkerSession& session_;
    std::set<AttemptKey> under_way_;
};

}  // namespace perdure
