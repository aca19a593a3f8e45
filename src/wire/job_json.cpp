#include "wire/job_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <vector>

#include "core/job/webhook.h"
#include "wire/policy_json.h"
#include "wire/relation_json.h"
#include "wire/text_size.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

namespace json = boost::json;

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
    if (!into) at.misfit("must be a number of bytes, or a text like 512MiB");
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
    Field{"args", [](At at, JobSpec& s) { s.args = canonical(at); }},
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

void write_texts(JsonWriter& out, std::string_view name, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    out.key(name);
    out.begin_array();
    for (const auto& text : texts) out.value(text);
    out.end_array();
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

void append_canonical(const json::value& value, std::string& out);

void append_object(const json::object& object, std::string& out) {
    std::vector<const json::key_value_pair*> members;
    members.reserve(object.size());
    for (const auto& member : object) members.push_back(&member);
    std::sort(members.begin(), members.end(),
              [](const auto* a, const auto* b) { return a->key() < b->key(); });
    out += '{';
    for (const auto* member : members) {
        if (member != members.front()) out += ',';
        JsonWriter(out).value(std::string_view(member->key().data(), member->key().size()));
        out += ':';
        append_canonical(member->value(), out);
    }
    out += '}';
}

void append_canonical(const json::value& value, std::string& out) {
    if (const auto* object = value.if_object()) return append_object(*object, out);
    if (const auto* array = value.if_array()) {
        out += '[';
        for (std::size_t i = 0; i < array->size(); ++i) {
            if (i > 0) out += ',';
            append_canonical((*array)[i], out);
        }
        out += ']';
        return;
    }
    if (const auto* text = value.if_string())
        return JsonWriter(out).value(std::string_view(text->data(), text->size()));
    // The shortest text that is this number again; Boost would write 1.5 as 1.5E0.
    if (const auto* number = value.if_double()) {
        fmt::format_to(std::back_inserter(out), "{}", *number);
        return;
    }
    out += json::serialize(value);
}

}  // namespace

std::string canonical(const json::value& value) {
    std::string text;
    append_canonical(value, text);
    return text;
}

std::string canonical(const JsonCursor& at) {
    std::string text;
    if (at.is_text()) {
        JsonWriter(text).value(at.node().text);
    } else {
        json::error_code none;  // it is a part of what was read
        append_canonical(json::parse(at.node().text, none), text);
    }
    return text;
}

void read_job(const JsonCursor& at, JobRequest& into) {
    bool has_relations = false;
    at.members([&](std::string_view name, const JsonCursor& member) {
        if (name == "policy") into.policy = PolicyWish::chosen;
        if (const auto* field = field_of(name)) return field->read(member, into.spec);
        if (is_relation(name)) return static_cast<void>(has_relations = true);
        if (name == "delay") return member.read(into.delay);
        member.misfit("there is no such field");
    });
    if (has_relations) read_relations(at, into);
    if (into.delay && into.spec.run_at) at.misfit("give run_at or delay, not both");
    if (into.spec.kind == webhook_kind && !into.spec.timeouts.total)
        into.spec.timeouts.total = webhook_total;
}

void read_spec(const JsonCursor& at, JobSpec& into) {
    at.members([&](std::string_view name, const JsonCursor& member) {
        if (const auto* field = field_of(name)) return field->read(member, into);
        if (name == "retry_of") return member.read(into.retry_of);
        if (name == "callback_of") return read_callback_of(member, into);
    });
}

void write_spec(JsonWriter& out, const JobSpec& spec, SpecFields fields) {
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
    if (!spec.env.empty()) {
        out.key("env");
        out.begin_object();
        for (const auto& [name, value] : spec.env) {
            out.text_key(name);
            out.value(value);
        }
        out.end_object();
    }
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
}

}  // namespace perdure
