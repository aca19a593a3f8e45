#include "webhook/message.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/id_time.h"
#include "core/job/submit.h"
#include "wire/job_json.h"
#include "wire/json_reader.h"
#include "wire/json_writer.h"
#include "wire/relation_json.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

constexpr std::size_t own_headers_max = 32;
constexpr std::size_t header_bytes_max = 4 * 1024;

struct Wanted {
    std::string url;
    std::optional<std::string> body;
    std::string secret;
    std::vector<std::pair<std::string, std::string>> headers;
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
    if (name.empty() || name.size() > 64) return at.misfit("is no name of a header");
    if (is_ours(name)) return at.misfit("is set by Perdure itself");
    if (!is_header_text(text)) return at.misfit("must be printable ASCII of at most 4 KiB");
    if (into.headers.size() == own_headers_max)
        return at.misfit("is one header too many: 32 at most");
    into.headers.emplace_back(name, std::move(text));
}

using Field = JsonField<Wanted>;
using At = const JsonCursor&;
constexpr std::array fields = {
    Field{"url", [](At at, Wanted& w) { at.read(w.url); }},
    Field{"body", [](At at, Wanted& w) { w.body = canonical(at.node()); }},
    Field{"secret",
          [](At at, Wanted& w) {
              at.read(w.secret);
              if (!is_name(w.secret)) at.misfit("must be the name of a secret, never its value");
          }},
    Field{"headers",
          [](At at, Wanted& w) {
              at.members([&](std::string_view name, At member) { read_header(name, member, w); });
          }},
};

Error bad(std::string why) { return error(Errc::invalid, "perdure.webhook: " + std::move(why)); }

Result<Wanted> wanted_in(const std::string& args) {
    JsonTree value;
    const std::string_view text = args.empty() ? std::string_view("{}") : args;
    if (const auto wrong = parse_strict(text, value)) return bad("args: " + wrong->what);
    Reading reading;
    Wanted wanted;
    read_fields<Wanted>(JsonCursor(value, reading), fields, wanted);
    if (reading.misfit)
        return bad("args" + reading.misfit->path.substr(1) + " " + reading.misfit->what);
    if (wanted.url.empty()) return bad("args need an url, like {\"url\": \"https://…\"}");
    return wanted;
}

// The same for every try, and for a webhook job that a person has released: it tells of the same.
std::string id_of(const Assignment& assignment) {
    const auto& of = assignment.spec->callback_of;
    if (!of) return assignment.attempt.job.text();
    return of->job.text() + ".g" + std::to_string(of->generation) + ".n" +
           std::to_string(of->number);
}

// The end that this job was made by, or waited for. The job itself is as old as the end that made
// it: a time that is the same at every try.
std::string news_of(const Input& ended, JobId teller) {
    std::string body;
    JsonWriter out(body);
    out.begin_object();
    out.field("type", "job." + std::string(to_string(ended.state)));
    write_input_fields(out, ended);
    out.field("timestamp", time_text(time_of_id(teller.value)));
    out.end_object();
    return body;
}

}  // namespace

Result<Message> message_for(const Assignment& assignment) {
    auto wanted = wanted_in(assignment.spec->args);
    if (!wanted) return wanted.error();
    auto target = parse_target(wanted->url);
    if (!target) return bad(target.error().what);
    if (!wanted->body && assignment.inputs.size() == 1)
        wanted->body = news_of(assignment.inputs.front(), assignment.attempt.job);
    if (!wanted->body)
        return bad("args need a body: only a callback of a job tells by itself how that ended");
    return Message{.target = std::move(*target),
                   .id = id_of(assignment),
                   .body = std::move(*wanted->body),
                   .secret = std::move(wanted->secret),
                   .headers = std::move(wanted->headers)};
}

}  // namespace perdure
