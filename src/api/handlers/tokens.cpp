// GET and POST /v1/tokens, POST /v1/tokens/NAME/revoke, GET /v1/audit.
#include <iterator>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "core/job/submit.h"
#include "wire/json_writer.h"
#include "wire/text_time.h"

namespace perdure::handlers {
namespace {

struct NewToken {
    std::string name;
    std::string role = "submitter";
    std::string tenant;
    std::optional<Duration> expires_in;
};

constexpr auto expiry_max = days(3650);

const std::array<JsonField<NewToken>, 4> token_fields = {{
    {"name", [](const JsonCursor& at, NewToken& into) { at.read(into.name); }, Need::required},
    {"role", [](const JsonCursor& at, NewToken& into) { at.read(into.role); }},
    {"tenant", [](const JsonCursor& at, NewToken& into) { at.read(into.tenant); }},
    {"expires_in", [](const JsonCursor& at, NewToken& into) { at.read(into.expires_in); }},
}};

void write_token(JsonWriter& out, const Token& token) {
    out.begin_object();
    out.field("name", token.name);
    out.field("role", to_string(token.role));
    if (!token.tenant.empty()) out.field("tenant", token.tenant);
    out.field("created_by", token.created_by);
    out.field("created_at", time_text(token.created_at));
    if (token.expires_at) out.field("expires_at", time_text(*token.expires_at));
    out.end_object();
}

Error no_tokens() { return error(Errc::unavailable, "this server keeps no tokens"); }

std::optional<ParseError> find_fault(const NewToken& wanted) {
    const auto role = role_named(wanted.role);
    if (!is_name(wanted.name))
        return ParseError{"must be 1 to 64 of a-z 0-9 . _ - and begin with a letter or digit",
                          "$.name"};
    if (!role) return ParseError{"must be viewer, submitter, operator, worker or admin", "$.role"};
    if (!wanted.tenant.empty() && !is_name(wanted.tenant))
        return ParseError{"is no name of a tenant", "$.tenant"};
    const bool is_for_all = *role == Role::worker || *role == Role::admin;
    if (!wanted.tenant.empty() && is_for_all)
        return ParseError{"workers and administrators serve all tenants: leave it out", "$.tenant"};
    if (wanted.expires_in && (*wanted.expires_in <= Duration{} || *wanted.expires_in > expiry_max))
        return ParseError{"must be longer than zero and at most 3650d", "$.expires_in"};
    return std::nullopt;
}

}  // namespace

Task<Response> list_tokens(Api& api, const Request& request) {
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
    const auto* tokens = api.options.access.tokens;
    if (!tokens) co_return problem(no_tokens());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.key("tokens");
    out.begin_array();
    for (const auto& token : tokens->list()) write_token(out, token);
    out.end_array();
    out.end_object();
    co_return response;
}

// The only answer that ever has the secret.
Task<Response> create_token(Api& api, const Request& request) {
    if (const auto parse_error = QueryReader(request).finish()) co_return problem(*parse_error);
    NewToken wanted;
    if (const auto parse_error = read_body<NewToken>(request, token_fields, wanted))
        co_return problem(*parse_error);
    if (const auto parse_error = find_fault(wanted)) co_return problem(*parse_error);
    auto* tokens = api.options.access.tokens;
    if (!tokens) co_return problem(no_tokens());
    const auto now = api.clock.wall();
    Token token{.name = wanted.name,
                .role = *role_named(wanted.role),
                .tenant = wanted.tenant,
                .created_by = request.caller,
                .created_at = now};
    if (wanted.expires_in) token.expires_at = now + *wanted.expires_in;
    const auto secret = tokens->create(token);
    if (!secret) co_return problem(secret.error());
    Response response{.status = 201};
    response.subject = wanted.name;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("token", *secret);
    out.key("about");
    write_token(out, token);
    out.end_object();
    co_return response;
}

Task<Response> revoke_token(Api& api, const Request& request) {
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
    auto* tokens = api.options.access.tokens;
    if (!tokens) co_return problem(no_tokens());
    if (auto revoked = tokens->revoke(request.names.front()); !revoked)
        co_return problem(revoked.error());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("revoked", request.names.front());
    out.end_object();
    co_return response;
}

Task<Response> list_audit(Api& api, const Request& request) {
    QueryReader query(request);
    AuditQuery wanted{.word = query.text("about").value_or("")};
    const auto limit = read_page_size(query);
    const auto before = query.number("before", 0, 1, std::uint64_t{1} << 62);
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    if (before != 0) wanted.before = before;
    auto* audit = api.options.access.audit;
    if (!audit) co_return problem(error(Errc::unavailable, "this server keeps no audit log"));
    AuditPage all;
    PageWalk walk(api, request);
    do {
        wanted.limit = limit - static_cast<std::uint32_t>(all.lines.size());
        auto page = co_await audit->read(wanted);
        if (!page) co_return problem(page.error());
        std::move(page->lines.begin(), page->lines.end(), std::back_inserter(all.lines));
        all.next = wanted.before = page->next;
    } while (all.next && all.lines.size() < limit && walk.goes_on());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.key("records");
    out.begin_array();
    for (const auto& line : all.lines) out.raw(line);
    out.end_array();
    if (all.next) out.field("next", *all.next);
    out.end_object();
    co_return response;
}

}  // namespace perdure::handlers
