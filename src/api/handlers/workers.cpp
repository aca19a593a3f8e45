// GET /v1/workers and POST /v1/workers/NAME/drain.
#include <algorithm>
#include <iterator>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "ports/pieces.h"
#include "wire/json_writer.h"
#include "wire/text_time.h"
#include "wire/worker_parts.h"

namespace perdure::handlers {
namespace {

void write_names(JsonWriter& out, std::string_view key, const std::vector<std::string>& names) {
    if (names.empty()) return;
    out.key(key);
    out.begin_array();
    for (const auto& name : names) out.value(name);
    out.end_array();
}

std::vector<std::string> tenants_of(const Offer& offer) {
    std::vector<std::string> tenants{offer.tenant};
    tenants.insert(tenants.end(), offer.other_tenants.begin(), offer.other_tenants.end());
    return tenants;
}

void write_worker(JsonWriter& out, const WorkerLine& line) {
    out.begin_object();
    out.field("worker", line.worker);
    out.field("session", line.session);
    out.field("machine", line.machine);
    out.field("slots", line.slots);
    out.field("running", line.running);
    write_names(out, "tenants", tenants_of(line.offer));
    write_names(out, "queues", line.offer.queues);
    write_names(out, "kinds", line.offer.kinds);
    if (line.offer.host != JobHost{}) write_job_host(out, line.offer.host);
    if (line.offer.takes_from != TakesFrom::anybody) out.field("user", "submitter");
    out.field("suspect", line.suspect);
    out.field("draining", line.draining);
    if (line.deaf) out.field("deaf", true);
    out.field("silent_for", duration_text(line.silent_for));
    out.end_object();
}

// In order of sessions; those of one page are then sorted by name.
Task<Result<WorkerPiece>> read_page(Api& api, const Request& request,
                                    std::optional<std::string> tenant, SessionId after,
                                    std::uint32_t limit) {
    auto running = co_await read_running(api.catalogue, terms_of(request));
    if (!running) co_return running.error();
    WorkerQuery query{.tenant = std::move(tenant),
                      .running = std::make_shared<const RunCounts>(std::move(*running)),
                      .after = after};
    WorkerPiece page;
    PageWalk walk(api, request);
    do {
        auto some = co_await api.catalogue.workers(query, terms_of(request));
        if (!some) co_return some.error();
        std::move(some->workers.begin(), some->workers.end(), std::back_inserter(page.workers));
        page.next = some->next;
        if (page.workers.size() > limit) {
            page.workers.resize(limit);
            page.next = page.workers.back().session;
        }
        if (page.next) query.after = *page.next;
    } while (page.next && page.workers.size() < limit && walk.goes_on());
    co_return page;
}

}  // namespace

Task<Response> list_workers(Api& api, const Request& request) {
    QueryReader query(request);
    auto tenant = query.text("tenant");  // left out: those of all
    const auto limit = read_large_page_size(query);
    std::optional<SessionId> after;
    if (const auto text = query.text("after")) {
        after = SessionId::parse(*text);
        if (!after) query.parse_error("after", "must be the id of a session");
    }
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    auto page =
        co_await read_page(api, request, std::move(tenant), after.value_or(SessionId{}), limit);
    if (!page) co_return problem(page.error());
    std::stable_sort(page->workers.begin(), page->workers.end(),
                     [](const auto& a, const auto& b) { return a.worker < b.worker; });
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.key("workers");
    out.begin_array();
    for (const auto& line : page->workers) write_worker(out, line);
    out.end_array();
    if (page->next) out.field("next", *page->next);
    out.end_object();
    co_return response;
}

Task<Response> drain_worker(Api& api, const Request& request) {
    QueryReader query(request);
    auto tenant = query.text("tenant");  // left out: those of all
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    auto workers = co_await read_workers(api.catalogue, std::move(tenant), terms_of(request));
    if (!workers) co_return problem(workers.error());
    const auto& name = request.names.front();
    std::size_t found = 0;
    std::size_t told = 0;
    for (const auto& line : *workers) {
        if (line.worker != name) continue;
        ++found;
        if (api.server.jobs().order_drain(line.session)) ++told;
    }
    if (found == 0)
        co_return problem(error(Errc::not_found, "no worker `" + name + "` is connected"));
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("worker", name);
    out.field("sessions", told);
    out.end_object();
    co_return response;
}

}  // namespace perdure::handlers
