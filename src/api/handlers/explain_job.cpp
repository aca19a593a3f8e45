// GET /v1/jobs/ID/why: gathers the facts; core explains them.
#include <algorithm>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/recovery_views.h"
#include "core/why.h"
#include "wire/json_writer.h"
#include "wire/text_time.h"

namespace perdure::handlers {
namespace {

constexpr std::uint32_t holders_shown = 10;

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

WhyFacts facts_of(const JobView& job, const ServiceTick& clock) {
    WhyFacts facts{.state = job.state,
                   .queue = job.spec->queue,
                   .kind = job.spec->kind,
                   .due_in = rest(job.due, clock),
                   .due_at = job.date,
                   .presumed_lost = job.presumed_lost,
                   .queue_timeout_in = rest(job.queue_deadline, clock),
                   .total_timeout_in = rest(job.total_deadline, clock)};
    if (job.blocked_on) {
        const bool key = job.blocked_on->kind == Thing::Kind::key;
        facts.blocked_on = (key ? "key `" : "limit `") + job.blocked_on->name + "`";
    }
    const bool suspect = !job.attempts.empty() && is_suspect(job.attempts.back().end) &&
                         job.attempts.back().generation == job.generation;
    // A stay in line began when its queue timeout did.
    if (suspect && job.queue_deadline)
        facts.suspect_for = clock.now - (*job.queue_deadline - job.spec->timeouts.queue);
    if (job.run) {
        facts.asks = job.run->terms.asks;
        facts.kill_ordered = job.run->order;
    }
    return facts;
}

void add_workers(const JobView& job, const Overview& overview, WhyFacts& facts) {
    const Shape shape{job.spec->tenant, job.spec->queue, job.spec->kind};
    for (const auto& line : overview.workers) {
        ++facts.workers.connected;
        if (job.run && job.run->session == line.session) {
            facts.worker = line.worker;
            facts.silent_for = line.silent_for;
        }
        if (!matches(line.offer, shape)) continue;
        ++facts.workers.matching;
        if (line.suspect)
            ++facts.workers.suspect;
        else if (line.slots == 0)
            ++facts.workers.draining;
        else
            facts.workers.free_slots += line.slots - std::min(line.slots, line.running);
    }
    for (const auto& line : overview.queues)
        if (line.queue == job.spec->queue) facts.queue_paused = line.paused;
}

// Who holds the key or limit: it runs, or keeps it while it is ready to run again at once.
Task<Result<std::vector<std::string>>> holders_of(Api& api, const Thing& thing) {
    std::vector<std::string> ids;
    JobFilter filter{
        .tenant = thing.tenant, .states = {JobState::starting, JobState::running}, .limit = 1000};
    if (thing.kind == Thing::Kind::key) filter.key = thing.name;
    auto page = co_await api.catalogue.list(std::move(filter));
    if (!page) co_return page.error();
    for (const auto& line : page->jobs) {
        const auto& limits = line.spec->limits;
        const bool holds = thing.kind == Thing::Kind::key ||
                           std::find(limits.begin(), limits.end(), thing.name) != limits.end();
        if (holds && ids.size() < holders_shown) ids.push_back(line.id.text());
    }
    co_return ids;
}

// What has not ended yet, and where that is.
Task<Result<std::vector<WhyFacts::Awaited>>> awaited_by(Api& api, JobView job) {
    std::vector<WhyFacts::Awaited> awaited;
    for (const auto& row : job.awaited) {
        if (row.ended || awaited.size() == holders_shown) continue;
        auto other = co_await api.server.jobs().job(row.after.job);
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
        if (attempt.ended_on) out.field("ended_at", time_text(*attempt.ended_on));
        out.end_object();
    }
    out.end_array();
}

}  // namespace

Task<Response> explain_job(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    if (const auto misfit = expect_nothing(request)) co_return problem(*misfit);
    auto job = co_await api.server.jobs().job(*id);
    if (!job) co_return problem(job.error());
    auto overview = co_await api.catalogue.overview(job->spec->tenant);
    if (!overview) co_return problem(overview.error());
    auto facts = facts_of(*job, overview->clock);
    facts.run_timeout_in = run_timeout_in(*job, api.clock.wall());
    add_workers(*job, *overview, facts);
    if (job->blocked_on) {
        auto holders = co_await holders_of(api, *job->blocked_on);
        if (!holders) co_return problem(holders.error());
        facts.holders = std::move(*holders);
    }
    if (job->state == JobState::waiting) {
        auto awaited = co_await awaited_by(api, *job);
        if (!awaited) co_return problem(awaited.error());
        facts.awaited = std::move(*awaited);
    }
    auto recoveries = co_await api.catalogue.recoveries(recoveries_of(*job));
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
