// GET /v1/jobs/ID/why: gathers the facts; core explains them.
#include <algorithm>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/recovery_views.h"
#include "core/explain/why.h"
#include "core/job/resources.h"
#include "core/policy/custom_policy.h"
#include "core/policy/recovery.h"
#include "ports/pieces.h"
#include "wire/json_writer.h"
#include "wire/text_time.h"

namespace perdure::handlers {
namespace {

constexpr std::uint32_t holders_shown = 10;
constexpr std::uint32_t history_shown = 100;

std::optional<Duration> rest(const std::optional<ServiceTime>& until, const ServiceTick& clock) {
    if (!until) return std::nullopt;
    return std::max(*until - clock.now, Duration{});
}

// Counted by the shim from its start, of which the server knows when it was committed.
std::optional<Duration> run_timeout_in(const JobView& job, WallTime now) {
    if (job.state != JobState::running || !job.attempts.back().started_on) return std::nullopt;
    const auto passed = now - *job.attempts.back().started_on;
    return std::max(job.spec->timeouts.run - passed, Duration{});
}

// What becomes of an attempt whose worker never comes back, as the sweep will decide.
bool runs_again_after_loss(const RunView& run) {
    const auto decision = decide_recovery({.state = run.state,
                                           .terms = run.terms,
                                           .clean = run.clean,
                                           .kill_cause = run.kill_cause,
                                           .clock = {.now = ServiceTime{INT64_MAX}}});
    if (!decision.end) return false;
    const auto policy = deciding_policy(run);
    const auto end = judged(*decision.end, policy, nullptr);
    const auto next = decide_next({.end = end,
                                   .policy = policy,
                                   .effects = run.spec->effects,
                                   .counts = with(run.counts, end),
                                   .cancel_requested = run.kill_cause == Cause::cancelled,
                                   .attempt = run.attempt});
    return next.kind != Next::Kind::ended;
}

// It waits after this one; of a generation before, a person has let it go on.
void add_last_end(const JobView& job, WhyFacts& facts) {
    if (job.attempts.empty()) return;
    const auto& last = job.attempts.back();
    if (!last.end || last.generation != job.generation) return;
    facts.last = {.attempt = last.epoch.value,
                  .cause = last.end->cause,
                  .detail = last.evidence ? last.evidence->detail : ""};
}

WhyFacts facts_of(const JobView& job, const ServiceTick& clock) {
    WhyFacts facts{.state = job.state,
                   .tenant = job.spec->tenant,
                   .queue = job.spec->queue,
                   .kind = job.spec->kind,
                   .submitter = job.spec->submitted_by.name,
                   .due_in = rest(job.due, clock),
                   .due_at = job.date,
                   .presumed_lost = job.presumed_lost,
                   .queue_timeout_in = rest(job.queue_deadline, clock),
                   .total_timeout_in = rest(job.total_deadline, clock)};
    const bool suspect = !job.attempts.empty() && is_suspect(job.attempts.back().end) &&
                         job.attempts.back().generation == job.generation;
    // A stay in line began when its queue timeout did.
    if (suspect && job.queue_deadline)
        facts.suspect_for = clock.now - (*job.queue_deadline - job.spec->timeouts.queue);
    facts.held = job.state == JobState::blocked && !job.blocked_on;
    add_last_end(job, facts);
    // It gets in line only then, should it be let go.
    if (facts.held && !facts.due_at && job.attempts.empty()) facts.due_at = job.spec->run_at;
    if (job.run) {
        facts.asks = job.run->terms.asks;
        facts.hold = job.run->terms.release_after;
        facts.runs_again = runs_again_after_loss(*job.run);
        facts.kill_ordered = job.run->kill_cause;
    }
    return facts;
}

WhyWorker worker_of(const WorkerLine& line, const JobSpec& spec) {
    const auto& offer = line.offer;
    WhyWorker worker{.name = line.worker,
                     .serves_tenant = serves_tenant(offer, spec.tenant),
                     .takes_queue = takes_queue(offer, spec.queue),
                     .takes_kind = takes_kind(offer, spec.kind),
                     .runs_for_submitter = !refuses_submitter(offer, shape_of(spec)),
                     .suspect = line.suspect,
                     .draining = line.draining,
                     .deaf = line.deaf,
                     .free_slots = line.slots - std::min(line.slots, line.running)};
    if (offer.host.limits)
        worker.cannot_limit = decide_resources(spec.resources, *offer.host.limits).missing;
    return worker;
}

void add_workers(const JobView& job, const std::vector<WorkerLine>& lines, WhyFacts& facts) {
    for (const auto& line : lines) {
        if (job.run && job.run->session == line.session) {
            facts.worker = line.worker;
            facts.silent_for = line.silent_for;
            facts.lease_left = line.lease_left;
        }
        facts.workers.push_back(worker_of(line, *job.spec));
    }
}

// Who holds the key or limit: it runs, or keeps it while it is ready to run again at once.
Task<Result<std::vector<std::string>>> holders_of(Api& api, const Request& request, Permit permit) {
    auto found =
        co_await api.catalogue.holders(std::move(permit), holders_shown, terms_of(request));
    if (!found) co_return found.error();
    std::vector<std::string> ids;
    for (const auto id : *found) ids.push_back(id.text());
    co_return ids;
}

Task<Result<bool>> is_paused(Api& api, const Request& request, const JobSpec& spec) {
    // The queue alone: what comes behind it is not looked at.
    QueuePlace place{spec.queue, "", ""};
    auto piece = co_await api.catalogue.queues(spec.tenant, std::move(place), terms_of(request));
    if (!piece) co_return piece.error();
    const auto& lines = piece->queues;
    co_return std::any_of(lines.begin(), lines.end(), [&](const QueueLine& line) {
        return line.queue == spec.queue && line.paused;
    });
}

Task<Result<bool>> is_full(Api& api, const Request& request, Permit limit) {
    auto lines =
        co_await read_limits(api.catalogue, limit.tenant, limit.name, 1, terms_of(request));
    if (!lines) co_return lines.error();
    co_return !lines->empty() && lines->front().name == limit.name &&
        lines->front().taken >= lines->front().max;
}

// All keys and limits that it needs and cannot have, not only the one that it is blocked on.
Task<Result<std::vector<WhyPermit>>> taken_permits(Api& api, const Request& request, JobView job) {
    std::vector<WhyPermit> taken;
    for (const auto& permit : permits_of(*job.spec)) {
        const bool is_key = permit.kind == Permit::Kind::key;
        const bool is_it = job.blocked_on == permit;
        if (!is_key && !is_it) {
            auto full = co_await is_full(api, request, permit);
            if (!full) co_return full.error();
            if (!*full) continue;
        }
        auto holders = co_await holders_of(api, request, permit);
        if (!holders) co_return holders.error();
        std::erase(*holders, job.id.text());
        if (is_key && !is_it && holders->empty()) continue;
        const auto name = (is_key ? "key `" : "limit `") + permit.name + "`";
        taken.push_back({name, std::move(*holders)});
    }
    co_return taken;
}

// What has not ended yet, and where that is.
Task<Result<std::vector<WhyFacts::Awaited>>> awaited_by(Api& api, const Request& request,
                                                        JobView job) {
    std::vector<WhyFacts::Awaited> awaited;
    for (const auto& row : job.awaited) {
        if (row.ended || awaited.size() == holders_shown) continue;
        auto other = co_await read_job(api, terms_of(request), row.after.job);
        if (!other) co_return other.error();
        awaited.push_back(
            {row.after.job.text(), row.after.on, std::string(to_string(other->state))});
    }
    co_return awaited;
}

void write_blocker(JsonWriter& out, const Blocker& blocker) {
    out.begin_object();
    out.field("what", blocker.what);
    out.field("removed_by", blocker.removed_by);
    if (blocker.in) out.field("in", duration_text(*blocker.in));
    if (blocker.at) out.field("at", time_text(*blocker.at));
    out.end_object();
}

void write_history(JsonWriter& out, const JobView& job) {
    out.key("history");
    out.begin_array();
    for (const auto& attempt : job.attempts) {
        if (!attempt.end) continue;
        out.begin_object();
        out.field("epoch", attempt.epoch.value);
        out.field("cause", to_string(attempt.end->cause));
        out.field("ran", to_string(attempt.end->ran));
        out.field("reported", attempt.end->reported);
        out.field("rule", attempt.rule);
        if (attempt.evidence && !attempt.evidence->detail.empty())
            out.field("detail", attempt.evidence->detail);
        if (attempt.ended_on) out.field("ended_at", time_text(*attempt.ended_on));
        out.end_object();
    }
    out.end_array();
    const bool are_all = job.attempts.empty() || job.attempts.front().epoch <= Epoch{1};
    if (!are_all) out.field("history_next", job.attempts.front().epoch.value);
}

}  // namespace

Task<Response> explain_job(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
    const AttemptWindow newest{.max = history_shown};
    auto job = co_await read_job(api, terms_of(request), *id, newest);
    if (!job) co_return problem(job.error());
    // Of all tenants: that none of them serves this one is an answer, too.
    auto workers = co_await read_workers(api.catalogue, std::nullopt, terms_of(request));
    if (!workers) co_return problem(workers.error());
    auto facts = facts_of(*job, api.server.jobs().clock());
    facts.run_timeout_in = run_timeout_in(*job, api.clock.wall());
    add_workers(*job, *workers, facts);
    auto paused = co_await is_paused(api, request, *job->spec);
    if (!paused) co_return problem(paused.error());
    facts.queue_paused = *paused;
    const bool waits = place_of(job->state).place != Place::run && !has_ended(job->state);
    if (waits && !job->kept_until) {
        auto taken = co_await taken_permits(api, request, *job);
        if (!taken) co_return problem(taken.error());
        facts.taken = std::move(*taken);
    }
    if (job->state == JobState::waiting) {
        auto awaited = co_await awaited_by(api, request, *job);
        if (!awaited) co_return problem(awaited.error());
        facts.awaited = std::move(*awaited);
    }
    auto recoveries = co_await api.catalogue.recoveries(recoveries_of(*job), terms_of(request));
    if (!recoveries) co_return problem(recoveries.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("id", job->id);
    out.field("state", to_string(job->state));
    out.key("blockers");
    out.begin_array();
    for (const auto& blocker : explain(facts, api.options.timing)) write_blocker(out, blocker);
    out.end_array();
    write_history(out, *job);
    write_recoveries_of_job(out, *recoveries);
    out.end_object();
    co_return response;
}

}  // namespace perdure::handlers
