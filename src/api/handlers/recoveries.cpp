// GET /v1/recoveries: the ledger, newest first, by pages.
// POST /v1/recover: one sweep by hand, or only a look at what it would do.
#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "api/damage_views.h"
#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "api/recovery_views.h"
#include "ports/pieces.h"
#include "wire/text_time.h"

namespace perdure::handlers {
namespace {

RecoveryFilter read_recovery_filter(QueryReader& query) {
    RecoveryFilter filter{.tenant = query.tenant()};
    if (const auto job = query.text("job")) {
        filter.job = JobId::parse(*job);
        if (!filter.job) query.parse_error("job", "must be the id of a job");
    }
    read_name(query, "cause", cause_names, filter.cause);
    read_name(query, "detector", detector_names, filter.detector);
    read_name(query, "incident", incident_names, filter.incident);
    if (const auto since = query.text("since")) {
        filter.since = time_value(*since);
        if (!filter.since) query.parse_error("since", "must be a time like 2026-11-15T09:30:00Z");
    }
    filter.limit = read_page_size(query);
    const auto before = query.number("before", 0, 1, std::uint64_t{1} << 62);
    if (before != 0) filter.before = before;
    return filter;
}

// A page may have to be looked for in many short reads; whoever wants more goes on from there.
Task<Result<RecoveryPage>> read_recoveries(Api& api, const Request& request,
                                           RecoveryFilter filter) {
    RecoveryPage page;
    const auto wanted = filter.limit;
    PageWalk walk(api, request);
    do {
        auto some = co_await api.catalogue.recoveries(filter, terms_of(request));
        if (!some) co_return some.error();
        std::move(some->recoveries.begin(), some->recoveries.end(),
                  std::back_inserter(page.recoveries));
        std::move(some->damaged.begin(), some->damaged.end(), std::back_inserter(page.damaged));
        page.next = some->next;
        const bool is_full = page.recoveries.size() == wanted || page.damaged.size() >= wanted;
        if (!page.next || is_full) break;
        filter.before = page.next;
        filter.limit = wanted - static_cast<std::uint32_t>(page.recoveries.size());
    } while (walk.goes_on());
    co_return page;
}

struct RecoverRequest {
    bool report_only = false;
};
constexpr std::array recover_fields = {JsonField<RecoverRequest>{
    "report_only", [](const JsonCursor& at, RecoverRequest& w) { at.read(w.report_only); }}};

std::string_view outcome_of(const SweepFinding& finding, bool carried_out) {
    if (!finding.acts) return "left_alone";
    return carried_out ? "done" : "would_do";
}

void write_finding(JsonWriter& out, const SweepFinding& finding, bool carried_out) {
    out.begin_object();
    if (finding.attempt.job) {
        out.field("job", finding.attempt.job);
        out.field("epoch", finding.attempt.epoch.value);
    }
    out.field("saw", finding.saw);
    out.field("does", finding.does);
    out.field("outcome", outcome_of(finding, carried_out));
    out.field("seen_by", finding.seen_by);
    out.field("rule", finding.rule);
    out.end_object();
}

// Everything that a sweep looks at and that was not found overdue.
void write_healthy(JsonWriter& out, const Overview& overview, const SweepReport& report) {
    std::array<std::uint64_t, places.size()> jobs{};
    for (const auto& queue : overview.queues)
        for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i] += queue.jobs[i];
    const auto in = [&](JobState state) { return jobs[static_cast<std::size_t>(state)]; };
    const auto all = in(JobState::scheduled) + in(JobState::ready) + in(JobState::blocked) +
                     in(JobState::starting) + in(JobState::running) + in(JobState::waiting);
    std::uint64_t overdue = 0;
    std::uint64_t left_alone = 0;
    for (const auto& finding : report.findings) {
        overdue += finding.attempt.job ? 1 : 0;
        left_alone += finding.acts ? 0 : 1;
    }
    std::uint64_t suspect = 0;
    for (const auto& worker : overview.workers) suspect += worker.suspect ? 1 : 0;
    out.key("healthy");
    out.begin_object();
    out.field("jobs", all - std::min(all, overdue));
    out.field("workers", overview.workers.size() - suspect);
    out.end_object();
    out.field("left_alone", left_alone);
    out.field("silent_workers", suspect);
}

}  // namespace

Task<Response> list_recoveries(Api& api, const Request& request) {
    QueryReader query(request);
    auto filter = read_recovery_filter(query);
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    auto page = co_await read_recoveries(api, request, std::move(filter));
    if (!page) co_return problem(page.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.key("recoveries");
    out.begin_array();
    for (const auto& line : page->recoveries) write_recovery(out, line);
    out.end_array();
    if (!page->damaged.empty()) write_damaged(out, page->damaged);
    if (page->next) out.field("next", *page->next);
    out.end_object();
    co_return response;
}

Task<Response> recover_now(Api& api, const Request& request) {
    RecoverRequest wanted;
    if (const auto parse_error = read_body<RecoverRequest>(request, recover_fields, wanted))
        co_return problem(*parse_error);
    // First the counts: what is done below changes them.
    auto overview = co_await read_overview(api.catalogue, "default", terms_of(request));
    if (!overview) co_return problem(overview.error());
    const auto how = wanted.report_only ? SweepByHand::report_only : SweepByHand::carry_out;
    auto report = co_await api.server.sweeper().sweep_by_hand(how);
    if (!report) co_return problem(report.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("report_only", wanted.report_only);
    out.key("findings");
    out.begin_array();
    for (const auto& finding : report->findings) write_finding(out, finding, report->carried_out);
    out.end_array();
    write_healthy(out, *overview, *report);
    out.end_object();
    co_return response;
}

}  // namespace perdure::handlers
