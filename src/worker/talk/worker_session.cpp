#include "worker/talk/worker_session.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/probe.h"

namespace perdure {

WorkerSession::WorkerSession(WorkerContext& context) : context_(context) {
    const auto count = context_.ports.servers.server_count();
    PERDURE_ASSERT(count > 0);
    server_ = static_cast<std::size_t>(context_.ports.random.below(count));
}

SessionId WorkerSession::id() const {
    PERDURE_ASSERT(id_);
    return *id_;
}

void WorkerSession::opened(SessionId id, BootTime lease_until) {
    context_.log.write(Level::info, "session opened", "session", id.text(), "server", server_);
    id_ = id;
    answered();
    numbers_ = {};  // they are drawn from the session's own counter
    context_.announced = 0;
    raise_lease(lease_until);
    context_.heartbeat_bell->ring();
    context_.stream_bell->ring();
    context_.report_bell->ring();
    if (context_.when_opened) context_.when_opened->ring();
}

void WorkerSession::ended() {
    if (!id_) return;
    context_.log.write(Level::warn, "session ended by the server", "session", id_->text());
    id_.reset();
    unanswered();
    close_stream();
    context_.opening_bell->ring();
}

void WorkerSession::answered() {
    if (answered_since_) return;
    answered_since_ = context_.now();
    context_.output_bell->ring();  // somebody may take it now
}

void WorkerSession::raise_lease(BootTime until) {
    lease_until_ = std::max(lease_until_.value_or(until), until);
    context_.watch_bell->ring();
}

void WorkerSession::move_on(std::size_t failed) {
    const auto count = context_.ports.servers.server_count();
    if (failed != server_ || count < 2) return;
    reached<"worker_moved_to_the_next_server">();
    server_ = (server_ + 1) % count;
    close_stream();
}

void WorkerSession::attach(std::shared_ptr<Stream> stream) {
    close_stream();
    stream_ = std::move(stream);
}

void WorkerSession::close_stream() {
    if (stream_) std::exchange(stream_, nullptr)->close();
}

}  // namespace perdure
