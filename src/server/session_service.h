// SessionService: what workers say, and what they are answered. Opening a session with takeover
// (O5), heartbeats with reconcile (O6), starts and reports (O1, O4).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "core/timing.h"
#include "ports/store.h"
#include "server/dispatcher.h"
#include "server/group_commit.h"
#include "wire/worker_protocol.h"

namespace perdure {

class SessionService {
public:
    SessionService(Store& store, GroupCommit& commits, Dispatcher& dispatcher, Timing timing,
                   GroupCommit::Fatal fatal, Log log);

    // fenced: a later life of that directory has spoken. conflict: its twin is alive.
    Task<Result<OpenAnswer>> open(OpenRequest request);
    Task<Result<std::uint64_t>> open_stream(SessionId session, std::shared_ptr<Outbox> outbox);
    // unavailable while this server cannot commit (T3).
    Task<Result<HeartbeatAnswerMessage>> heartbeat(HeartbeatRequest request);
    Task<Result<ReportResponse>> report(ReportRequest request);

private:
    Task<Result<OpenAnswer>> open_once(OpenRequest request);
    Task<Result<HeartbeatAnswerMessage>> reconcile(HeartbeatRequest request, SessionView view);
    Task<Result<void>> add_strangers(const HeartbeatRequest& request, const SessionView& view,
                                     std::vector<std::pair<RunView, ReconcileDecision>>& out);

    Store& store_;
    GroupCommit& commits_;
    Dispatcher& dispatcher_;
    Timing timing_;
    GroupCommit::Fatal fatal_;
    Log log_;
};

// A hash of what a heartbeat says: one number with two contents is a cloned machine (O5).
std::uint64_t content_hash(const HeartbeatRequest& request);

}  // namespace perdure
