#include "wire/job_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/job/secret.h"
#include "core/job/webhook.h"
#include "wire/policy_json.h"
#include "wire/relation_json.h"
#include "wire/text_size.h"
#include "wire/text_time.h"
#include "wire/webhook_args.h"

namespace perdure {
namespace {

constexpr std::uint32_t retries_max = PolicyRule::always - 1;

void read_env(const JsonCursor& at, JobSpec& spec) {
    spec.env.clear();
    at.members([&](std::string_view name, const JsonCursor& member) {
        member.read(spec.env.emplace_back(std::string(name), "").second);
    });
    std::sort(spec.env.begin(), spec.env.end());  // equal bodies, whatever the order
}

using TimeoutField = JsonField<Timeouts>;
constexpr std::array timeout_fields = {
    TimeoutField{"queue", [](const JsonCursor& at, Timeouts& t) { at.read(t.queue); }},
    TimeoutField{"run", [](const JsonCursor& at, Timeouts& t) { at.read(t.run); }},
    TimeoutField{"idle", [](const JsonCursor& at, Timeouts& t) { at.read(t.idle); }},
    TimeoutField{"total", [](const JsonCursor& at, Timeouts& t) { at.read(t.total); }},
};

void read_memory(const JsonCursor& at, std::optional<std::uint64_t>& into) {
    const auto text = at.text();
    if (!text) return at.read(into);
    into = size_value(*text);
    if (!into) at.parse_error("must be a number of bytes, or a text like 512MiB");
}

using ResourceField = JsonField<Resources>;
constexpr std::array resource_fields = {
    ResourceField{"memory", [](const JsonCursor& at, Resources& r) { read_memory(at, r.memory); }},
    ResourceField{"cpu_percent",
                  [](const JsonCursor& at, Resources& r) { at.read(r.cpu_percent); }},
    ResourceField{"processes", [](const JsonCursor& at, Resources& r) { at.read(r.processes); }},
};

using Field = JsonField<JobSpec>;
using At = const JsonCursor&;
constexpr std::array spec_fields = {
    Field{"argv", [](At at, JobSpec& s) { read_texts(at, s.argv); }},
    Field{"kind", [](At at, JobSpec& s) { at.read(s.kind); }},
    Field{"args", [](At at, JobSpec& s) { s.args = canonical(at.node()); }},
    Field{"queue", [](At at, JobSpec& s) { at.read(s.queue); }},
    Field{"share", [](At at, JobSpec& s) { at.read(s.share); }},
    Field{"tenant", [](At at, JobSpec& s) { at.read(s.tenant); }},
    Field{"priority", [](At at, JobSpec& s) { at.read(s.priority); }},
    Field{"effects", [](At at, JobSpec& s) { read_enum(at, effects_names, s.effects); }},
    Field{"env", [](At at, JobSpec& s) { read_env(at, s); }},
    Field{"cwd", [](At at, JobSpec& s) { at.read(s.cwd); }},
    Field{"key", [](At at, JobSpec& s) { at.read(s.key); }},
    Field{"limits", [](At at, JobSpec& s) { read_texts(at, s.limits); }},
    Field{"run_at", [](At at, JobSpec& s) { at.read(s.run_at); }},
    Field{"policy", [](At at, JobSpec& s) { read_policy(at, s.policy); }},
    Field{"retries", [](At at, JobSpec& s) { at.read_between(s.policy.retries, 0, retries_max); }},
    Field{"retry_wait", [](At at, JobSpec& s) { at.read(s.policy.retry_wait); }},
    Field{"retry_wait_max", [](At at, JobSpec& s) { at.read(s.policy.retry_wait_max); }},
    Field{"retry_growth", [](At at, JobSpec& s) { read_enum(at, growth_names, s.policy.growth); }},
    Field{"retry_jitter",
          [](At at, JobSpec& s) { at.read_between(s.policy.jitter_percent, 0, 100); }},
    Field{"timeouts",
          [](At at, JobSpec& s) { read_fields<Timeouts>(at, timeout_fields, s.timeouts); }},
    Field{"hold", [](At at, JobSpec& s) { at.read(s.hold); }},
    Field{"idempotency_key", [](At at, JobSpec& s) { at.read(s.idempotency_key); }},
    Field{"keep_key", [](At at, JobSpec& s) { at.read(s.keep_key); }},
    Field{"resources",
          [](At at, JobSpec& s) { read_fields<Resources>(at, resource_fields, s.resources); }},
    Field{"output_max", [](At at, JobSpec& s) { at.read(s.output_max); }},
    Field{"failure_level",
          [](At at, JobSpec& s) { read_enum(at, level_names, s.failure_level.emplace()); }},
};

const Field* field_of(std::string_view name) {
    const auto* found = std::find_if(spec_fields.begin(), spec_fields.end(),
                                     [&](const Field& field) { return field.name == name; });
    return found == spec_fields.end() ? nullptr : found;
}

using WhoField = JsonField<Who>;
constexpr std::array who_fields = {
    WhoField{"name", [](At at, Who& w) { at.read(w.name); }},
    WhoField{"uid", [](At at, Who& w) { at.read(w.uid); }},
};

void read_parent(At at, std::optional<AttemptKey>& into) {
    static constexpr std::array fields = {
        JsonField<AttemptKey>{"job", [](At a, AttemptKey& key) { a.read(key.job); }},
        JsonField<AttemptKey>{"epoch", [](At a, AttemptKey& key) { a.read(key.epoch.value); }},
    };
    read_fields<AttemptKey>(at, fields, into.emplace());
}

void write_texts(JsonWriter& out, std::string_view name, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    out.key(name);
    out.begin_array();
    for (const auto& text : texts) out.value(text);
    out.end_array();
}

void write_env(JsonWriter& out, const JobSpec& spec, EnvValues values) {
    if (spec.env.empty()) return;
    out.key("env");
    out.begin_object();
    for (const auto& [name, value] : spec.env) {
        out.text_key(name);
        out.value(values == EnvValues::masked ? shown_value(name, value) : value);
    }
    out.end_object();
}

// Writes each field, or only those that differ from their default.
class SpecWriter {
public:
    SpecWriter(JsonWriter& out, bool all) : out_(out), all_(all) {}

    void text(std::string_view name, std::string_view value, std::string_view usual) {
        if (all_ ? !value.empty() : value != usual) out_.field(name, value);
    }
    void text(std::string_view name, const std::optional<std::string>& value) {
        if (value) out_.field(name, *value);
    }
    template <class Number>
    void number(std::string_view name, Number value, Number usual) {
        if (all_ || value != usual) out_.field(name, value);
    }
    void duration(std::string_view name, Duration value, Duration usual) {
        if (all_ || value != usual) out_.field(name, duration_text(value));
    }
    void duration(std::string_view name, std::optional<Duration> value) {
        if (value) out_.field(name, duration_text(*value));
    }

private:
    JsonWriter& out_;
    bool all_;
};

void write_timeouts(JsonWriter& out, const Timeouts& timeouts, bool all) {
    const Timeouts usual;
    const bool as_usual = timeouts.queue == usual.queue && timeouts.run == usual.run &&
                          !timeouts.idle && !timeouts.total;
    if (as_usual && !all) return;
    SpecWriter write(out, all);
    out.key("timeouts");
    out.begin_object();
    write.duration("queue", timeouts.queue, usual.queue);
    write.duration("run", timeouts.run, usual.run);
    write.duration("idle", timeouts.idle);
    write.duration("total", timeouts.total);
    out.end_object();
}

void write_resources(JsonWriter& out, const Resources& resources) {
    if (resources == Resources{}) return;
    out.key("resources");
    out.begin_object();
    if (resources.memory) out.field("memory", *resources.memory);
    if (resources.cpu_percent) out.field("cpu_percent", *resources.cpu_percent);
    if (resources.processes) out.field("processes", *resources.processes);
    out.end_object();
}

void write_policy_fields(JsonWriter& out, const PolicyChoice& policy, bool all) {
    const PolicyChoice usual;
    if (policy == usual && !all) return;
    SpecWriter write(out, all);
    const bool own = !policy.custom.empty() || !policy.rules.empty();
    if (all || own || policy.name != usual.name) {
        out.key("policy");
        write_policy(out, policy);
    }
    write.number("retries", policy.retries, usual.retries);
    write.duration("retry_wait", policy.retry_wait, usual.retry_wait);
    write.duration("retry_wait_max", policy.retry_wait_max, usual.retry_wait_max);
    write.text("retry_growth", growth_names[static_cast<std::size_t>(policy.growth)],
               growth_names[static_cast<std::size_t>(usual.growth)]);
    write.number("retry_jitter", policy.jitter_percent, usual.jitter_percent);
}

void append_canonical(const JsonNode& value, std::string& out);

void append_object(const JsonNode& object, std::string& out) {
    std::vector<const JsonNode*> names;
    for (const auto* name = object.begin(); name != object.end(); name = (name + 1)->end())
        if (name->kind == JsonNode::Kind::name) names.push_back(name);
    std::sort(names.begin(), names.end(),
              [](const auto* a, const auto* b) { return a->text < b->text; });
    out += '{';
    for (const auto* name : names) {
        if (name != names.front()) out += ',';
        JsonWriter(out).value(name->text);
        out += ':';
        append_canonical(name[1], out);
    }
    out += '}';
}

void append_list(const JsonNode& list, std::string& out) {
    out += '[';
    for (const auto* value = list.begin(); value != list.end(); value = value->end()) {
        if (value != list.begin()) out += ',';
        append_canonical(*value, out);
    }
    out += ']';
}

// The shortest text that is this number again. What does not fit stays as it is.
void append_number(const JsonNode& number, std::string& out) {
    if (const auto whole = number.whole()) return JsonWriter(out).value(*whole);
    if (const auto natural = number.natural()) return JsonWriter(out).value(*natural);
    const auto real = *number.real();
    const bool is_whole = number.text.find_first_of(".eE") == std::string_view::npos;
    if (is_whole || !std::isfinite(real)) return static_cast<void>(out += number.text);
    // Zero has no sign: as a whole number it would lose it when it is read again.
    fmt::format_to(std::back_inserter(out), "{}", real == 0 ? 0.0 : real);
}

void append_canonical(const JsonNode& value, std::string& out) {
    switch (value.kind) {
        case JsonNode::Kind::object: return append_object(value, out);
        case JsonNode::Kind::list: return append_list(value, out);
        case JsonNode::Kind::text: return JsonWriter(out).value(value.text);
        case JsonNode::Kind::number: return append_number(value, out);
        default: out += value.text;
    }
}

}  // namespace

std::string canonical(const JsonNode& value) {
    std::string text;
    append_canonical(value, text);
    return text;
}

namespace {

// Whether its receiver may be spoken to is the worker's to say; what can never be sent is not
// accepted.
void complete_webhook(const JsonCursor& at, JobSpec& spec) {
    if (!spec.timeouts.total) spec.timeouts.total = webhook_total;
    const auto args = parse_webhook_args(spec.args);
    if (!args) at.misfit_at("args", args.error().what);
}

}  // namespace

void read_job(const JsonCursor& at, JobRequest& into) {
    bool has_relations = false;
    at.members([&](std::string_view name, const JsonCursor& member) {
        if (name == "policy") into.policy = PolicyOrigin::chosen;
        if (const auto* field = field_of(name)) return field->read(member, into.spec);
        if (is_relation(name)) return static_cast<void>(has_relations = true);
        if (name == "delay") return member.read(into.delay);
        member.parse_error("there is no such field");
    });
    if (has_relations) read_relations(at, into);
    if (into.delay && into.spec.run_at) at.parse_error("give run_at or delay, not both");
    if (into.spec.kind == webhook_kind) complete_webhook(at, into.spec);
}

void read_spec(const JsonCursor& at, JobSpec& into) {
    at.members([&](std::string_view name, const JsonCursor& member) {
        if (const auto* field = field_of(name)) return field->read(member, into);
        if (name == "retry_of") return member.read(into.retry_of);
        if (name == "callback_of") return read_callback_of(member, into);
        if (name == "submitted_by") return read_fields<Who>(member, who_fields, into.submitted_by);
        if (name == "parent") return read_parent(member, into.parent);
    });
}

// A worker must know as whom it may have to run the job, and nothing else.
void write_submitter(JsonWriter& out, const JobSpec& spec, EnvValues values) {
    const auto& who = spec.submitted_by;
    const bool for_people = values == EnvValues::masked;
    if (who.uid || (for_people && !who.name.empty())) {
        out.key("submitted_by");
        out.begin_object();
        if (for_people && !who.name.empty()) out.field("name", who.name);
        if (who.uid) out.field("uid", *who.uid);
        out.end_object();
    }
    if (!for_people || !spec.parent) return;
    out.key("parent");
    out.begin_object();
    out.field("job", spec.parent->job);
    out.field("epoch", spec.parent->epoch.value);
    out.end_object();
}

void write_spec(JsonWriter& out, const JobSpec& spec, SpecFields fields, EnvValues values) {
    static const JobSpec usual;
    const bool all = fields == SpecFields::all;
    SpecWriter write(out, all);
    write.text("tenant", spec.tenant, usual.tenant);
    write.text("queue", spec.queue, usual.queue);
    write.text("kind", spec.kind, usual.kind);
    write.text("share", spec.share, usual.share);
    write_texts(out, "argv", spec.argv);
    if (!spec.args.empty()) {
        out.key("args");
        out.raw(spec.args);
    }
    write_env(out, spec, values);
    write.text("cwd", spec.cwd, usual.cwd);
    write.number("priority", spec.priority, usual.priority);
    write.text("effects", to_string(spec.effects), to_string(usual.effects));
    write.text("key", spec.key);
    write_texts(out, "limits", spec.limits);
    if (spec.run_at) out.field("run_at", time_text(*spec.run_at));
    write_policy_fields(out, spec.policy, all);
    write_timeouts(out, spec.timeouts, all);
    write.duration("hold", spec.hold);
    write.text("idempotency_key", spec.idempotency_key);
    write.duration("keep_key", spec.keep_key);
    write.number("output_max", spec.output_max, usual.output_max);
    if (spec.failure_level) out.field("failure_level", to_string(*spec.failure_level));
    write_resources(out, spec.resources);
    if (spec.retry_of) out.field("retry_of", *spec.retry_of);
    write_relations(out, spec, fields);
    write_submitter(out, spec, values);
}

}  // namespace perdure
