#include "wire/worker_parts.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "core/job/submit.h"
#include "wire/base64.h"
#include "wire/job_json.h"
#include "wire/relation_json.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

using At = const JsonCursor&;

constexpr std::array<std::string_view, 5> kind_names = {"ask", "started", "ended", "begin",
                                                        "checkpoint"};
constexpr std::array<std::string_view, 3> phase_names = {"unstarted", "running", "ended"};
constexpr std::array<std::string_view, 2> isolation_names = {"fenced", "exclusive"};
constexpr std::array<std::string_view, 3> ran_names = {"no", "maybe", "yes"};
static_assert(isolation_names[1] == to_string(Isolation::exclusive));
static_assert(ran_names[2] == to_string(Ran::yes));

void write_terms(JsonWriter& out, const Terms& terms) {
    out.key("terms");
    out.begin_object();
    out.field("isolation", to_string(terms.isolation));
    out.field("effects", to_string(terms.effects));
    out.flag("asks", terms.asks);
    out.field("hold_us", terms.hold.us);
    out.field("release_after_us", terms.release_after.us);
    out.end_object();
}

constexpr std::array terms_fields = {
    JsonField<Terms>{"isolation",
                     [](At at, Terms& t) { read_enum(at, isolation_names, t.isolation); },
                     Need::required},
    JsonField<Terms>{"effects", [](At at, Terms& t) { read_enum(at, effects_names, t.effects); },
                     Need::required},
    JsonField<Terms>{"asks", [](At at, Terms& t) { at.read(t.asks); }},
    JsonField<Terms>{"hold_us", [](At at, Terms& t) { read_us(at, t.hold); }, Need::required},
    JsonField<Terms>{"release_after_us", [](At at, Terms& t) { read_us(at, t.release_after); },
                     Need::required},
};

constexpr std::array end_fields = {
    JsonField<AttemptEnd>{
        "cause", [](At at, AttemptEnd& e) { read_enum(at, cause_names, e.cause); }, Need::required},
    JsonField<AttemptEnd>{"ran", [](At at, AttemptEnd& e) { read_enum(at, ran_names, e.ran); },
                          Need::required},
    JsonField<AttemptEnd>{"succeeded", [](At at, AttemptEnd& e) { at.read(e.succeeded); }},
    JsonField<AttemptEnd>{"clean", [](At at, AttemptEnd& e) { at.read(e.clean); }},
    JsonField<AttemptEnd>{"reported", [](At at, AttemptEnd& e) { at.read(e.reported); }},
    JsonField<AttemptEnd>{"alone", [](At at, AttemptEnd& e) { at.read(e.alone); }},
    JsonField<AttemptEnd>{"counted", [](At at, AttemptEnd& e) { at.read(e.counted); }},
    JsonField<AttemptEnd>{"exit_code", [](At at, AttemptEnd& e) { at.read(e.exit_code); }},
    JsonField<AttemptEnd>{"at", [](At at, AttemptEnd& e) { at.read(e.at); }},
};

// An item while it is read: which of its fields were there.
struct ItemReading {
    ReportItem& item;
    bool has_end = false;
    bool has_age = false;
    bool has_checkpoint = false;
    bool has_number = false;
};

constexpr std::array item_fields = {
    JsonField<ItemReading>{"job", [](At a, ItemReading& r) { read_job(a, r.item.attempt); },
                           Need::required},
    JsonField<ItemReading>{"epoch", [](At a, ItemReading& r) { read_epoch(a, r.item.attempt); },
                           Need::required},
    JsonField<ItemReading>{"kind",
                           [](At a, ItemReading& r) { read_enum(a, kind_names, r.item.kind); },
                           Need::required},
    JsonField<ItemReading>{"end",
                           [](At a, ItemReading& r) {
                               r.has_end = true;
                               read_end(a, r.item.end);
                           }},
    JsonField<ItemReading>{"evidence",
                           [](At a, ItemReading& r) { read_evidence(a, r.item.evidence); }},
    JsonField<ItemReading>{"age_us",
                           [](At a, ItemReading& r) {
                               r.has_age = true;
                               read_us(a, r.item.age);
                           }},
    JsonField<ItemReading>{"checkpoint",
                           [](At a, ItemReading& r) {
                               r.has_checkpoint = true;
                               read_bytes(a, r.item.checkpoint);
                           }},
    JsonField<ItemReading>{"number",
                           [](At a, ItemReading& r) {
                               r.has_number = true;
                               read_counter(a, r.item.number);
                           }},
};

}  // namespace

void write_attempt_key(JsonWriter& out, const AttemptKey& attempt) {
    out.field("job", attempt.job);
    out.field("epoch", attempt.epoch.value);
}

void read_job(At at, AttemptKey& into) {
    at.read(into.job);
    if (at.ok() && !into.job) at.parse_error("must be the id of a job");
}

void read_epoch(At at, AttemptKey& into) {
    at.read_between(into.epoch.value, 1, std::numeric_limits<decltype(into.epoch.value)>::max());
}

void read_attempt_key(At at, AttemptKey& into) {
    static constexpr std::array fields = {
        JsonField<AttemptKey>{"job", [](At a, AttemptKey& k) { read_job(a, k); }, Need::required},
        JsonField<AttemptKey>{"epoch", [](At a, AttemptKey& k) { read_epoch(a, k); },
                              Need::required},
    };
    read_fields<AttemptKey>(at, fields, into);
}

void read_counter(At at, std::uint64_t& into) {
    at.read_between(into, 0, std::numeric_limits<std::int64_t>::max());
}

void read_text(At at, std::string& into, TextSize size) {
    at.read(into);
    if (!at.ok() || (into.size() >= size.least && into.size() <= size.most)) return;
    at.parse_error(size.least == 0
                       ? fmt::format("must have at most {} bytes", size.most)
                       : fmt::format("must have {} to {} bytes", size.least, size.most));
}

void read_name(At at, std::string& into) {
    at.read(into);
    if (at.ok() && !is_name(into))
        at.parse_error("must be a name: 1 to 64 of a-z 0-9 . _ -, the first a letter or digit");
}

void write_listed(JsonWriter& out, std::string_view name, const std::vector<Listed>& listed) {
    out.key(name);
    out.begin_array();
    for (const auto& entry : listed) {
        out.begin_object();
        write_attempt_key(out, entry.attempt);
        out.field("number", entry.assignment);
        out.field("phase", phase_names[static_cast<std::size_t>(entry.phase)]);
        out.end_object();
    }
    out.end_array();
}

void read_listed(At at, std::vector<Listed>& into) {
    static constexpr std::array fields = {
        JsonField<Listed>{"job", [](At a, Listed& l) { read_job(a, l.attempt); }, Need::required},
        JsonField<Listed>{"epoch", [](At a, Listed& l) { read_epoch(a, l.attempt); },
                          Need::required},
        JsonField<Listed>{"number", [](At a, Listed& l) { read_counter(a, l.assignment); },
                          Need::required},
        JsonField<Listed>{"phase", [](At a, Listed& l) { read_enum(a, phase_names, l.phase); },
                          Need::required},
    };
    if (at.count() > listed_max) return at.parse_error("must be at most 100000 attempts");
    at.elements([&](At element) { read_fields<Listed>(element, fields, into.emplace_back()); });
    std::vector<AttemptKey> keys;
    for (const auto& listed : into) keys.push_back(listed.attempt);
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (at.ok() && twice != keys.end())
        at.parse_error(fmt::format("job {} is listed twice with epoch {}", twice->job.text(),
                                   twice->epoch.value));
}

void write_assignment(JsonWriter& out, const Assignment& assignment) {
    out.begin_object();
    write_attempt_key(out, assignment.attempt);
    out.field("number", assignment.number);
    write_terms(out, assignment.terms);
    out.key("spec");
    out.begin_object();
    write_spec(out, *assignment.spec, SpecFields::changed, EnvValues::plain);
    out.end_object();
    write_bytes(out, "checkpoint", assignment.checkpoint);
    if (!assignment.inputs.empty()) {
        out.key("inputs");
        write_inputs(out, assignment.inputs);
    }
    out.end_object();
}

void read_assignment(At at, Assignment& into) {
    struct Reading {
        Assignment& assignment;
        JobSpec& spec;
    };
    using R = Reading;
    static constexpr std::array fields = {
        JsonField<R>{"job", [](At a, R& r) { read_job(a, r.assignment.attempt); }, Need::required},
        JsonField<R>{"epoch", [](At a, R& r) { read_epoch(a, r.assignment.attempt); },
                     Need::required},
        JsonField<R>{"number", [](At a, R& r) { read_counter(a, r.assignment.number); },
                     Need::required},
        JsonField<R>{"terms",
                     [](At a, R& r) { read_fields<Terms>(a, terms_fields, r.assignment.terms); },
                     Need::required},
        JsonField<R>{"spec", [](At a, R& r) { read_spec(a, r.spec); }, Need::required},
        JsonField<R>{"checkpoint", [](At a, R& r) { read_bytes(a, r.assignment.checkpoint); }},
        JsonField<R>{"inputs", [](At a, R& r) { read_inputs(a, r.assignment.inputs); }},
    };
    auto spec = std::make_shared<JobSpec>();
    R reading{into, *spec};
    read_fields<R>(at, fields, reading);
    into.spec = std::move(spec);
}

void write_kill(JsonWriter& out, const KillOrder& order) {
    out.begin_object();
    write_attempt_key(out, order.attempt);
    out.field("cause", to_string(order.cause));
    out.end_object();
}

void read_kill(At at, KillOrder& into) {
    using K = KillOrder;
    static constexpr std::array fields = {
        JsonField<K>{"job", [](At a, K& k) { read_job(a, k.attempt); }, Need::required},
        JsonField<K>{"epoch", [](At a, K& k) { read_epoch(a, k.attempt); }, Need::required},
        JsonField<K>{"cause", [](At a, K& k) { read_enum(a, cause_names, k.cause); },
                     Need::required},
    };
    read_fields<K>(at, fields, into);
}

void write_end(JsonWriter& out, const AttemptEnd& end) {
    out.begin_object();
    out.field("cause", to_string(end.cause));
    out.field("ran", to_string(end.ran));
    out.flag("succeeded", end.succeeded);
    out.flag("clean", end.clean);
    out.flag("reported", end.reported);
    out.flag("alone", end.alone);
    if (!end.counted) out.field("counted", false);
    if (end.exit_code != 0) out.field("exit_code", end.exit_code);
    if (end.at) out.field("at", std::string_view(time_text(*end.at)));
    out.end_object();
}

void read_end(At at, AttemptEnd& into) {
    read_fields<AttemptEnd>(at, end_fields, into);
    if (!at.ok()) return;
    if (const auto wrong = find_contradiction(into))
        at.misfit_at(wrong->field, std::string(wrong->what));
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

// What belongs to another kind of item was meant for something else: nothing of it is taken.
void read_item(At at, ReportItem& into) {
    ItemReading read{into};
    read_fields<ItemReading>(at, item_fields, read);
    if (!at.ok()) return;
    using Kind = ReportItem::Kind;
    const bool ended = into.kind == Kind::ended;
    const bool numbered = into.kind == Kind::begin || into.kind == Kind::checkpoint;
    if (ended && !read.has_end) at.misfit_at("end", "must be given with ended");
    if (!ended && read.has_end) at.misfit_at("end", "is only for ended");
    if (!ended && into.evidence) at.misfit_at("evidence", "is only for ended");
    if (!ended && read.has_age) at.misfit_at("age_us", "is only for ended");
    if (into.kind != Kind::checkpoint && read.has_checkpoint)
        at.misfit_at("checkpoint", "is only for checkpoint");
    if (into.checkpoint.size() > checkpoint_max)
        at.misfit_at("checkpoint", "must have at most 1 MiB");
    if (numbered && into.number == 0)
        at.misfit_at("number", "must be given and 1 or more with begin and checkpoint");
    if (!numbered && read.has_number) at.misfit_at("number", "is only for begin and checkpoint");
}

void write_bytes(JsonWriter& out, std::string_view name, std::string_view bytes) {
    if (!bytes.empty()) out.field(name, base64_text(bytes));
}

void read_bytes(At at, std::string& into) {
    const auto text = at.text();
    if (!text) return at.parse_error("must be a text in base 64");
    auto bytes = base64_bytes(*text);
    if (!bytes) return at.parse_error("must be a text in base 64");
    into = std::move(*bytes);
}

}  // namespace perdure
