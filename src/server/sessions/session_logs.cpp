// What workers send of what their attempts print.
#include <algorithm>
#include <utility>

#include "base/probe.h"
#include "core/presence.h"
#include "server/sessions/session_service.h"

namespace perdure {

void SessionService::close_stream(SessionId session, std::uint64_t stream) {
    dispatcher_.detach(session, stream);
}

Task<Result<LogResponse>> SessionService::logs(LogRequest request, Blobs& blobs) {
    auto view = co_await store_.session(request.session);
    if (!view && !view.is(Errc::not_found)) co_return view.error();
    LogResponse response;
    std::vector<LogChunk> counting;
    for (auto& chunk : request.chunks) {
        const auto is_it = [&](const RunView& run) { return run.attempt == chunk.attempt; };
        const auto decision = decide_output_piece(
            {.session_is_open = view && view->open,
             .in_run_under_it = view && std::any_of(view->runs.begin(), view->runs.end(), is_it)});
        response.answers.push_back(decision.counts ? ItemAnswer::ok : ItemAnswer::fenced);
        if (decision.counts) counting.push_back(std::move(chunk));
        if (!decision.counts) reached<"log_chunk_fenced">();
    }
    if (counting.empty()) co_return response;
    auto kept = co_await blobs.append(std::move(counting));
    if (kept) co_return response;
    if (!kept.is(Errc::conflict)) co_return kept.error();
    // A gap: an earlier chunk has not come. The worker sends again from what it knows to be there.
    for (auto& answer : response.answers)
        if (answer == ItemAnswer::ok) answer = ItemAnswer::again;
    co_return response;
}

}  // namespace perdure
