#include "wire/worker_parts.h"

#include <memory>

#include "wire/bytes/base64.h"
#include "wire/job_json.h"
#include "wire/relations/relation_json.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

using At = const JsonCursor&;

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
                     [](At at, Terms& t) { read_enum(at, isolation_names, t.isolation); }},
    JsonField<Terms>{"effects", [](At at, Terms& t) { read_enum(at, effects_names, t.effects); }},
    JsonField<Terms>{"asks", [](At at, Terms& t) { at.read(t.asks); }},
    JsonField<Terms>{"hold_us", [](At at, Terms& t) { read_us(at, t.hold); }},
    JsonField<Terms>{"release_after_us", [](At at, Terms& t) { read_us(at, t.release_after); }},
};

constexpr std::array end_fields = {
    JsonField<AttemptEnd>{"cause",
                          [](At at, AttemptEnd& e) { read_enum(at, cause_names, e.cause); }},
    JsonField<AttemptEnd>{"ran", [](At at, AttemptEnd& e) { read_enum(at, ran_names, e.ran); }},
    JsonField<AttemptEnd>{"succeeded", [](At at, AttemptEnd& e) { at.read(e.succeeded); }},
    JsonField<AttemptEnd>{"clean", [](At at, AttemptEnd& e) { at.read(e.clean); }},
    JsonField<AttemptEnd>{"reported", [](At at, AttemptEnd& e) { at.read(e.reported); }},
    JsonField<AttemptEnd>{"alone", [](At at, AttemptEnd& e) { at.read(e.alone); }},
    JsonField<AttemptEnd>{"counted", [](At at, AttemptEnd& e) { at.read(e.counted); }},
    JsonField<AttemptEnd>{"exit_code", [](At at, AttemptEnd& e) { at.read(e.exit_code); }},
    JsonField<AttemptEnd>{"at", [](At at, AttemptEnd& e) { at.read(e.at); }},
};

constexpr std::array evidence_fields = {
    JsonField<Evidence>{"result", [](At at, Evidence& e) { at.read(e.result); }},
    JsonField<Evidence>{"detail", [](At at, Evidence& e) { at.read(e.detail); }},
    JsonField<Evidence>{"last_lines", [](At at, Evidence& e) { at.read(e.last_lines); }},
    JsonField<Evidence>{"host", [](At at, Evidence& e) { at.read(e.host); }},
    JsonField<Evidence>{"peak_memory", [](At at, Evidence& e) { at.read(e.peak_memory); }},
    JsonField<Evidence>{"ran_for_us", [](At at, Evidence& e) { read_us(at, e.ran_for); }},
};

}  // namespace

void write_attempt_key(JsonWriter& out, const AttemptKey& attempt) {
    out.field("job", attempt.job);
    out.field("epoch", attempt.epoch.value);
}

bool read_attempt_key(std::string_view name, At at, AttemptKey& into) {
    if (name == "job") {
        at.read(into.job);
        return true;
    }
    if (name != "epoch") return false;
    at.read(into.epoch.value);
    return true;
}

void write_offer(JsonWriter& out, const Offer& offer) {
    out.key("offer");
    out.begin_object();
    out.field("tenant", offer.tenant);
    for (const auto& [name, list] :
         {std::pair{"queues", &offer.queues}, std::pair{"kinds", &offer.kinds}}) {
        if (list->empty()) continue;
        out.key(name);
        out.begin_array();
        for (const auto& entry : *list) out.value(entry);
        out.end_array();
    }
    out.end_object();
}

void read_offer(At at, Offer& into) {
    static constexpr std::array fields = {
        JsonField<Offer>{"tenant", [](At a, Offer& o) { a.read(o.tenant); }},
        JsonField<Offer>{"queues", [](At a, Offer& o) { read_texts(a, o.queues); }},
        JsonField<Offer>{"kinds", [](At a, Offer& o) { read_texts(a, o.kinds); }},
    };
    read_fields<Offer>(at, fields, into);
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
    at.elements([&](At element) {
        auto& listed = into.emplace_back();
        element.members([&](std::string_view name, At member) {
            if (read_attempt_key(name, member, listed.attempt)) return;
            if (name == "number") member.read(listed.assignment);
            if (name == "phase") read_enum(member, phase_names, listed.phase);
        });
    });
}

void write_assignment(JsonWriter& out, const Assignment& assignment) {
    out.begin_object();
    write_attempt_key(out, assignment.attempt);
    out.field("number", assignment.number);
    write_terms(out, assignment.terms);
    out.key("spec");
    out.begin_object();
    write_spec(out, *assignment.spec, SpecFields::changed);
    out.end_object();
    write_bytes(out, "checkpoint", assignment.checkpoint);
    if (!assignment.inputs.empty()) {
        out.key("inputs");
        write_inputs(out, assignment.inputs);
    }
    out.end_object();
}

void read_assignment(At at, Assignment& into) {
    auto spec = std::make_shared<JobSpec>();
    at.members([&](std::string_view name, At member) {
        if (read_attempt_key(name, member, into.attempt)) return;
        if (name == "number") return member.read(into.number);
        if (name == "terms") return read_fields<Terms>(member, terms_fields, into.terms);
        if (name == "spec") return read_spec(member, *spec);
        if (name == "checkpoint") return read_bytes(member, into.checkpoint);
        if (name == "inputs") return read_inputs(member, into.inputs);
    });
    into.spec = std::move(spec);
    if (!into.attempt.job || into.attempt.epoch.value == 0)
        at.misfit("an assignment needs job and epoch");
}

void write_kill(JsonWriter& out, const KillOrder& order) {
    out.begin_object();
    write_attempt_key(out, order.attempt);
    out.field("cause", to_string(order.cause));
    out.end_object();
}

void read_kill(At at, KillOrder& into) {
    at.members([&](std::string_view name, At member) {
        if (read_attempt_key(name, member, into.attempt)) return;
        if (name == "cause") read_enum(member, cause_names, into.cause);
    });
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

void read_end(At at, AttemptEnd& into) { read_fields<AttemptEnd>(at, end_fields, into); }

void write_evidence(JsonWriter& out, const Evidence& evidence) {
    out.begin_object();
    if (!evidence.result.empty()) out.field("result", evidence.result);
    if (!evidence.detail.empty()) out.field("detail", evidence.detail);
    if (!evidence.last_lines.empty()) out.field("last_lines", evidence.last_lines);
    if (!evidence.host.empty()) out.field("host", evidence.host);
    if (evidence.peak_memory != 0) out.field("peak_memory", evidence.peak_memory);
    if (evidence.ran_for != Duration{}) out.field("ran_for_us", evidence.ran_for.us);
    out.end_object();
}

void read_evidence(At at, EvidenceRef& into) {
    auto evidence = std::make_shared<Evidence>();
    read_fields<Evidence>(at, evidence_fields, *evidence);
    if (evidence->result.size() > result_max) at.misfit("result must have at most 1 MiB");
    if (evidence->last_lines.size() > last_lines_max)
        at.misfit("last_lines must have at most 16384 bytes");
    into = std::move(evidence);
}

void write_bytes(JsonWriter& out, std::string_view name, std::string_view bytes) {
    if (!bytes.empty()) out.field(name, base64_text(bytes));
}

void read_bytes(At at, std::string& into) {
    const auto text = at.text();
    if (!text) return at.misfit("must be a text in base 64");
    auto bytes = base64_bytes(*text);
    if (!bytes) return at.misfit("must be a text in base 64");
    into = std::move(*bytes);
}

}  // namespace perdure
