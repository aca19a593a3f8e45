// Reporter: what the worker says about single attempts: asks, starts, ends, begins, checkpoints.
// Everything is derived from the table, sent in one request at a time, and repeated until it is
// answered for good; results survive lost replies, lost servers and lost sessions. An item that the
// server cannot read is found and set aside, so that it keeps nobody else back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

class Reporter {
public:
    Reporter(WorkerContext& context, AttemptTable& table, WorkerSession& session,
             Supervisor& supervisor, Watch& watch);

    Task<void> run();

private:
    struct Statement {
        ReportItem item;
        std::uint64_t serial = 0;  // of a begin or checkpoint
    };
    // What the answers were about.
    struct Sent {
        SessionId session;
        BootTime at;
        BootTime lease_until;  // as known when it was sent
        std::vector<Statement> statements;
    };

    // What the server cannot read, or cannot write down: not said again before.
    struct Aside {
        ReportItem::Kind kind;
        std::uint64_t serial = 0;
        BootTime until;
    };

    std::vector<Statement> collect();
    bool is_aside(const Statement& statement) const;
    std::optional<Statement> next_statement(AttemptKey key, const Attempt& attempt,
                                            BootTime now) const;
    // True if everything was answered for good.
    Task<bool> report_once(std::vector<Statement> statements);
    bool apply_answers(const Sent& sent, const std::vector<ItemAnswer>& answers);
    bool apply_answer(const Statement& statement, ItemAnswer answer, const Sent& sent);
    // The server cannot read it: false if that is to be repeated soon.
    Task<bool> refused(std::vector<Statement> statements, Error why);
    Task<bool> report_halves(std::vector<Statement> statements);
    void set_aside(const Statement& statement, const Error& why);
    void failed(const Sent& sent, std::size_t server, const Error& why);

    WorkerContext& context_;
    AttemptTable& table_;
    WorkerSession& session_;
    Supervisor& supervisor_;
    Watch& watch_;
    std::map<AttemptKey, Aside> aside_;
    Backoff backoff_;
    std::unique_ptr<Alarm> pause_;
};

}  // namespace perdure
