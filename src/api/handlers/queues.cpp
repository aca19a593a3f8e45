// Queues and limits: lists that are kept, never counted, and what people change about them.
#include <array>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "core/job/submit.h"
#include "ports/pieces.h"
#include "wire/json_writer.h"

namespace perdure::handlers {
namespace {

constexpr std::uint32_t limit_most = 1'000'000;

void write_queue(JsonWriter& out, const QueueLine& line) {
    out.begin_object();
    out.field("queue", line.queue);
    out.field("paused", line.paused);
    out.key("jobs");
    out.begin_object();
    for (const auto& place : places) {
        const auto count = line.jobs[static_cast<std::size_t>(place.state)];
        if (count > 0) out.field(place.name, count);
    }
    out.end_object();
    out.end_object();
}

struct QueuePage {
    std::vector<QueueLine> lines;
    std::optional<std::string> next;
};

// A queue is shown when all of it was added up: a page may take several pieces.
Task<Result<QueuePage>> read_queue_page(Api& api, const Request& request, std::string tenant,
                                        std::optional<std::string> after, std::size_t limit) {
    QueuePage page;
    auto place = after ? behind_queue(*after) : QueuePlace{};
    for (int i = 0; i < pieces_max; ++i) {
        auto piece = co_await api.catalogue.queues(tenant, place, terms_of(request));
        if (!piece) co_return piece.error();
        add_queues(page.lines, std::move(piece->queues));
        const bool has_more = page.lines.size() > limit;
        if (has_more) page.lines.resize(limit);
        if (has_more) page.next = page.lines.back().queue;
        if (has_more || !piece->next) co_return page;
        place = *piece->next;
    }
    co_return too_many_pieces();
}

// Nothing if it is a name that a job could use.
std::optional<Response> refuse_name(const std::string& name) {
    if (is_name(name)) return std::nullopt;
    return problem(error(Errc::invalid,
                         "a name must be 1 to 64 of a-z 0-9 . _ - and begin with a "
                         "letter or digit"));
}

Task<Response> set_paused(Api& api, const Request& request, bool paused) {
    QueryReader query(request);
    PauseQueue pause{.tenant = query.tenant(), .queue = request.names.front(), .paused = paused};
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    if (auto refusal = refuse_name(pause.queue)) co_return std::move(*refusal);
    auto done = co_await api.server.jobs().pause(pause);
    if (!done) co_return problem(done.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("queue", pause.queue);
    out.field("paused", paused);
    out.end_object();
    co_return response;
}

struct LimitRequest {
    std::optional<std::uint32_t> max;
};
constexpr std::array limit_fields = {
    JsonField<LimitRequest>{"max", [](const JsonCursor& at, LimitRequest& wanted) {
                                std::uint32_t max = 0;
                                at.read_between(max, 1, limit_most);
                                wanted.max = max;
                            }}};

}  // namespace

Task<Response> list_queues(Api& api, const Request& request) {
    QueryReader query(request);
    auto tenant = query.tenant();
    const auto limit = read_large_page_size(query);
    auto after = query.text("after");
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    auto page = co_await read_queue_page(api, request, std::move(tenant), std::move(after), limit);
    if (!page) co_return problem(page.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.key("queues");
    out.begin_array();
    for (const auto& line : page->lines) write_queue(out, line);
    out.end_array();
    if (page->next) out.field("next", *page->next);
    out.end_object();
    co_return response;
}

Task<Response> pause_queue(Api& api, const Request& request) {
    return set_paused(api, request, true);
}
Task<Response> resume_queue(Api& api, const Request& request) {
    return set_paused(api, request, false);
}

Task<Response> list_limits(Api& api, const Request& request) {
    QueryReader query(request);
    auto tenant = query.tenant();
    const auto limit = read_large_page_size(query);
    // Behind this name: nothing comes between it and the same with one more character.
    auto from = query.text("after").value_or("");
    if (!from.empty()) from += '!';
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    const std::size_t one_more = limit + 1;
    auto lines = co_await read_limits(api.catalogue, std::move(tenant), std::move(from), one_more,
                                      terms_of(request));
    if (!lines) co_return problem(lines.error());
    const bool has_more = lines->size() > limit;
    if (has_more) lines->resize(limit);
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.key("limits");
    out.begin_array();
    for (const auto& line : *lines) {
        out.begin_object();
        out.field("name", line.name);
        out.field("max", line.max);
        out.field("taken", line.taken);
        out.end_object();
    }
    out.end_array();
    if (has_more) out.field("next", lines->back().name);
    out.end_object();
    co_return response;
}

Task<Response> set_limit(Api& api, const Request& request) {
    QueryReader query(request);
    DefineLimit limit{.tenant = query.tenant(), .name = request.names.front()};
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    if (auto refusal = refuse_name(limit.name)) co_return std::move(*refusal);
    LimitRequest wanted;
    if (const auto parse_error = read_body<LimitRequest>(request, limit_fields, wanted))
        co_return problem(*parse_error);
    if (!wanted.max) co_return problem(ParseError{"say how many: {\"max\": 5}", "$.max"});
    limit.max = *wanted.max;
    auto done = co_await api.server.jobs().define_limit(limit);
    if (!done) co_return problem(done.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("name", limit.name);
    out.field("max", limit.max);
    out.end_object();
    co_return response;
}

}  // namespace perdure::handlers
