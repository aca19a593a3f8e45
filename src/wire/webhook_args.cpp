#include "wire/webhook_args.h"

#include <algorithm>
#include <array>

#include "core/job/submit.h"
#include "wire/job_json.h"
#include "wire/json_reader.h"

namespace perdure {
namespace {

constexpr std::size_t own_headers_max = 32;
constexpr std::size_t header_bytes_max = 4 * 1024;

struct Wanted {
    std::string url;
    WebhookArgs args;
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// A name that HTTP allows, in lower case; empty if it is none.
std::string header_name(std::string_view given) {
    const auto good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    std::string name(given);
    std::transform(name.begin(), name.end(), name.begin(), lower);
    return std::all_of(name.begin(), name.end(), good) ? name : std::string();
}

// What frames the message, or says who speaks, is ours.
bool is_ours(std::string_view name) {
    constexpr std::array<std::string_view, 9> ours = {
        "host", "content-length", "content-type", "transfer-encoding", "connection",
        "te",   "upgrade",        "expect",       "user-agent"};
    return name.starts_with("webhook-") || name.starts_with("proxy-") ||
           std::find(ours.begin(), ours.end(), name) != ours.end();
}

bool is_header_text(std::string_view text) {
    return text.size() <= header_bytes_max &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127; });
}

void read_header(std::string_view given, const JsonCursor& at, Wanted& into) {
    const auto name = header_name(given);
    std::string text;
    at.read(text);
    if (name.empty() || name.size() > 64) return at.parse_error("is no name of a header");
    if (is_ours(name)) return at.parse_error("is set by Perdure itself");
    if (!is_header_text(text)) return at.parse_error("must be printable ASCII of at most 4 KiB");
    if (into.args.headers.size() == own_headers_max)
        return at.parse_error("is one header too many: 32 at most");
    into.args.headers.emplace_back(name, std::move(text));
}

using WebhookField = JsonField<Wanted>;
using At = const JsonCursor&;
constexpr std::array webhook_fields = {
    WebhookField{"url", [](At at, Wanted& w) { at.read(w.url); }},
    WebhookField{"body", [](At at, Wanted& w) { w.args.body = canonical(at.node()); }},
    WebhookField{"secret",
                 [](At at, Wanted& w) {
                     at.read(w.args.secret);
                     if (!is_name(w.args.secret))
                         at.parse_error("must be the name of a secret, never its value");
                 }},
    WebhookField{"headers",
                 [](At at, Wanted& w) {
                     at.members(
                         [&](std::string_view name, At member) { read_header(name, member, w); });
                 }},
};

Error bad_args(std::string why) { return error(Errc::invalid, std::move(why)); }

}  // namespace

Result<WebhookArgs> parse_webhook_args(std::string_view args) {
    JsonTree value;
    if (const auto wrong = parse_strict(args.empty() ? "{}" : args, value))
        return bad_args("args: " + wrong->what);
    Reading reading;
    Wanted wanted;
    read_fields<Wanted>(JsonCursor(value, reading), webhook_fields, wanted);
    if (reading.parse_error)
        return bad_args("args" + reading.parse_error->path.substr(1) + " " +
                        reading.parse_error->what);
    if (wanted.url.empty()) return bad_args("args need an url, like {\"url\": \"https://…\"}");
    auto target = parse_target(wanted.url);
    if (!target) return target.error();
    wanted.args.target = std::move(*target);
    return std::move(wanted.args);
}

}  // namespace perdure
