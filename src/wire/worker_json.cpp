#include "wire/worker_json.h"

#include <algorithm>
#include <array>

#include "wire/worker_parts.h"

namespace perdure {
namespace {

using At = const JsonCursor&;

constexpr std::array<std::string_view, 4> heartbeat_names = {"accept", "ignore", "session_ended",
                                                             "cloned"};
constexpr std::array<std::string_view, 5> kind_names = {"ask", "started", "ended", "begin",
                                                        "checkpoint"};

// Parses `text` and lets `read` see it.
template <class Read>
std::optional<Misfit> read_message(std::string_view text, Read read) {
    JsonTree tree;
    if (auto misfit = parse_quick(text, tree)) return misfit;
    Reading reading{.ignore_unknown = true};
    read(JsonCursor(tree, reading));
    return reading.misfit;
}

template <class T>
std::optional<Misfit> read_object(std::string_view text, std::span<const JsonField<T>> fields,
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
    static constexpr std::array fields = {
        JsonField<StateDirectory>{"machine", [](At a, StateDirectory& d) { a.read(d.machine); }},
        JsonField<StateDirectory>{"boot", [](At a, StateDirectory& d) { a.read(d.boot); }},
        JsonField<StateDirectory>{"device", [](At a, StateDirectory& d) { a.read(d.device); }},
        JsonField<StateDirectory>{"inode", [](At a, StateDirectory& d) { a.read(d.inode); }},
    };
    read_fields<StateDirectory>(at, fields, into);
}

void write_item(JsonWriter& out, const ReportItem& item) {
    out.begin_object();
    write_attempt_key(out, item.attempt);
    out.field("kind", kind_names[static_cast<std::size_t>(item.kind)]);
    if (item.kind == ReportItem::Kind::ended) {
        out.key("end");
        write_end(out, item.end);
    }
    if (item.evidence) {
        out.key("evidence");
        write_evidence(out, *item.evidence);
    }
    if (item.age != Duration{}) out.field("age_us", item.age.us);
    write_bytes(out, "checkpoint", item.checkpoint);
    if (item.number != 0) out.field("number", item.number);
    out.end_object();
}

void read_item(At at, ReportItem& into) {
    bool has_end = false;
    at.members([&](std::string_view name, At member) {
        if (read_attempt_key(name, member, into.attempt)) return;
        if (name == "kind") {
            if (const auto found = member.read_name(kind_names))
                into.kind = static_cast<ReportItem::Kind>(*found);
        } else if (name == "end") {
            has_end = true;
            read_end(member, into.end);
        } else if (name == "evidence") {
            read_evidence(member, into.evidence);
        } else if (name == "age_us") {
            read_us(member, into.age);
        } else if (name == "checkpoint") {
            read_bytes(member, into.checkpoint);
        } else if (name == "number") {
            member.read(into.number);
        }
    });
    if (into.kind == ReportItem::Kind::ended && !has_end) at.misfit("this kind needs an end");
    if (!into.attempt.job || into.attempt.epoch.value == 0)
        at.misfit("an item needs job and epoch");
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
    at.elements([&](At element) {
        auto& note = into.emplace_back();
        element.members([&](std::string_view name, At member) {
            if (read_attempt_key(name, member, note.attempt)) return;
            if (name == "percent") member.read_between(note.percent, 0, 100);
            if (name == "text") member.read(note.text);
        });
    });
}

void read_resent(At at, std::vector<Assignment>& into) {
    at.elements([&](At element) { read_assignment(element, into.emplace_back()); });
}
void read_stop(At at, std::vector<AttemptKey>& into) {
    at.elements([&](At element) {
        auto& key = into.emplace_back();
        element.members(
            [&](std::string_view name, At member) { read_attempt_key(name, member, key); });
    });
}
void read_kills(At at, std::vector<KillOrder>& into) {
    at.elements([&](At element) { read_kill(element, into.emplace_back()); });
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

std::optional<Misfit> from_json(std::string_view text, OpenRequest& into) {
    static constexpr std::array fields = {
        JsonField<OpenRequest>{"protocol",
                               [](At a, OpenRequest&) {
                                   std::uint32_t version = 0;
                                   a.read_between(version, 1, worker_protocol_version);
                               }},
        JsonField<OpenRequest>{"directory",
                               [](At a, OpenRequest& r) { read_directory(a, r.directory); }},
        JsonField<OpenRequest>{"life", [](At a, OpenRequest& r) { a.read(r.life); }},
        JsonField<OpenRequest>{"worker", [](At a, OpenRequest& r) { a.read(r.worker); }},
        JsonField<OpenRequest>{"slots", [](At a, OpenRequest& r) { a.read(r.slots); }},
        JsonField<OpenRequest>{"offer", [](At a, OpenRequest& r) { read_offer(a, r.offer); }},
        JsonField<OpenRequest>{"on_disk", [](At a, OpenRequest& r) { read_listed(a, r.on_disk); }},
        JsonField<OpenRequest>{"away_us", [](At a, OpenRequest& r) { read_us(a, r.away); }},
    };
    return read_object<OpenRequest>(text, fields, into);
}

void append_json(std::string& out, const OpenAnswer& answer) {
    JsonWriter json(out);
    json.begin_object();
    json.field("session", answer.session);
    json.field("lease_us", answer.lease.us);
    json.end_object();
}

std::optional<Misfit> from_json(std::string_view text, OpenAnswer& into) {
    static constexpr std::array fields = {
        JsonField<OpenAnswer>{"session", [](At a, OpenAnswer& r) { a.read(r.session); }},
        JsonField<OpenAnswer>{"lease_us", [](At a, OpenAnswer& r) { read_us(a, r.lease); }},
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
    write_offer(json, request.offer);
    json.field("lease_us", request.lease.us);
    write_listed(json, "attempts", request.attempts);
    json.field("tick_seen", request.tick_seen);
    write_notes(json, request.progress);
    json.end_object();
}

std::optional<Misfit> from_json(std::string_view text, HeartbeatRequest& into) {
    using R = HeartbeatRequest;
    static constexpr std::array fields = {
        JsonField<R>{"session", [](At a, R& r) { a.read(r.session); }},
        JsonField<R>{"number", [](At a, R& r) { a.read(r.number); }},
        JsonField<R>{"seen", [](At a, R& r) { a.read(r.seen); }},
        JsonField<R>{"slots", [](At a, R& r) { a.read(r.slots); }},
        JsonField<R>{"offer", [](At a, R& r) { read_offer(a, r.offer); }},
        JsonField<R>{"lease_us", [](At a, R& r) { read_us(a, r.lease); }},
        JsonField<R>{"attempts", [](At a, R& r) { read_listed(a, r.attempts); }},
        JsonField<R>{"tick_seen", [](At a, R& r) { a.read(r.tick_seen); }},
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
    json.key("stop");
    json.begin_array();
    for (const auto& attempt : answer.stop) {
        json.begin_object();
        write_attempt_key(json, attempt);
        json.end_object();
    }
    json.end_array();
    json.key("kill");
    json.begin_array();
    for (const auto& order : answer.kill) write_kill(json, order);
    json.end_array();
    json.field("tick", answer.tick);
    json.end_object();
}

std::optional<Misfit> from_json(std::string_view text, HeartbeatAnswerMessage& into) {
    using R = HeartbeatAnswerMessage;
    static constexpr std::array fields = {
        JsonField<R>{"answer",
                     [](At a, R& r) {
                         if (const auto found = a.read_name(heartbeat_names))
                             r.answer = static_cast<HeartbeatAnswer>(*found);
                     }},
        JsonField<R>{"resent", [](At a, R& r) { read_resent(a, r.resent); }},
        JsonField<R>{"stop", [](At a, R& r) { read_stop(a, r.stop); }},
        JsonField<R>{"kill", [](At a, R& r) { read_kills(a, r.kill); }},
        JsonField<R>{"tick", [](At a, R& r) { a.read(r.tick); }},
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

std::optional<Misfit> from_json(std::string_view text, ReportRequest& into) {
    using R = ReportRequest;
    static constexpr std::array fields = {
        JsonField<R>{"session", [](At a, R& r) { a.read(r.session); }},
        JsonField<R>{"items",
                     [](At a, R& r) {
                         r.items.reserve(std::min(a.count(), report_items_max));
                         a.elements(
                             [&](At element) { read_item(element, r.items.emplace_back()); });
                         if (r.items.size() > report_items_max)
                             a.misfit("at most 10000 items in one report");
                     }},
    };
    return read_object<R>(text, fields, into);
}

void append_json(std::string& out, const ReportResponse& response) {
    write_item_answers(out, response.answers);
}
void append_json(std::string& out, const LogResponse& response) {
    write_item_answers(out, response.answers);
}

std::optional<Misfit> from_json(std::string_view text, ReportResponse& into) {
    using R = ReportResponse;
    static constexpr std::array fields = {
        JsonField<R>{"answers", [](At a, R& r) { read_item_answers(a, r.answers); }}};
    return read_object<R>(text, fields, into);
}
std::optional<Misfit> from_json(std::string_view text, LogResponse& into) {
    using R = LogResponse;
    static constexpr std::array fields = {
        JsonField<R>{"answers", [](At a, R& r) { read_item_answers(a, r.answers); }}};
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
    } else {
        json.field("drain", true);
    }
    json.end_object();
}

std::optional<Misfit> from_json(std::string_view text, StreamMessage& into) {
    bool known = false;
    auto misfit = read_message(text, [&](At at) {
        at.members([&](std::string_view name, At member) {
            if (name == "assign")
                read_assignment(member, into.emplace<Assignment>());
            else if (name == "kill")
                read_kill(member, into.emplace<KillOrder>());
            else if (name == "drain")
                into.emplace<DrainOrder>();
            else
                return;
            known = true;
        });
    });
    if (!misfit && !known) return Misfit{std::string(unknown_message), "$"};
    return misfit;
}

}  // namespace perdure
