#include "core/job/body_hash.h"

#include <xxhash.h>

#include "core/job/field_bytes.h"
#include "core/policy/custom_policy.h"

namespace perdure {
namespace {

// The numbers of a body without anything special, and a little.
std::size_t expected_size(const JobSpec& spec) { return 512 + spec.args.size(); }

// What every body has had from the beginning.
void add_first_fields(FieldBytes& to, const JobSpec& spec) {
    to.add(spec.tenant);
    to.add(spec.queue);
    to.add(spec.kind);
    to.add(spec.argv.size());
    for (const auto& word : spec.argv) to.add(word);
    to.add(spec.args);
    to.add(spec.priority);
    to.add(static_cast<std::uint64_t>(spec.effects));
    to.add(spec.key.has_value());
    to.add(spec.key.value_or(""));
    to.add(spec.limits.size());
    for (const auto& limit : spec.limits) to.add(limit);
    to.add(spec.run_at ? static_cast<std::uint64_t>(spec.run_at->us) : ~0ULL);
    to.add(static_cast<std::uint64_t>(spec.policy.name));
    to.add(spec.policy.retries);
    to.add(spec.policy.retry_wait);
    to.add(static_cast<std::uint64_t>(spec.policy.growth));
    to.add(spec.policy.retry_wait_max);
    to.add(spec.policy.jitter_percent);
    to.add(spec.timeouts.queue);
    to.add(spec.timeouts.run);
    to.add(spec.timeouts.idle);
    to.add(spec.timeouts.total);
    to.add(spec.hold);
    to.add(spec.env.size());
    for (const auto& [name, value] : spec.env) {
        to.add(name);
        to.add(value);
    }
    to.add(spec.cwd);
    to.add(spec.output_max);
    to.add(spec.retry_of ? spec.retry_of->value : 0);
}

bool has_own_policy(const PolicyChoice& policy) {
    return !policy.rules.empty() || !policy.custom.empty();
}
void add_policy(FieldBytes& to, const PolicyChoice& policy) {
    to.add(policy.custom);
    add_rules(to, policy.rules);
}
// Zero cannot be asked for: it stands for "not given".
void add_resources(FieldBytes& to, const Resources& resources) {
    to.add(resources.memory.value_or(0));
    to.add(resources.cpu_percent.value_or(0));
    to.add(resources.processes.value_or(0));
}

FieldBytes bytes_of(const AskedBody& asked);

// B3: each has its name before it, and is left out while it is empty.
void add_named_fields(FieldBytes& to, const JobSpec& spec) {
    if (has_own_policy(spec.policy)) {
        to.add("policy");
        add_policy(to, spec.policy);
    }
    for (const auto& callback : spec.callbacks) {
        to.add("callback");
        to.add(to_string(callback.on));
        to.add(bytes_of({*callback.spec}).view());
    }
    for (const auto& after : spec.after) {
        to.add("after");
        to.add(to_string(after.on));
        to.add(after.job.value);
    }
    if (spec.failure_level) {
        to.add("failure_level");
        to.add(to_string(*spec.failure_level));
    }
    if (spec.resources != Resources{}) {
        to.add("resources");
        add_resources(to, spec.resources);
    }
    if (spec.keep_key) {
        to.add("keep_key");
        to.add(spec.keep_key);
    }
    if (!spec.share.empty()) {
        to.add("share");
        to.add(spec.share);
    }
}

FieldBytes bytes_of(const AskedBody& asked) {
    FieldBytes bytes(expected_size(asked.spec));
    add_first_fields(bytes, asked.spec);
    add_named_fields(bytes, asked.spec);
    if (asked.delay) {
        bytes.add("delay");
        bytes.add(asked.delay);
    }
    for (const auto& [position, index] : asked.after_earlier) {
        bytes.add("after_earlier");
        bytes.add(position);
        bytes.add(index);
    }
    return bytes;
}

// As it was; never to be changed.
void add_old_later_fields(FieldBytes& to, const JobSpec& spec) {
    if (has_own_policy(spec.policy)) add_policy(to, spec.policy);
    for (const auto& callback : spec.callbacks) {
        to.add(to_string(callback.on));
        to.add(old_body_hash({*callback.spec}));
    }
    for (const auto& after : spec.after) {
        to.add(to_string(after.on));
        to.add(after.job.value);
    }
    if (spec.failure_level) to.add(to_string(*spec.failure_level));
    if (spec.resources != Resources{}) add_resources(to, spec.resources);
    if (spec.keep_key) to.add(spec.keep_key);
    if (!spec.share.empty()) {
        to.add("share");
        to.add(spec.share);
    }
}

}  // namespace

BodyHash body_hash(const AskedBody& asked) {
    const auto bytes = bytes_of(asked);
    const auto hash = XXH3_128bits(bytes.view().data(), bytes.view().size());
    return {.low = hash.low64, .high = hash.high64};
}

std::uint64_t old_body_hash(const AskedBody& asked) {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15ULL;
    FieldBytes bytes(expected_size(asked.spec));
    add_first_fields(bytes, asked.spec);
    add_old_later_fields(bytes, asked.spec);
    auto hash = fnv_hash(bytes.view());
    if (asked.delay) hash ^= (static_cast<std::uint64_t>(asked.delay->us) + 1) * spread;
    for (const auto& [position, index] : asked.after_earlier)
        hash = (hash ^ (std::uint64_t{index} + 1)) * spread;
    return hash;
}

bool is_same_body(const BodyHash& stored, const BodyHash& asked,
                  std::optional<std::uint64_t> asked_old) {
    if (!stored.is_short) return stored == asked;
    return stored.low == (asked.is_short ? asked.low : asked_old);
}

}  // namespace perdure
