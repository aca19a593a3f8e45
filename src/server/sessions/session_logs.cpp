// What workers send of what their attempts print.
#include <algorithm>
#include <set>
#include <utility>

#include "base/probe.h"
#include "core/ownership/presence.h"
#include "core/ownership/reconcile.h"
#include "server/sessions/known_jobs.h"
#include "server/sessions/session_service.h"

namespace perdure {
namespace {

struct AppendedPiece {
    AttemptKey attempt;
    std::size_t position = 0;  // of its answer
    std::uint64_t end_before = 0;
};

// An attempt of a job that is shown with its newest alone. Empty: there is none.
Task<Result<std::optional<AttemptView>>> attempt_of(Store& store, const JobView* job,
                                                    AttemptKey key) {
    if (!job || key.epoch > job->epoch) co_return std::nullopt;
    if (!job->attempts.empty() && job->attempts.back().epoch == key.epoch)
        co_return job->attempts.back();
    std::vector<JobId> one{key.job};
    auto found = co_await store.jobs(std::move(one), only(key.epoch));
    if (!found) co_return found.error();
    if (found->empty() || found->front().attempts.empty()) co_return std::nullopt;
    co_return found->front().attempts.front();
}

bool is_reported(const std::optional<AttemptView>& attempt) {
    return attempt && attempt->end && attempt->end->reported;
}

AppendedPieceFacts appended_facts(const JobView* job, const std::optional<AttemptView>& attempt,
                                  const AppendedPiece& piece) {
    if (!job) return {};
    const bool is_newest = job->epoch == piece.attempt.epoch;
    return {.in_run = job->run && job->run->attempt == piece.attempt,
            .end_reported = is_reported(attempt),
            .may_come_back = is_newest && job->presumed_lost && is_waiting_for_a_claim(job->state)};
}

// Errors that are about one attempt's text, and none of the others'.
bool is_about_one(const Error& error) {
    return error.code == Errc::conflict || error.code == Errc::corrupt;
}

// How long the text of each chunk's attempt was before it, or why it cannot be kept. All in one
// transaction, or each in its own: one that cannot be kept must not hold up the others.
Task<Result<std::vector<Result<std::uint64_t>>>> append_each(Blobs& blobs,
                                                             std::vector<LogChunk> chunks) {
    auto together = co_await blobs.append(chunks);
    if (together) co_return std::vector<Result<std::uint64_t>>(together->begin(), together->end());
    if (!is_about_one(together.error())) co_return together.error();
    std::vector<Result<std::uint64_t>> kept;
    for (auto& chunk : chunks) {
        std::vector<LogChunk> alone;
        alone.push_back(std::move(chunk));
        auto one = co_await blobs.append(std::move(alone));
        if (!one && !is_about_one(one.error())) co_return one.error();
        if (one)
            kept.emplace_back(one->front());
        else
            kept.emplace_back(one.error());
    }
    co_return kept;
}

// Attempts and output are in two databases: who was in `run` before may not be there any more.
Task<Result<LogResponse>> check_appended(Store& store, Blobs& blobs,
                                         std::vector<AppendedPiece> pieces, LogResponse response) {
    std::set<JobId> ids;
    for (const auto& piece : pieces) ids.insert(piece.attempt.job);
    std::vector<JobId> named(ids.begin(), ids.end());
    auto jobs = co_await known_jobs(store, std::move(named));
    if (!jobs) co_return jobs.error();
    std::vector<LogCut> cuts;
    for (const auto& piece : pieces) {
        if (jobs->damaged.contains(piece.attempt.job)) continue;
        using Kind = AppendedPieceDecision::Kind;
        const auto* job = jobs->find(piece.attempt.job);
        const auto attempt = co_await attempt_of(store, job, piece.attempt);
        if (!attempt) co_return attempt.error();
        switch (decide_appended_piece(appended_facts(job, *attempt, piece)).kind) {
            case Kind::keep: break;
            case Kind::ask_again: response.answers[piece.position] = ItemAnswer::again; break;
            case Kind::take_back:
                response.answers[piece.position] = ItemAnswer::fenced;
                cuts.push_back({piece.attempt, piece.end_before});
                break;
        }
    }
    if (cuts.empty()) co_return response;
    auto cut = co_await blobs.cut(std::move(cuts));
    if (!cut) co_return cut.error();
    co_return response;
}

}  // namespace

void SessionService::close_stream(SessionId session, std::uint64_t stream) {
    dispatcher_.detach(session, stream);
}

namespace {

StrangersJob strangers_job(const JobView& job) {
    StrangersJob facts{.epoch = job.epoch,
                       .state = job.state,
                       .presumed_lost = job.presumed_lost,
                       .discarded = job.discarded,
                       .effects = job.spec->effects};
    if (job.attempts.empty()) return facts;
    const auto& newest = job.attempts.back();
    facts.isolation = newest.terms.isolation;
    facts.may_have_begun = !newest.terms.asks || newest.start_committed;
    return facts;
}

OutputPieceFacts output_facts(const std::optional<OwnerView>& session, const JobView* job,
                              AttemptKey attempt) {
    OutputPieceFacts facts{.session_is_open = session && session->open};
    if (!job) return facts;
    const bool runs = job->run && job->run->attempt == attempt;
    facts.in_run_under_it = runs && session && job->run->session == session->session;
    facts.in_run_elsewhere = runs && !facts.in_run_under_it;
    const Listed alive{.attempt = attempt, .phase = Listed::Phase::running};
    const auto decision = decide_reconcile(stranger_facts(strangers_job(*job), alive, 0));
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

// Whether the attempt's end is known from who ran it, and that was a worker of this directory.
Task<Result<bool>> SessionService::ended_in(StateDirectory directory, const JobView* job,
                                            AttemptKey attempt) {
    const auto found = co_await attempt_of(store_, job, attempt);
    if (!found) co_return found.error();
    if (!is_reported(*found)) co_return false;
    const auto owner = co_await store_.owner((*found)->session);
    if (!owner && !owner.is(Errc::not_found)) co_return owner.error();
    co_return owner && owner->directory.same_place(directory);
}

Task<Result<LogResponse>> SessionService::logs(LogRequest request, Blobs& blobs) {
    auto view = co_await store_.owner(request.session);
    if (!view && !view.is(Errc::not_found)) co_return view.error();
    const auto session = view ? std::optional(std::move(*view)) : std::nullopt;
    std::set<JobId> named;
    for (const auto& chunk : request.chunks) named.insert(chunk.attempt.job);
    std::vector<JobId> ids(named.begin(), named.end());
    auto jobs = co_await known_jobs(store_, std::move(ids));
    if (!jobs) co_return jobs.error();
    LogResponse response;
    std::vector<LogChunk> counting;
    std::vector<std::size_t> positions;  // of those in the response
    for (auto& chunk : request.chunks) {
        const auto* job = jobs->find(chunk.attempt.job);
        auto facts = output_facts(session, job, chunk.attempt);
        const auto directory = session ? session->directory : StateDirectory{};
        const auto ended_there = co_await ended_in(directory, job, chunk.attempt);
        if (!ended_there) co_return ended_there.error();
        facts.ended_in_its_directory = *ended_there;
        const auto decision = decide_output_piece(facts);
        response.answers.push_back(answer_of(decision.answer));
        if (decision.answer == OutputAnswer::again) reached<"log_chunk_again">();
        if (decision.answer == OutputAnswer::fenced) reached<"log_chunk_fenced">();
        if (decision.answer != OutputAnswer::accept) continue;
        positions.push_back(response.answers.size() - 1);
        counting.push_back(std::move(chunk));
    }
    if (counting.empty()) co_return response;
    std::vector<AppendedPiece> pieces;
    for (std::size_t i = 0; i < counting.size(); ++i)
        pieces.push_back({.attempt = counting[i].attempt, .position = positions[i]});
    const auto kept = co_await append_each(blobs, std::move(counting));
    if (!kept) co_return kept.error();
    std::vector<AppendedPiece> appended;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const auto& one = (*kept)[i];
        if (one) {
            pieces[i].end_before = *one;
            appended.push_back(pieces[i]);
        } else {
            response.answers[pieces[i].position] = answer_of_unkept(pieces[i].attempt, one.error());
        }
    }
    if (appended.empty()) co_return response;
    co_return co_await check_appended(store_, blobs, std::move(appended), std::move(response));
}

// A gap: an earlier chunk has not come. The worker sends again from what it knows to be there. To a
// text that cannot be understood nothing can be added: the worker says on the job how much is lost.
ItemAnswer SessionService::answer_of_unkept(AttemptKey attempt, const Error& why) {
    if (why.code == Errc::conflict) return ItemAnswer::again;
    log_.write(Level::error, "output of an attempt is damaged, no more of it is kept", "job",
               attempt.job.text(), "epoch", attempt.epoch.value, "why", why.what);
    return ItemAnswer::fenced;
}

}  // namespace perdure
