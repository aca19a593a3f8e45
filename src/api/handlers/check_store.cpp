// GET /v1/fsck: compares what is stored with itself, range by range, while the server works (C3).
#include <map>
#include <set>

#include "api/audit.h"
#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "wire/json_writer.h"

namespace perdure::handlers {
namespace {

constexpr std::uint32_t range = 1000;
constexpr auto second_look = seconds(1);

Task<Result<Audit>> look_once(Api& api) {
    Audit audit;
    JobId after;
    while (true) {
        auto view = co_await api.server.jobs().audit(after, range);
        if (!view) co_return view.error();
        audit.add(*view);
        if (!view->more || view->jobs.empty()) break;
        after = view->jobs.back().id;
    }
    for (const auto id : audit.sessions()) {
        const auto session = co_await api.server.jobs().session(id);
        if (session) {
            audit.add(*session);
        } else if (session.is(Errc::not_found)) {
            audit.miss(id);
        } else {
            co_return session.error();
        }
    }
    co_return audit;
}

Response show(const Audit& audit, const std::vector<AuditProblem>& problems) {
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("clean", problems.empty());
    out.field("jobs", audit.jobs());
    out.field("holders", audit.holders());
    out.field("repairs", audit.repairs());
    out.field("fenced", audit.fenced());
    out.key("problems");
    out.begin_array();
    for (const auto& problem : problems) {
        out.begin_object();
        if (problem.job) out.field("job", problem.job);
        out.field("what", problem.what);
        out.end_object();
    }
    out.end_array();
    out.end_object();
    return response;
}

}  // namespace

// Ranges are read one after another, and a job may move in between: only what is seen twice, a
// second apart, is a problem.
Task<Response> check_store(Api& api, const Request& request) {
    if (const auto misfit = expect_nothing(request)) co_return problem(*misfit);
    auto first = co_await look_once(api);
    if (!first) co_return problem(first.error());
    const auto suspected = first->problems();
    if (suspected.empty()) co_return show(*first, {});
    const auto alarm = api.clock.make_alarm();
    co_await alarm->wait(second_look);
    auto second = co_await look_once(api);
    if (!second) co_return problem(second.error());
    co_return show(*second, seen_twice(suspected, second->problems()));
}

}  // namespace perdure::handlers
