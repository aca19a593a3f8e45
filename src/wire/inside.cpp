#include "wire/inside.h"

#include <array>

#include "wire/json_writer.h"
#include "wire/worker_parts.h"

namespace perdure {
namespace {

using At = const JsonCursor&;
constexpr std::size_t method_max = 8;
constexpr std::uint32_t unavailable_status = 503;
constexpr std::uint32_t fenced_status = 409;

template <class T>
std::optional<ParseError> read_inside(std::string_view text, std::span<const JsonField<T>> fields,
                                      T& into) {
    JsonTree tree;
    if (auto parse_error = parse_quick(text, tree)) return parse_error;
    Reading reading{.ignore_unknown = true};
    read_fields<T>(JsonCursor(tree, reading), fields, into);
    return reading.parse_error;
}

}  // namespace

void append_json(std::string& out, const InsideCall& call) {
    JsonWriter json(out);
    json.begin_object();
    json.field("session", call.session);
    write_attempt_key(json, call.attempt);
    json.field("number", call.number);
    json.field("method", call.method);
    json.field("target", call.target);
    if (!call.body.empty()) json.field("body", call.body);
    json.end_object();
}

std::optional<ParseError> from_json(std::string_view text, InsideCall& into) {
    using C = InsideCall;
    static constexpr std::array fields = {
        JsonField<C>{"session", [](At a, C& c) { a.read(c.session); }, Need::required},
        JsonField<C>{"job", [](At a, C& c) { read_job(a, c.attempt); }, Need::required},
        JsonField<C>{"epoch", [](At a, C& c) { read_epoch(a, c.attempt); }, Need::required},
        JsonField<C>{"number", [](At a, C& c) { read_counter(a, c.number); }, Need::required},
        JsonField<C>{"method",
                     [](At a, C& c) {
                         read_text(a, c.method, {1, method_max});
                     },
                     Need::required},
        JsonField<C>{"target",
                     [](At a, C& c) {
                         read_text(a, c.target, {1, inside_target_max});
                     },
                     Need::required},
        JsonField<C>{"body",
                     [](At a, C& c) {
                         read_text(a, c.body, {0, inside_body_max});
                     }},
    };
    return read_inside<C>(text, fields, into);
}

void append_json(std::string& out, const InsideReply& reply) {
    JsonWriter json(out);
    json.begin_object();
    json.field("status", reply.status);
    json.field("body", reply.body);
    json.end_object();
}

std::optional<ParseError> from_json(std::string_view text, InsideReply& into) {
    using R = InsideReply;
    static constexpr std::array fields = {
        JsonField<R>{"status", [](At a, R& r) { a.read_between(r.status, 100, 599); },
                     Need::required},
        JsonField<R>{"body", [](At a, R& r) { a.read(r.body); }, Need::required},
    };
    return read_inside<R>(text, fields, into);
}

InsideReply refused_inside(const Error& why) {
    InsideReply reply{.status = why.code == Errc::fenced ? fenced_status : unavailable_status};
    JsonWriter json(reply.body);
    json.begin_object();
    json.key("error");
    json.begin_object();
    json.field("code", to_string(why.code));
    json.field("message", why.what);
    json.end_object();
    json.end_object();
    return reply;
}

}  // namespace perdure
