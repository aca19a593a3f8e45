// Form 1 had no callbacks, no `after`, no resources and no rules of the author's own; form 2 no
// failure level and no keep_key; form 3 did not say who chose the policy. A job of those forms was
// promised the policy that is stored with it: it counts as its own, and no worker's goes before it.
#include "store/engine/rows/spec_forms.h"

#include "store/engine/rows/spec_parts.h"

namespace perdure::store {
namespace {

template <class T, class Get>
void get_maybe(ByteReader& in, std::optional<T>& value, Get get) {
    if (in.number() != 0) value = get();
}

std::vector<std::string> get_names(ByteReader& in) {
    std::vector<std::string> names(in.count());
    for (auto& name : names) name = in.text();
    return names;
}

void get_relations(ByteReader& in, JobSpec& spec,
                   const std::function<JobSpec(std::string_view)>& nested) {
    spec.callbacks.resize(in.count());
    for (auto& callback : spec.callbacks) {
        callback.on = in.choice(Trigger::end);
        callback.spec = std::make_shared<const JobSpec>(nested(in.text()));
    }
    spec.after.resize(in.count());
    for (auto& after : spec.after) get(in, after);
    get_maybe(in, spec.callback_of, [&] {
        CallbackOf of;
        get(in, of);
        return of;
    });
}

Resources get_resources(ByteReader& in) {
    Resources resources;
    get_maybe(in, resources.memory, [&] { return in.number(); });
    get_maybe(in, resources.cpu_percent, [&] { return in.small(); });
    get_maybe(in, resources.processes, [&] { return in.small(); });
    return resources;
}

}  // namespace

PolicyChoice get_full_policy(ByteReader& in, std::uint64_t form) {
    PolicyChoice policy;
    policy.name = in.choice(PolicyName::forever);
    policy.retries = in.small();
    policy.growth = in.choice(Growth::exponential);
    policy.retry_wait = {in.integer()};
    policy.retry_wait_max = {in.integer()};
    policy.jitter_percent = in.small();
    if (form == 1) return policy;
    policy.custom = in.text();
    policy.rules.resize(in.count());
    for (auto& rule : policy.rules) get(in, rule);
    if (form > 3) policy.level = in.choice(PolicyLevel::server);
    return policy;
}

JobSpec get_full_spec(ByteReader& in, std::uint64_t form,
                      const std::function<JobSpec(std::string_view)>& nested) {
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
    spec.policy = get_full_policy(in, form);
    spec.timeouts.queue = get_duration();
    spec.timeouts.run = get_duration();
    get_maybe(in, spec.timeouts.idle, get_duration);
    get_maybe(in, spec.timeouts.total, get_duration);
    get_maybe(in, spec.hold, get_duration);
    get_maybe(in, spec.idempotency_key, get_text);
    get_maybe(in, spec.retry_of, [&] { return JobId{in.number()}; });
    if (form > 1) {
        get_relations(in, spec, nested);
        spec.resources = get_resources(in);
    }
    if (form > 2) {
        get_maybe(in, spec.failure_level, [&] { return in.choice(Level::critical); });
        get_maybe(in, spec.keep_key, get_duration);
    }
    return spec;
}

}  // namespace perdure::store
