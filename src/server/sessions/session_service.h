// SessionService: what workers say, and what they are answered. Opening a session with takeover
// (O5), heartbeats with reconcile (O6), starts and reports (O1, O4).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "core/ownership/timing.h"
#include "core/policy/policy_book.h"
#include "ports/blobs.h"
#include "ports/store.h"
#include "server/dispatcher.h"
#include "server/group_commit.h"
#include "server/sessions/known_jobs.h"
#include "server/sessions/live_progress.h"
#include "wire/worker_protocol.h"

namespace perdure {

class SessionService {
public:
    SessionService(Store& store, GroupCommit& commits, Dispatcher& dispatcher, Timing timing,
                   GroupCommit::Fatal fatal, Log log);

    // fenced: a later life of that directory has spoken. conflict: its twin is alive.
    Task<Result<OpenAnswer>> open(OpenRequest request);
    Task<Result<std::uint64_t>> open_stream(SessionId session, std::shared_ptr<Outbox> outbox);
    void close_stream(SessionId session, std::uint64_t stream);
    // What attempts have printed. A chunk counts while its attempt is in `run` under that very
    // session, or if that has ended in the session's state directory [P2]; it is durable in `blobs`
    // when it is answered. While the attempt can still be reinstated the answer is `again` (O1).
    Task<Result<LogResponse>> logs(LogRequest request, Blobs& blobs);
    // unavailable while this server cannot commit (T3).
    Task<Result<HeartbeatAnswerMessage>> heartbeat(HeartbeatRequest request);
    Task<Result<ReportResponse>> report(ReportRequest request);
    const LiveProgress& progress() const { return progress_; }
    // Which workers have a policy of their own; from Server::use().
    void use(std::shared_ptr<const PolicyBook> book) { book_ = std::move(book); }
    // Told of every worker that comes back on its state directory.
    void on_restarts(RecoveryMeter& meter) { meter_ = &meter; }

private:
    // Ends this server's life: the store has lost commits (O6).
    Error end_life_behind();
    Task<Result<bool>> ended_in(StateDirectory directory, const JobView* job, AttemptKey attempt);
    ItemAnswer answer_of_unkept(AttemptKey attempt, const Error& why);

    Store& store_;
    GroupCommit& commits_;
    Dispatcher& dispatcher_;
    Timing timing_;
    GroupCommit::Fatal fatal_;
    RecoveryMeter* meter_ = nullptr;
    std::shared_ptr<const PolicyBook> book_ = std::make_shared<const PolicyBook>();
    Log log_;
    LiveProgress progress_;
};

// A hash of what a heartbeat says: one number with two contents is a cloned machine (O5).
std::uint64_t content_hash(const HeartbeatRequest& request);

}  // namespace perdure
