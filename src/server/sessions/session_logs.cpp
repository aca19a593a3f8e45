// What workers send of what their attempts print.
#include <algorithm>
#include <utility>

#include "base/probe.h"
#include "core/presence.h"
#include "core/reconcile.h"
#include "server/sessions/known_jobs.h"
#include "server/sessions/session_service.h"

namespace perdure {

void SessionService::close_stream(SessionId session, std::uint64_t stream) {
    dispatcher_.detach(session, stream);
}

namespace {

OutputPieceFacts output_facts(const std::optional<SessionView>& session, const JobView* job,
                              AttemptKey attempt) {
    OutputPieceFacts facts{.session_is_open = session && session->open};
    const auto is_it = [&](const RunView& run) { return run.attempt == attempt; };
    facts.in_run_under_it =
        session && std::any_of(session->runs.begin(), session->runs.end(), is_it);
    if (!job) return facts;
    facts.in_run_elsewhere = job->run && job->run->attempt == attempt;
    const Listed alive{.attempt = attempt, .phase = Listed::Phase::running};
    const auto decision = decide_reconcile(stranger_facts(*job, alive, 0));
    facts.may_be_reinstated = decision.kind == ReconcileDecision::Kind::reinstate;
    return facts;
}

ItemAnswer answer_of(OutputAnswer answer) {
    switch (answer) {
        case OutputAnswer::accept: return ItemAnswer::ok;
        case OutputAnswer::again: return ItemAnswer::again;
        case OutputAnswer::fenced: return ItemAnswer::fenced;
    }
    return ItemAnswer::fenced;
}

}  // namespace

// Jobs whose attempts the session does not own, as far as they can be read.
Task<Result<KnownJobs>> SessionService::strangers_of(std::optional<SessionView> session,
                                                     std::vector<AttemptKey> attempts) {
    std::vector<JobId> ids;
    for (const auto attempt : attempts) {
        const auto is_it = [&](const RunView& run) { return run.attempt == attempt; };
        const bool owned =
            session && std::any_of(session->runs.begin(), session->runs.end(), is_it);
        if (!owned || !session->open) ids.push_back(attempt.job);
    }
    if (ids.empty()) co_return KnownJobs{};
    co_return co_await known_jobs(store_, std::move(ids));
}

Task<Result<LogResponse>> SessionService::logs(LogRequest request, Blobs& blobs) {
    auto view = co_await store_.session(request.session);
    if (!view && !view.is(Errc::not_found)) co_return view.error();
    const auto session = view ? std::optional(std::move(*view)) : std::nullopt;
    std::vector<AttemptKey> attempts;
    for (const auto& chunk : request.chunks) attempts.push_back(chunk.attempt);
    auto jobs = co_await strangers_of(session, std::move(attempts));
    if (!jobs) co_return jobs.error();
    LogResponse response;
    std::vector<LogChunk> counting;
    for (auto& chunk : request.chunks) {
        const auto* job = jobs->find(chunk.attempt.job);
        const auto decision = decide_output_piece(output_facts(session, job, chunk.attempt));
        response.answers.push_back(answer_of(decision.answer));
        if (decision.answer == OutputAnswer::accept) counting.push_back(std::move(chunk));
        if (decision.answer == OutputAnswer::again) reached<"log_chunk_again">();
        if (decision.answer == OutputAnswer::fenced) reached<"log_chunk_fenced">();
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
