// The bytes of a job's spec. Every field is written, so that a later default changes no old job.
#include "store/sqlite/rows/bytes.h"
#include "store/sqlite/rows/codec.h"

namespace perdure::sqlite {
namespace {

// Form 1 had no callbacks, no `after`, no resources and no rules of the author's own; form 2 no
// failure level and no keep_key; form 3 did not say who chose the policy. A job of those forms was
// promised the policy that is stored with it: it counts as its own, and no worker's goes before it.
constexpr std::uint64_t spec_form = 4;
constexpr unsigned callback_depth_max = 32;  // of what we read; far fewer are accepted

template <class T, class Put>
void put_maybe(ByteWriter& out, const std::optional<T>& value, Put put) {
    out.number(value.has_value());
    if (value) put(*value);
}

template <class T, class Get>
void get_maybe(ByteReader& in, std::optional<T>& value, Get get) {
    if (in.number() != 0) value = get();
}

void put_rule(ByteWriter& out, const CustomRule& rule) {
    out.number(rule.causes.size());
    for (const auto cause : rule.causes) out.choice(cause);
    out.number(rule.exit_codes.size());
    for (const auto code : rule.exit_codes) out.integer(code);
    out.text(rule.text);
    out.number(rule.times);
    out.integer(rule.wait.us);
    out.integer(rule.wait_max.us);
    out.choice(rule.growth);
    out.number(rule.jitter_percent);
    out.number(rule.another_worker);
    out.choice(rule.then);
}

CustomRule get_rule(ByteReader& in) {
    CustomRule rule;
    rule.causes.resize(in.count());
    for (auto& cause : rule.causes) cause = in.choice(Cause::corrupt);
    rule.exit_codes.resize(in.count());
    for (auto& code : rule.exit_codes) code = static_cast<std::int32_t>(in.integer());
    rule.text = in.text();
    rule.times = in.small();
    rule.wait = {in.integer()};
    rule.wait_max = {in.integer()};
    rule.growth = in.choice(Growth::exponential);
    rule.jitter_percent = in.small();
    rule.another_worker = in.number() != 0;
    rule.then = in.choice(Then::cancel);
    return rule;
}

void put_policy(ByteWriter& out, const PolicyChoice& policy) {
    out.choice(policy.name);
    out.number(policy.retries);
    out.choice(policy.growth);
    out.integer(policy.retry_wait.us);
    out.integer(policy.retry_wait_max.us);
    out.number(policy.jitter_percent);
    out.text(policy.custom);
    out.number(policy.rules.size());
    for (const auto& rule : policy.rules) put_rule(out, rule);
    out.choice(policy.level);
}

PolicyChoice get_policy(ByteReader& in, std::uint64_t version) {
    PolicyChoice policy;
    policy.name = in.choice(PolicyName::forever);
    policy.retries = in.small();
    policy.growth = in.choice(Growth::exponential);
    policy.retry_wait = {in.integer()};
    policy.retry_wait_max = {in.integer()};
    policy.jitter_percent = in.small();
    if (version == 1) return policy;
    policy.custom = in.text();
    policy.rules.resize(in.count());
    for (auto& rule : policy.rules) rule = get_rule(in);
    if (version > 3) policy.level = in.choice(PolicyLevel::server);
    return policy;
}

void put_names(ByteWriter& out, const std::vector<std::string>& names) {
    out.number(names.size());
    for (const auto& name : names) out.text(name);
}

std::vector<std::string> get_names(ByteReader& in) {
    std::vector<std::string> names(in.count());
    for (auto& name : names) name = in.text();
    return names;
}

void put_relations(ByteWriter& out, const JobSpec& spec) {
    out.number(spec.callbacks.size());
    for (const auto& callback : spec.callbacks) {
        out.choice(callback.on);
        out.text(encode(*callback.spec));
    }
    out.number(spec.after.size());
    for (const auto& after : spec.after) {
        out.number(after.job.value);
        out.choice(after.on);
    }
    put_maybe(out, spec.callback_of, [&](const CallbackOf& of) {
        out.number(of.job.value);
        out.number(of.generation);
        out.number(of.number);
    });
}

JobSpec decode_nested(std::string_view bytes, unsigned depth);

void get_relations(ByteReader& in, JobSpec& spec, unsigned depth) {
    spec.callbacks.resize(in.count());
    for (auto& callback : spec.callbacks) {
        callback.on = in.choice(On::end);
        callback.spec = std::make_shared<const JobSpec>(decode_nested(in.text(), depth + 1));
    }
    spec.after.resize(in.count());
    for (auto& after : spec.after) {
        after.job = {in.number()};
        after.on = in.choice(On::end);
    }
    get_maybe(in, spec.callback_of, [&] {
        const JobId job{in.number()};
        const auto generation = in.small();
        return CallbackOf{job, generation, in.small()};
    });
}

void put_resources(ByteWriter& out, const Resources& resources) {
    const auto put_number = [&](std::uint64_t number) { out.number(number); };
    put_maybe(out, resources.memory, put_number);
    put_maybe(out, resources.cpu_percent, put_number);
    put_maybe(out, resources.processes, put_number);
}

Resources get_resources(ByteReader& in) {
    Resources resources;
    get_maybe(in, resources.memory, [&] { return in.number(); });
    get_maybe(in, resources.cpu_percent, [&] { return in.small(); });
    get_maybe(in, resources.processes, [&] { return in.small(); });
    return resources;
}

}  // namespace

std::string encode(const PolicyChoice& policy) {
    ByteWriter out;
    out.number(spec_form);
    put_policy(out, policy);
    return out.take();
}

PolicyChoice decode_policy(std::string_view bytes) {
    ByteReader in(bytes);
    const auto version = in.number();
    if (version < 4 || version > spec_form)
        fail_corrupt("a worker's policy is in a form that is not known");
    auto policy = get_policy(in, version);
    in.end();
    return policy;
}

std::string encode(const JobSpec& spec) {
    ByteWriter out;
    const auto put_text = [&](const std::string& text) { out.text(text); };
    const auto put_duration = [&](Duration d) { out.integer(d.us); };
    out.number(spec_form);
    out.text(spec.tenant);
    out.text(spec.queue);
    out.text(spec.kind);
    put_names(out, spec.argv);
    out.text(spec.args);
    out.number(spec.env.size());
    for (const auto& [name, value] : spec.env) {
        out.text(name);
        out.text(value);
    }
    out.text(spec.cwd);
    out.number(spec.output_max);
    out.number(spec.priority);
    out.choice(spec.effects);
    put_maybe(out, spec.key, put_text);
    put_names(out, spec.limits);
    put_maybe(out, spec.run_at, [&](WallTime at) { out.at(at); });
    put_policy(out, spec.policy);
    put_duration(spec.timeouts.queue);
    put_duration(spec.timeouts.run);
    put_maybe(out, spec.timeouts.idle, put_duration);
    put_maybe(out, spec.timeouts.total, put_duration);
    put_maybe(out, spec.hold, put_duration);
    put_maybe(out, spec.idempotency_key, put_text);
    put_maybe(out, spec.retry_of, [&](JobId job) { out.number(job.value); });
    put_relations(out, spec);
    put_resources(out, spec.resources);
    put_maybe(out, spec.failure_level, [&](Level level) { out.choice(level); });
    put_maybe(out, spec.keep_key, put_duration);
    return out.take();
}

JobSpec decode_spec(std::string_view bytes) { return decode_nested(bytes, 0); }

namespace {

JobSpec decode_nested(std::string_view bytes, unsigned depth) {
    if (depth > callback_depth_max) fail_corrupt("a job's callbacks are nested too deep");
    ByteReader in(bytes);
    const auto version = in.number();
    if (version == 0 || version > spec_form)
        fail_corrupt("a job's spec is in a form that is not known");
    const auto get_text = [&] { return std::string(in.text()); };
    const auto get_duration = [&] { return Duration{in.integer()}; };
    JobSpec spec;
    spec.tenant = in.text();
    spec.queue = in.text();
    spec.kind = in.text();
    spec.argv = get_names(in);
    spec.args = in.text();
    spec.env.resize(in.count());
    for (auto& [name, value] : spec.env) {
        name = in.text();
        value = in.text();
    }
    spec.cwd = in.text();
    spec.output_max = in.number();
    const auto priority = in.number();
    if (priority > UINT8_MAX) fail_corrupt("a job's priority is too large");
    spec.priority = static_cast<std::uint8_t>(priority);
    spec.effects = in.choice(Effects::once);
    get_maybe(in, spec.key, get_text);
    spec.limits = get_names(in);
    get_maybe(in, spec.run_at, [&] { return in.at<WallTime>(); });
    spec.policy = get_policy(in, version);
    spec.timeouts.queue = get_duration();
    spec.timeouts.run = get_duration();
    get_maybe(in, spec.timeouts.idle, get_duration);
    get_maybe(in, spec.timeouts.total, get_duration);
    get_maybe(in, spec.hold, get_duration);
    get_maybe(in, spec.idempotency_key, get_text);
    get_maybe(in, spec.retry_of, [&] { return JobId{in.number()}; });
    if (version > 1) {
        get_relations(in, spec, depth);
        spec.resources = get_resources(in);
    }
    if (version > 2) {
        get_maybe(in, spec.failure_level, [&] { return in.choice(Level::critical); });
        get_maybe(in, spec.keep_key, get_duration);
    }
    in.end();
    return spec;
}

}  // namespace

}  // namespace perdure::sqlite
