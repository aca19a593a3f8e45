// POST /v1/jobs/ID/…: what a person does to a job. Durable when answered.
#include <array>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "api/job_views.h"

namespace perdure::handlers {
namespace {

std::string_view outcome_name(CancelDecision::Kind kind) {
    switch (kind) {
        case CancelDecision::Kind::end_now: return "ended";
        case CancelDecision::Kind::order_kill: return "kill_ordered";
        case CancelDecision::Kind::already_ended: return "already_ended";
    }
    return "already_ended";
}

template <class Value>
Response about(JobId id, std::string_view name, const Value& value) {
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("id", id);
    out.field(name, value);
    out.end_object();
    return response;
}

Task<Response> deal(Api& api, const Request& request, QuarantineAction action, bool may_still_run) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    DealWithQuarantined act{*id, action, may_still_run, request.who.name};
    auto done = co_await api.server.jobs().deal_with_quarantined(std::move(act));
    if (!done) co_return problem(done.error());
    auto job = co_await read_job(api, terms_of(request), *id);
    if (!job) co_return problem(job.error());
    api.bells.ring(*id);
    co_return about(*id, "state", to_string(job->state));
}

struct RetryRequest {
    std::optional<std::string> idempotency_key;
    std::optional<Duration> keep_key;
};
constexpr std::array retry_fields = {
    JsonField<RetryRequest>{"idempotency_key", [](const JsonCursor& at,
                                                  RetryRequest& w) { at.read(w.idempotency_key); }},
    JsonField<RetryRequest>{"keep_key",
                            [](const JsonCursor& at, RetryRequest& w) { at.read(w.keep_key); }},
};

struct ReleaseRequest {
    bool may_still_run = false;
};
constexpr std::array release_fields = {JsonField<ReleaseRequest>{
    "may_still_run", [](const JsonCursor& at, ReleaseRequest& w) { at.read(w.may_still_run); }}};

struct DiscardRequest {
    bool damaged = false;
    bool may_still_run = false;
};
constexpr std::array discard_fields = {
    JsonField<DiscardRequest>{"damaged",
                              [](const JsonCursor& at, DiscardRequest& w) { at.read(w.damaged); }},
    JsonField<DiscardRequest>{
        "may_still_run", [](const JsonCursor& at, DiscardRequest& w) { at.read(w.may_still_run); }},
};

// All rows of a job that cannot be understood, and what it has printed (C9).
Task<Response> discard_damaged(Api& api, const Request& request, DiscardRequest wanted) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    if (!api.options.damage) co_return problem(error(Errc::conflict, "it is not damaged"));
    DiscardDamaged what{"job", id->text(), wanted.may_still_run};
    auto done = co_await api.options.damage->discard(std::move(what));
    if (!done) co_return problem(done.error());
    api.log.write(Level::warn, "a damaged job was discarded by a person", "job", id->text());
    std::vector<JobId> jobs{*id};
    // What is left then, retention removes.
    auto removed = co_await api.blobs.remove(std::move(jobs));
    if (!removed) api.log.write(Level::warn, "output left behind", "why", removed.error().what);
    api.bells.ring(*id);
    co_return about(*id, "discarded", true);
}

// What the job waited for, as far as it is still there: a retry gets the same inputs.
Task<Result<std::vector<After>>> awaited_again(Api& api, const Request& request, JobView job) {
    std::vector<After> others;
    for (const auto& row : job.awaited) {
        auto other = co_await read_job(api, terms_of(request), row.after.job);
        if (other.is(Errc::not_found)) continue;
        if (!other) co_return other.error();
        others.push_back({row.after.job, Trigger::end});
    }
    co_return others;
}

}  // namespace

Task<Response> cancel_job(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
    Cancel change{*id, request.who.name, request.by};
    auto cancelled = co_await api.server.jobs().cancel(std::move(change));
    if (!cancelled) co_return problem(cancelled.error());
    api.bells.ring(*id);
    co_return about(*id, "outcome", outcome_name(cancelled->kind));
}

Task<Response> hold_job(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
    Hold change{*id, true, request.who.name};
    auto done = co_await api.server.jobs().hold(std::move(change));
    if (!done) co_return problem(done.error());
    co_return about(*id, "held", true);
}

Task<Response> unhold_job(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
    Hold change{*id, false, request.who.name};
    auto done = co_await api.server.jobs().hold(std::move(change));
    if (!done) co_return problem(done.error());
    co_return about(*id, "held", false);
}

// A new job that asks for the same, without its date: that has passed, or was for the first one.
Task<Response> retry_job(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    RetryRequest wanted;
    if (const auto parse_error = read_body<RetryRequest>(request, retry_fields, wanted))
        co_return problem(*parse_error);
    auto job = co_await read_job(api, terms_of(request), *id);
    if (!job) co_return problem(job.error());
    if (!has_ended(job->state))
        co_return problem(error(Errc::conflict, "the job has not ended yet: cancel it first"));
    if (job->state == JobState::quarantined && !job->discarded)
        co_return problem(
            error(Errc::conflict, "the job is in quarantine: release, accept or discard it"));
    auto others = co_await awaited_again(api, request, *job);
    if (!others) co_return problem(others.error());
    JobRequest again{.spec = *job->spec, .policy = PolicyOrigin::frozen};
    again.spec.run_at.reset();
    again.spec.callback_of.reset();
    again.spec.after = std::move(*others);
    again.spec.idempotency_key = wanted.idempotency_key;
    again.spec.keep_key = wanted.keep_key;
    again.spec.retry_of = *id;
    auto submitted = co_await api.server.jobs().submit(std::move(again), api.clock.wall());
    if (!submitted) co_return problem(submitted.error());
    Response response{.status = submitted->created ? 201U : 200U};
    JsonWriter out(response.body);
    write_submitted(out, *submitted);
    co_return response;
}

Task<Response> release_job(Api& api, const Request& request) {
    ReleaseRequest wanted;
    if (const auto parse_error = read_body<ReleaseRequest>(request, release_fields, wanted))
        co_return problem(*parse_error);
    co_return co_await deal(api, request, QuarantineAction::release, wanted.may_still_run);
}

Task<Response> accept_job(Api& api, const Request& request) {
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
    co_return co_await deal(api, request, QuarantineAction::accept, false);
}

Task<Response> discard_job(Api& api, const Request& request) {
    DiscardRequest wanted;
    if (const auto parse_error = read_body<DiscardRequest>(request, discard_fields, wanted))
        co_return problem(*parse_error);
    if (wanted.damaged) co_return co_await discard_damaged(api, request, wanted);
    co_return co_await deal(api, request, QuarantineAction::discard, false);
}

}  // namespace perdure::handlers
