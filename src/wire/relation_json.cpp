#include "wire/relation_json.h"

#include <memory>

namespace perdure {
namespace {

using At = const JsonCursor&;

constexpr std::array<std::string_view, 3> callback_fields = {"on_success", "on_failure", "on_end"};

constexpr auto state_names = [] {
    std::array<std::string_view, places.size()> names{};
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = places[i].name;
    return names;
}();

// "ID", {"job": "ID", "on": …}, or {"index": n, "on": …} for an earlier job of the same batch.
void read_after(At at, JobRequest& into) {
    auto& after = into.spec.after.emplace_back();
    if (at.is_text()) return at.read(after.job);
    std::optional<std::uint32_t> index;
    at.members([&](std::string_view name, At member) {
        if (name == "job") return member.read(after.job);
        if (name == "index") return member.read(index);
        if (name == "on") return read_enum(member, on_names, after.on);
        member.parse_error("there is no such field");
    });
    if (at.ok() && index.has_value() == (after.job != JobId{}))
        return at.parse_error("give job, or the index of an earlier job of the same batch");
    if (index) into.after_earlier.push_back({into.spec.after.size() - 1, *index});
}

void read_callbacks(At at, Trigger on, JobSpec& into) {
    at.elements([&](At element) {
        auto spec = std::make_shared<JobSpec>();
        read_callback(element, into, *spec);
        into.callbacks.push_back({on, std::move(spec)});
    });
}

void write_callbacks(JsonWriter& out, Trigger on, const JobSpec& spec) {
    bool begun = false;
    for (const auto& callback : spec.callbacks) {
        if (callback.on != on) continue;
        if (!begun) {
            out.key(callback_fields[static_cast<std::size_t>(on)]);
            out.begin_array();
        }
        begun = true;
        out.begin_object();
        write_spec(out, *callback.spec, SpecFields::changed, EnvValues::masked);
        write_relations(out, *callback.spec, SpecFields::all);
        out.end_object();
    }
    if (begun) out.end_array();
}

void write_after(JsonWriter& out, const std::vector<After>& all) {
    if (all.empty()) return;
    out.key("after");
    out.begin_array();
    for (const auto& after : all) {
        out.begin_object();
        out.field("job", after.job);
        out.field("on", to_string(after.on));
        out.end_object();
    }
    out.end_array();
}

// What a job left is to be JSON; if it is not, it goes on as the text that it is.
void write_left(JsonWriter& out, std::string_view result) {
    JsonTree parsed;
    out.key("result");
    if (!parsed.read(result, JsonTree::Manner::strict)) return out.value(result);
    out.raw(result);
}

using InputField = JsonField<Input>;
constexpr std::array input_fields = {
    InputField{"job", [](At a, Input& i) { a.read(i.job); }},
    InputField{"generation", [](At a, Input& i) { a.read(i.generation); }},
    InputField{"state", [](At a, Input& i) { read_enum(a, state_names, i.state); }},
    InputField{"cause", [](At a, Input& i) { read_enum(a, cause_names, i.cause); }},
    InputField{"exit_code",
               [](At a, Input& i) {
                   std::int32_t code = 0;
                   a.read(code);
                   i.exit_code = code;
               }},
    InputField{"result", [](At a, Input& i) { i.result = canonical(a.node()); }},
    InputField{"result_left_out", [](At a, Input& i) { a.read(i.result_left_out); }},
};

}  // namespace

bool is_relation(std::string_view field) { return field == "after" || field.starts_with("on_"); }

void read_callback(At at, const JobSpec& parent, JobSpec& into) {
    JobRequest wanted;
    wanted.spec.tenant = parent.tenant;
    wanted.spec.queue = parent.queue;
    wanted.spec.share = parent.share;
    wanted.spec.policy.name = PolicyName::forever;
    read_job(at, wanted);
    if (wanted.delay) at.parse_error("a callback begins when its job ends: it has no delay");
    if (!wanted.after_earlier.empty()) at.parse_error("a callback cannot wait for other jobs");
    into = std::move(wanted.spec);
}

void read_relations(At at, JobRequest& into) {
    // In this order whatever the author's, so that equal bodies are equal.
    for (const auto on : {Trigger::success, Trigger::failure, Trigger::end}) {
        const auto field = callback_fields[static_cast<std::size_t>(on)];
        at.members([&](std::string_view name, At member) {
            if (name == field) read_callbacks(member, on, into.spec);
        });
    }
    at.members([&](std::string_view name, At member) {
        if (name == "after") return member.elements([&](At other) { read_after(other, into); });
        const bool known =
            name == callback_fields[0] || name == callback_fields[1] || name == callback_fields[2];
        if (is_relation(name) && !known) member.parse_error("there is no such field");
    });
}

void write_relations(JsonWriter& out, const JobSpec& spec, SpecFields fields) {
    if (const auto& of = spec.callback_of) {
        out.key("callback_of");
        out.begin_object();
        out.field("job", of->job);
        out.field("generation", of->generation);
        out.field("number", of->number);
        out.end_object();
    }
    if (fields != SpecFields::all) return;
    for (const auto on : {Trigger::success, Trigger::failure, Trigger::end})
        write_callbacks(out, on, spec);
    write_after(out, spec.after);
}

void read_callback_of(At at, JobSpec& into) {
    CallbackOf of;
    at.members([&](std::string_view name, At member) {
        if (name == "job") member.read(of.job);
        if (name == "generation") member.read(of.generation);
        if (name == "number") member.read(of.number);
    });
    into.callback_of = of;
}

void write_input_fields(JsonWriter& out, const Input& input) {
    out.field("job", input.job);
    out.field("generation", input.generation);
    out.field("state", to_string(input.state));
    out.field("cause", to_string(input.cause));
    if (input.exit_code) out.field("exit_code", *input.exit_code);
    if (!input.result.empty()) write_left(out, input.result);
    out.flag("result_left_out", input.result_left_out);
}

void write_input(JsonWriter& out, const Input& input) {
    out.begin_object();
    write_input_fields(out, input);
    out.end_object();
}

void write_inputs(JsonWriter& out, const std::vector<Input>& inputs) {
    out.begin_array();
    for (const auto& input : inputs) write_input(out, input);
    out.end_array();
}

void read_inputs(At at, std::vector<Input>& into) {
    at.elements(
        [&](At element) { read_fields<Input>(element, input_fields, into.emplace_back()); });
}

}  // namespace perdure
