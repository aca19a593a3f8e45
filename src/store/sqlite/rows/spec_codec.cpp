// The bytes of a job's spec. Every field is written, so that a later default changes no old job.
#include "store/sqlite/rows/bytes.h"
#include "store/sqlite/rows/codec.h"

namespace perdure::sqlite {
namespace {

constexpr std::uint64_t form = 1;

template <class T, class Put>
void put_maybe(ByteWriter& out, const std::optional<T>& value, Put put) {
    out.number(value.has_value());
    if (value) put(*value);
}

template <class T, class Get>
void get_maybe(ByteReader& in, std::optional<T>& value, Get get) {
    if (in.number() != 0) value = get();
}

void put_policy(ByteWriter& out, const PolicyChoice& policy) {
    out.choice(policy.name);
    out.number(policy.retries);
    out.choice(policy.growth);
    out.integer(policy.retry_wait.us);
    out.integer(policy.retry_wait_max.us);
    out.number(policy.jitter_percent);
}

PolicyChoice get_policy(ByteReader& in) {
    PolicyChoice policy;
    policy.name = in.choice(PolicyName::forever);
    policy.retries = in.small();
    policy.growth = in.choice(PolicyChoice::Growth::exponential);
    policy.retry_wait = {in.integer()};
    policy.retry_wait_max = {in.integer()};
    policy.jitter_percent = in.small();
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

}  // namespace

std::string encode(const JobSpec& spec) {
    ByteWriter out;
    const auto put_text = [&](const std::string& text) { out.text(text); };
    const auto put_duration = [&](Duration d) { out.integer(d.us); };
    out.number(form);
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
    return out.take();
}

JobSpec decode_spec(std::string_view bytes) {
    ByteReader in(bytes);
    if (in.number() != form) fail_corrupt("a job's spec is in a form that is not known");
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
    spec.policy = get_policy(in);
    spec.timeouts.queue = get_duration();
    spec.timeouts.run = get_duration();
    get_maybe(in, spec.timeouts.idle, get_duration);
    get_maybe(in, spec.timeouts.total, get_duration);
    get_maybe(in, spec.hold, get_duration);
    get_maybe(in, spec.idempotency_key, get_text);
    get_maybe(in, spec.retry_of, [&] { return JobId{in.number()}; });
    in.end();
    return spec;
}

}  // namespace perdure::sqlite
