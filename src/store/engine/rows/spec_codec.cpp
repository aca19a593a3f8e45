// The bytes of a job's spec, and of a worker's policy. What is usual takes no bytes; what is usual
// belongs to the form, so that a later default changes no old job.
#include "store/engine/rows/codec.h"
#include "store/engine/rows/fields.h"
#include "store/engine/rows/spec_forms.h"
#include "store/engine/rows/spec_parts.h"

namespace perdure::store {

namespace {

constexpr std::uint64_t spec_form = 5;
constexpr unsigned callback_depth_max = 32;  // of what we read; far fewer are accepted

JobSpec decode_nested(std::string_view bytes, unsigned depth);

void put_callbacks(ByteWriter& out, const std::vector<Callback>& callbacks) {
    out.number(callbacks.size());
    for (const auto& callback : callbacks) {
        out.choice(callback.on);
        out.text(encode(*callback.spec));
    }
}
void get_callbacks(ByteReader& in, std::vector<Callback>& callbacks, unsigned depth) {
    callbacks.resize(in.count());
    for (auto& callback : callbacks) {
        callback.on = in.choice(Trigger::end);
        callback.spec = std::make_shared<const JobSpec>(decode_nested(in.text(), depth + 1));
    }
}

void put_attempt_key(ByteWriter& out, const std::optional<AttemptKey>& key) {
    out.number(key->job.value);
    out.number(key->epoch.value);
}
void get_attempt_key(ByteReader& in, std::optional<AttemptKey>& key) {
    key.emplace();
    key->job = {in.id()};
    key->epoch = {in.small()};
}

// --- the fields, and the usual values of form 5
// ---------------------------------------------------

const std::string usual_name = "default";  // of tenant and queue
constexpr std::uint64_t usual_output_max = std::uint64_t{16} << 20;

template <class Policy, class Fields>
void show_policy(Policy& policy, Fields& fields) {
    fields(policy.name, PolicyName::default_);
    fields(policy.retries);
    fields(policy.growth, Growth::exponential);
    fields(policy.retry_wait, seconds(1));
    fields(policy.retry_wait_max, hours(1));
    fields(policy.jitter_percent);
    fields(policy.custom);
    fields(policy.rules);
    fields(policy.level, PolicyLevel::server);
}

template <class Spec, class Fields>
void show_spec(Spec& spec, Fields& fields, unsigned depth) {
    fields(spec.queue, usual_name);
    fields(spec.kind);
    fields(spec.argv);
    fields(spec.args);
    fields(spec.idempotency_key);
    fields(spec.key);
    show_policy(spec.policy, fields);
    fields(spec.tenant, usual_name);
    fields(spec.env);
    fields(spec.cwd);
    fields(spec.output_max, usual_output_max);
    fields(spec.priority, std::uint8_t{5});
    fields(spec.effects, Effects::repeatable);
    fields(spec.limits);
    fields(spec.run_at);
    fields(spec.timeouts.queue, days(7));
    fields(spec.timeouts.run, hours(24));
    fields(spec.timeouts.idle);
    fields(spec.timeouts.total);
    fields(spec.hold);
    fields(spec.keep_key);
    fields(spec.retry_of);
    fields.with(spec.callbacks, put_callbacks,
                [depth](ByteReader& in, auto& all) { get_callbacks(in, all, depth); });
    fields(spec.after);
    fields(spec.callback_of);
    fields(spec.resources.memory);
    fields(spec.resources.cpu_percent);
    fields(spec.resources.processes);
    fields(spec.failure_level);
    fields(spec.share);
    fields(spec.submitted_by.name);
    fields(spec.submitted_by.uid);
    fields.with(spec.parent, put_attempt_key, get_attempt_key);
}

JobSpec decode_nested(std::string_view bytes, unsigned depth) {
    if (depth > callback_depth_max) fail_corrupt("a job's callbacks are nested too deep");
    ByteReader in(bytes);
    const auto form = in.number();
    if (form == 0 || form > spec_form) fail_corrupt("a job's spec is in a form that is not known");
    if (form <= last_full_form) {
        auto spec = get_full_spec(
            in, form, [&](std::string_view nested) { return decode_nested(nested, depth + 1); });
        in.end();
        return spec;
    }
    JobSpec spec;
    FieldReader fields(in);
    show_spec(spec, fields, depth);
    fields.end();
    return spec;
}

}  // namespace

std::string encode(const JobSpec& spec) {
    return write_fields(spec_form, [&](auto& fields) { show_spec(spec, fields, 0); });
}

JobSpec decode_spec(std::string_view bytes) { return decode_nested(bytes, 0); }

std::string encode(const PolicyChoice& policy) {
    return write_fields(spec_form, [&](auto& fields) { show_policy(policy, fields); });
}

PolicyChoice decode_policy(std::string_view bytes) {
    ByteReader in(bytes);
    const auto form = in.number();
    if (form < last_full_form || form > spec_form)
        fail_corrupt("a worker's policy is in a form that is not known");
    PolicyChoice policy;
    if (form == last_full_form) {
        policy = get_full_policy(in, form);
        in.end();
    } else {
        FieldReader fields(in);
        show_policy(policy, fields);
        fields.end();
    }
    return policy;
}

}  // namespace perdure::store
