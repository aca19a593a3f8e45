// WorkerSession: the worker's standing with the servers, as state: which session, at which server,
// until when the lease lasts. Opening is opener.h; renewing is heartbeat.h. The lease counts from
// before its renewal was sent, on this host's boot clock, and is only ever raised (O2, O7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/id.h"
#include "base/time.h"
#include "ports/server_api.h"
#include "worker/attempt_table.h"
#include "worker/worker_context.h"

namespace perdure {

class WorkerSession {
public:
    explicit WorkerSession(WorkerContext& context);

    bool is_open() const { return id_.has_value(); }
    bool is(SessionId id) const { return id_ == id; }
    SessionId id() const;
    std::size_t server() const { return server_; }
    std::optional<BootTime> lease_until() const { return lease_until_; }
    AssignmentNumbers& numbers() { return numbers_; }
    // The highest tick of the store that any server has shown us (C6).
    std::uint64_t tick_seen() const { return tick_seen_; }
    void saw_tick(std::uint64_t tick) { tick_seen_ = std::max(tick_seen_, tick); }

    void opened(SessionId id, BootTime lease_until);
    // The server has ended it: nothing is asked under it any more.
    void ended();
    void raise_lease(BootTime until);

    // Since when heartbeats are answered; empty: the last one was not, or there is no session.
    std::optional<BootTime> answered_since() const { return answered_since_; }
    void answered();
    void unanswered() { answered_since_.reset(); }

    // Goes to the next server, unless somebody else has done so since `failed` was chosen.
    void move_on(std::size_t failed);
    void attach(std::shared_ptr<Stream> stream);
    void close_stream();

private:
    WorkerContext& context_;
    std::optional<SessionId> id_;
    std::size_t server_ = 0;
    std::optional<BootTime> lease_until_;
    std::optional<BootTime> answered_since_;
    std::uint64_t tick_seen_ = 0;
    AssignmentNumbers numbers_;
    std::shared_ptr<Stream> stream_;
};

}  // namespace perdure
