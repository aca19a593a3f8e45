#include "wire/worker_json.h"

#include <algorithm>
#include <array>
#include <limits>

#include "wire/worker_parts.h"

namespace perdure {
namespace {

using At = const JsonCursor&;

constexpr std::array<std::string_view, 4> heartbeat_names = {"accept", "ignore", "session_ended",
                                                             "cloned"};

// Parses `text` and lets `read` see it.
template <class Read>
std::optional<ParseError> read_message(std::string_view text, Read read) {
    JsonTree tree;
    if (auto parse_error = parse_quick(text, tree)) return parse_error;
    Reading reading{.ignore_unknown = true};
    read(JsonCursor(tree, reading));
    return reading.parse_error;
}

template <class T>
std::optional<ParseError> read_object(std::string_view text, std::span<const JsonField<T>> fields,
                                      T& into) {
    return read_message(text, [&](At at) { read_fields<T>(at, fields, into); });
}

void read_item_answers(At at, std::vector<ItemAnswer>& into) {
    at.elements([&](At element) {
        if (const auto found = element.read_name(item_answer_names))
            into.push_back(static_cast<ItemAnswer>(*found));
    });
}

void write_item_answers(std::string& out, const std::vector<ItemAnswer>& answers) {
    JsonWriter json(out);
    json.begin_object();
    json.key("answers");
    json.begin_array();
    for (const auto answer : answers)
        json.value(item_answer_names[static_cast<std::size_t>(answer)]);
    json.end_array();
    json.end_object();
}

void write_directory(JsonWriter& out, const StateDirectory& directory) {
    out.key("directory");
    out.begin_object();
    out.field("machine", directory.machine);
    out.field("boot", directory.boot);
    out.field("device", directory.device);
    out.field("inode", directory.inode);
    out.end_object();
}

void read_directory(At at, StateDirectory& into) {
    using D = StateDirectory;
    static constexpr std::array fields = {
        JsonField<D>{"machine",
                     [](At a, D& d) {
                         read_text(a, d.machine, {1, short_text_max});
                     },
                     Need::required},
        JsonField<D>{"boot",
                     [](At a, D& d) {
                         read_text(a, d.boot, {1, short_text_max});
                     },
                     Need::required},
        JsonField<D>{"device", [](At a, D& d) { a.read(d.device); }, Need::required},
        JsonField<D>{"inode", [](At a, D& d) { a.read(d.inode); }, Need::required},
    };
    read_fields<D>(at, fields, into);
}

void write_notes(JsonWriter& out, const std::vector<ProgressNote>& notes) {
    if (notes.empty()) return;
    out.key("progress");
    out.begin_array();
    for (const auto& note : notes) {
        out.begin_object();
        write_attempt_key(out, note.attempt);
        out.field("percent", note.percent);
        if (!note.text.empty()) out.field("text", note.text);
        out.end_object();
    }
    out.end_array();
}

void read_notes(At at, std::vector<ProgressNote>& into) {
    using N = ProgressNote;
    static constexpr std::array fields = {
        JsonField<N>{"job", [](At a, N& n) { read_job(a, n.attempt); }, Need::required},
        JsonField<N>{"epoch", [](At a, N& n) { read_epoch(a, n.attempt); }, Need::required},
        JsonField<N>{"percent", [](At a, N& n) { a.read_between(n.percent, 0, 100); },
                     Need::required},
        JsonField<N>{"text", [](At a, N& n) { a.read(n.text); }},  // cut if it is too long
    };
    if (at.count() > listed_max) return at.parse_error("must be at most 100000 notes");
    at.elements([&](At element) { read_fields<N>(element, fields, into.emplace_back()); });
}

void read_resent(At at, std::vector<Assignment>& into) {
    at.elements([&](At element) { read_assignment(element, into.emplace_back()); });
}
void read_stop(At at, std::vector<AttemptKey>& into) {
    at.elements([&](At element) { read_attempt_key(element, into.emplace_back()); });
}
void write_attempts(JsonWriter& json, std::string_view key, const std::vector<AttemptKey>& all) {
    json.key(key);
    json.begin_array();
    for (const auto& attempt : all) {
        json.begin_object();
        write_attempt_key(json, attempt);
        json.end_object();
    }
    json.end_array();
}
void read_kills(At at, std::vector<KillOrder>& into) {
    at.elements([&](At element) { read_kill(element, into.emplace_back()); });
}

void read_session(At at, SessionId& into) {
    at.read(into);
    if (at.ok() && !into) at.parse_error("must be the id of a session");
}

void read_lease(At at, Duration& into) {
    read_us(at, into);
    if (at.ok() && (into <= Duration{} || into > lease_most))
        at.parse_error("must be more than zero and at most an hour");
}

}  // namespace

void append_json(std::string& out, const OpenRequest& request) {
    JsonWriter json(out);
    json.begin_object();
    json.field("protocol", worker_protocol_version);
    write_directory(json, request.directory);
    json.field("life", request.life);
    json.field("worker", request.worker);
    json.field("slots", request.slots);
    write_offer(json, request.offer);
    write_listed(json, "on_disk", request.on_disk);
    if (request.away != Duration{}) json.field("away_us", request.away.us);
    json.end_object();
}

std::optional<ParseError> from_json(std::string_view text, OpenRequest& into) {
    using R = OpenRequest;
    static constexpr std::array fields = {
        JsonField<R>{"protocol",
                     [](At a, R&) {
                         std::uint32_t version = 0;
                         a.read_between(version, 1, worker_protocol_version);
                     },
                     Need::required},
        JsonField<R>{"directory", [](At a, R& r) { read_directory(a, r.directory); },
                     Need::required},
        JsonField<R>{
            "life",
            [](At a, R& r) { a.read_between(r.life, 1, std::numeric_limits<std::int64_t>::max()); },
            Need::required},
        JsonField<R>{"worker", [](At a, R& r) { read_name(a, r.worker); }, Need::required},
        JsonField<R>{"slots", [](At a, R& r) { a.read_between(r.slots, 0, slots_max); },
                     Need::required},
        JsonField<R>{"offer", [](At a, R& r) { read_offer(a, r.offer); }, Need::required},
        JsonField<R>{"on_disk", [](At a, R& r) { read_listed(a, r.on_disk); }, Need::required},
        JsonField<R>{"away_us", [](At a, R& r) { read_us(a, r.away); }},
    };
    return read_object<R>(text, fields, into);
}

void append_json(std::string& out, const OpenAnswer& answer) {
    JsonWriter json(out);
    json.begin_object();
    json.field("session", answer.session);
    json.field("lease_us", answer.lease.us);
    json.end_object();
}

std::optional<ParseError> from_json(std::string_view text, OpenAnswer& into) {
    static constexpr std::array fields = {
        JsonField<OpenAnswer>{"session", [](At a, OpenAnswer& r) { read_session(a, r.session); },
                              Need::required},
        JsonField<OpenAnswer>{"lease_us", [](At a, OpenAnswer& r) { read_lease(a, r.lease); },
                              Need::required},
    };
    return read_object<OpenAnswer>(text, fields, into);
}

void append_json(std::string& out, const HeartbeatRequest& request) {
    JsonWriter json(out);
    json.begin_object();
    json.field("session", request.session);
    json.field("number", request.number);
    json.field("seen", request.seen);
    json.field("slots", request.slots);
    if (request.draining) json.field("draining", *request.draining);
    write_offer(json, request.offer);
    json.field("lease_us", request.lease.us);
    write_listed(json, "attempts", request.attempts);
    json.field("tick_seen", request.tick_seen);
    write_notes(json, request.progress);
    json.end_object();
}

std::optional<ParseError> from_json(std::string_view text, HeartbeatRequest& into) {
    using R = HeartbeatRequest;
    static constexpr std::array fields = {
        JsonField<R>{"session", [](At a, R& r) { read_session(a, r.session); }, Need::required},
        JsonField<R>{"number", [](At a, R& r) { read_counter(a, r.number); }, Need::required},
        JsonField<R>{"seen", [](At a, R& r) { read_counter(a, r.seen); }, Need::required},
        JsonField<R>{"slots", [](At a, R& r) { a.read_between(r.slots, 0, slots_max); },
                     Need::required},
        JsonField<R>{"draining", [](At a, R& r) { a.read(r.draining.emplace()); }},
        JsonField<R>{"offer", [](At a, R& r) { read_offer(a, r.offer); }, Need::required},
        JsonField<R>{"lease_us", [](At a, R& r) { read_lease(a, r.lease); }, Need::required},
        JsonField<R>{"attempts", [](At a, R& r) { read_listed(a, r.attempts); }, Need::required},
        JsonField<R>{"tick_seen", [](At a, R& r) { read_counter(a, r.tick_seen); }},
        JsonField<R>{"progress", [](At a, R& r) { read_notes(a, r.progress); }},
    };
    return read_object<R>(text, fields, into);
}

void append_json(std::string& out, const HeartbeatAnswerMessage& answer) {
    JsonWriter json(out);
    json.begin_object();
    json.field("answer", heartbeat_names[static_cast<std::size_t>(answer.answer)]);
    json.key("resent");
    json.begin_array();
    for (const auto& assignment : answer.resent) write_assignment(json, assignment);
    json.end_array();
    write_attempts(json, "stop", answer.stop);
    json.key("kill");
    json.begin_array();
    for (const auto& order : answer.kill) write_kill(json, order);
    json.end_array();
    if (!answer.recall.empty()) write_attempts(json, "recall", answer.recall);
    json.field("tick", answer.tick);
    json.end_object();
}

std::optional<ParseError> from_json(std::string_view text, HeartbeatAnswerMessage& into) {
    using R = HeartbeatAnswerMessage;
    static constexpr std::array fields = {
        JsonField<R>{"answer", [](At a, R& r) { read_enum(a, heartbeat_names, r.answer); },
                     Need::required},
        JsonField<R>{"resent", [](At a, R& r) { read_resent(a, r.resent); }, Need::required},
        JsonField<R>{"stop", [](At a, R& r) { read_stop(a, r.stop); }, Need::required},
        JsonField<R>{"kill", [](At a, R& r) { read_kills(a, r.kill); }, Need::required},
        JsonField<R>{"recall", [](At a, R& r) { read_stop(a, r.recall); }},
        JsonField<R>{"tick", [](At a, R& r) { read_counter(a, r.tick); }, Need::required},
    };
    return read_object<R>(text, fields, into);
}

void append_json(std::string& out, const ReportRequest& request) {
    JsonWriter json(out);
    json.begin_object();
    json.field("session", request.session);
    json.key("items");
    json.begin_array();
    for (const auto& item : request.items) write_item(json, item);
    json.end_array();
    json.end_object();
}

std::optional<ParseError> from_json(std::string_view text, ReportRequest& into) {
    using R = ReportRequest;
    static constexpr std::array fields = {
        JsonField<R>{"session", [](At a, R& r) { read_session(a, r.session); }, Need::required},
        JsonField<R>{"items",
                     [](At a, R& r) {
                         r.items.reserve(std::min(a.count(), report_items_max));
                         a.elements(
                             [&](At element) { read_item(element, r.items.emplace_back()); });
                         if (r.items.size() > report_items_max)
                             a.parse_error("at most 10000 items in one report");
                     },
                     Need::required},
    };
    return read_object<R>(text, fields, into);
}

void append_json(std::string& out, const ReportResponse& response) {
    write_item_answers(out, response.answers);
}
void append_json(std::string& out, const LogResponse& response) {
    write_item_answers(out, response.answers);
}

std::optional<ParseError> from_json(std::string_view text, ReportResponse& into) {
    using R = ReportResponse;
    static constexpr std::array fields = {JsonField<R>{
        "answers", [](At a, R& r) { read_item_answers(a, r.answers); }, Need::required}};
    return read_object<R>(text, fields, into);
}
std::optional<ParseError> from_json(std::string_view text, LogResponse& into) {
    using R = LogResponse;
    static constexpr std::array fields = {JsonField<R>{
        "answers", [](At a, R& r) { read_item_answers(a, r.answers); }, Need::required}};
    return read_object<R>(text, fields, into);
}

void append_json(std::string& out, const StreamMessage& message) {
    JsonWriter json(out);
    json.begin_object();
    if (const auto* assignment = std::get_if<Assignment>(&message)) {
        json.key("assign");
        write_assignment(json, *assignment);
    } else if (const auto* order = std::get_if<KillOrder>(&message)) {
        json.key("kill");
        write_kill(json, *order);
    } else if (const auto* recall = std::get_if<RecallOrder>(&message)) {
        json.key("recall");
        json.begin_object();
        write_attempt_key(json, recall->attempt);
        json.end_object();
    } else {
        json.field("drain", true);
    }
    json.end_object();
}

std::optional<ParseError> from_json(std::string_view text, StreamMessage& into) {
    bool known = false;
    auto parse_error = read_message(text, [&](At at) {
        at.members([&](std::string_view name, At member) {
            if (name == "assign")
                read_assignment(member, into.emplace<Assignment>());
            else if (name == "kill")
                read_kill(member, into.emplace<KillOrder>());
            else if (name == "drain")
                into.emplace<DrainOrder>();
            else if (name == "recall")
                read_attempt_key(member, into.emplace<RecallOrder>().attempt);
            else
                return;
            known = true;
        });
    });
    if (!parse_error && !known) return ParseError{std::string(unknown_message), "$"};
    return parse_error;
}

}  // namespace perdure
