// POST /v1/fsck/discard: a person removes one row that cannot be understood (C9).
// GET /v1/fsck: compares what is stored with itself, range by range, while the server works (C3).
#include <algorithm>
#include <array>

#include "api/audit.h"
#include "api/damage_views.h"
#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "wire/json_writer.h"

namespace perdure::handlers {
namespace {

constexpr std::uint32_t range = 1000;
constexpr auto second_look = seconds(1);
constexpr std::size_t damaged_max = 1'000;

Error has_gone() { return error(Errc::overloaded, "nobody waits for it any more"); }

Task<Result<Audit>> read_audit(Api& api, const Request& request) {
    Audit audit;
    for (AuditPlace after;;) {
        if (terms_of(request).is_given_up()) co_return has_gone();
        auto view = co_await api.server.jobs().audit(after, range);
        if (!view) co_return view.error();
        audit.add(*view);
        if (!view->next) break;
        after = *view->next;
    }
    const auto named = audit.sessions();
    for (std::size_t i = 0; i < named.size(); i += range) {
        const auto end = std::min(named.size(), i + range);
        std::vector<SessionId> some(named.begin() + static_cast<std::ptrdiff_t>(i),
                                    named.begin() + static_cast<std::ptrdiff_t>(end));
        auto owners = co_await api.catalogue.owners(some, terms_of(request));
        if (!owners) co_return owners.error();
        for (const auto& owner : *owners) audit.add(owner);
        for (const auto id : some) audit.miss(id);
    }
    co_return audit;
}

// Rows of all tables that cannot be understood.
Task<Result<std::vector<Damaged>>> find_damage(Api& api, const Request& request) {
    std::vector<Damaged> all;
    if (!api.options.damage) co_return all;
    std::string from;
    while (true) {
        if (terms_of(request).is_given_up()) co_return has_gone();
        auto page = co_await api.options.damage->damaged(from);
        if (!page) co_return page.error();
        for (auto& row : page->rows)
            if (all.size() < damaged_max) all.push_back(std::move(row));
        if (!page->next) co_return all;
        from = *page->next;
    }
}

Response show(const Audit& audit, const std::vector<AuditProblem>& problems,
              const std::vector<Damaged>& damaged) {
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("clean", problems.empty() && damaged.empty());
    out.field("jobs", audit.jobs());
    out.field("attempts", audit.attempts());
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
    write_damaged(out, damaged);
    out.end_object();
    return response;
}

constexpr std::array discard_row_fields = {
    JsonField<DiscardDamaged>{"table",
                              [](const JsonCursor& at, DiscardDamaged& w) { at.read(w.table); }},
    JsonField<DiscardDamaged>{"row",
                              [](const JsonCursor& at, DiscardDamaged& w) { at.read(w.row); }},
    JsonField<DiscardDamaged>{
        "may_still_run", [](const JsonCursor& at, DiscardDamaged& w) { at.read(w.may_still_run); }},
};

}  // namespace

Task<Response> discard_row(Api& api, const Request& request) {
    DiscardDamaged what;
    if (const auto parse_error = read_body<DiscardDamaged>(request, discard_row_fields, what))
        co_return problem(*parse_error);
    if (!api.options.damage) co_return problem(error(Errc::conflict, "nothing is damaged"));
    auto done = co_await api.options.damage->discard(what);
    if (!done) co_return problem(done.error());
    api.log.write(Level::warn, "a damaged row was discarded by a person", "table", what.table,
                  "row", what.row);
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("table", what.table);
    out.field("row", what.row);
    out.field("discarded", true);
    out.end_object();
    co_return response;
}

// Ranges are read one after another, and a job may move in between: only what is seen twice, a
// second apart, is a problem.
Task<Response> check_store(Api& api, const Request& request) {
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
    auto damaged = co_await find_damage(api, request);
    if (!damaged) co_return problem(damaged.error());
    auto first = co_await read_audit(api, request);
    if (!first) co_return problem(first.error());
    const auto suspected = first->problems();
    if (suspected.empty()) co_return show(*first, {}, *damaged);
    const auto alarm = api.clock.make_alarm();
    co_await alarm->wait(second_look);
    auto second = co_await read_audit(api, request);
    if (!second) co_return problem(second.error());
    co_return show(*second, seen_twice(suspected, second->problems()), *damaged);
}

}  // namespace perdure::handlers
