// GET /v1/jobs: newest first, by pages.
#include <algorithm>
#include <iterator>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "api/job_views.h"
#include "wire/text_time.h"

namespace perdure::handlers {
namespace {

void read_states(QueryReader& query, std::vector<JobState>& into) {
    const auto text = query.text("state").value_or("");
    std::string_view rest = text;
    while (!rest.empty()) {
        const auto name = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
        bool known = false;
        for (const auto& place : places) {
            if (place.name != name) continue;
            into.push_back(place.state);
            known = true;
        }
        if (!known) query.parse_error("state", "there is no state `" + std::string(name) + "`");
    }
}

JobFilter read_filter(QueryReader& query) {
    JobFilter filter{.tenant = query.tenant()};
    read_states(query, filter.states);
    filter.queue = query.text("queue");
    filter.kind = query.text("kind");
    filter.key = query.text("key");
    read_name(query, "cause", cause_names, filter.cause);
    if (const auto before = query.text("ended_before")) {
        filter.ended_before = time_value(*before);
        if (!filter.ended_before)
            query.parse_error("ended_before", "must be a time like 2026-11-15T09:30:00Z");
    }
    if (const auto undealt = query.text("undealt")) {
        filter.undealt = *undealt == "true";
        if (!filter.undealt && *undealt != "false")
            query.parse_error("undealt", "must be true or false");
    }
    filter.limit = read_page_size(query);
    if (const auto before = query.text("before")) {
        filter.before = JobId::parse(*before);
        if (!filter.before) query.parse_error("before", "must be the id of a job");
    }
    return filter;
}

// Where little of what is stored is wanted, one page takes many short reads.
Task<Result<JobPage>> read_page(Api& api, const Request& request, JobFilter filter) {
    JobPage page;
    const auto wanted = filter.limit;
    PageWalk walk(api, request);
    do {
        filter.limit = wanted - static_cast<std::uint32_t>(page.jobs.size());
        auto some = co_await api.catalogue.list(filter, terms_of(request));
        if (!some) co_return some.error();
        std::move(some->jobs.begin(), some->jobs.end(), std::back_inserter(page.jobs));
        page.next = filter.before = some->next;
    } while (page.next && page.jobs.size() < wanted && walk.goes_on());
    co_return page;
}

}  // namespace

Task<Response> list_jobs(Api& api, const Request& request) {
    QueryReader query(request);
    auto filter = read_filter(query);
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    auto page = co_await read_page(api, request, std::move(filter));
    if (!page) co_return problem(page.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.key("jobs");
    out.begin_array();
    for (const auto& job : page->jobs) write_job_line(out, job, api.server.sessions().progress());
    out.end_array();
    if (page->next) out.field("next", *page->next);
    out.end_object();
    co_return response;
}

}  // namespace perdure::handlers
