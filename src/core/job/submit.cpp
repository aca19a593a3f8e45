#include "core/job/submit.h"

#include <algorithm>
#include <array>

#include "base/zoo.h"
#include "core/job/callbacks.h"
#include "core/job/secret.h"
#include "core/policy/custom_policy.h"

namespace perdure {
namespace {

constexpr std::size_t name_max = 64;
constexpr std::uint8_t priority_max = 9;
constexpr std::size_t key_max = 255;
constexpr std::size_t args_max = std::size_t{1} << 20;
constexpr std::size_t command_max = std::size_t{128} << 10;
constexpr std::uint64_t memory_min = std::uint64_t{1} << 20;
constexpr std::uint64_t memory_max = std::uint64_t{1} << 50;
constexpr std::uint32_t cpu_percent_max = 100'000;
constexpr WallTime date_end{253'402'300'800'000'000};  // the year 10000
constexpr std::uint32_t processes_max = std::uint32_t{1} << 22;

using Fault = std::optional<SpecFault>;

SpecFault fault(std::string_view field, std::string what) {
    return {std::string(field), error(Errc::invalid, std::move(what))};
}

SpecFault bad_name(std::string_view field) {
    return fault(field, std::string(field) +
                            " must be 1 to 64 of a-z 0-9 . _ - and begin with a letter or digit");
}

Fault check_names(const JobSpec& spec) {
    if (!is_name(spec.tenant)) return bad_name("tenant");
    if (!is_name(spec.queue)) return bad_name("queue");
    if (spec.kind.empty() && spec.argv.empty())
        return fault("", "a job needs a command (argv) or a kind");
    if (!spec.kind.empty() && !spec.argv.empty())
        return fault("kind",
                     "a job has a command (argv) or a kind, not both: a kind is what a handler "
                     "carries out");
    if (!spec.kind.empty() && !is_name(spec.kind)) return bad_name("kind");
    if (!spec.share.empty() && !is_name(spec.share)) return bad_name("share");
    for (const auto& limit : spec.limits)
        if (!is_name(limit)) return bad_name("limits");
    const auto bad_key = [](const std::optional<std::string>& key) {
        // Databases keep no text with such a byte.
        const bool has_zero = key && key->find('\0') != std::string::npos;
        return key && (key->empty() || key->size() > key_max || has_zero);
    };
    if (bad_key(spec.key)) return fault("key", "a key must have 1 to 255 bytes, none of them zero");
    if (bad_key(spec.idempotency_key))
        return fault("idempotency_key", "a key must have 1 to 255 bytes, none of them zero");
    return std::nullopt;
}

Fault check_durations(const JobSpec& spec) {
    const auto& t = spec.timeouts;
    for (const auto timeout : {t.queue, t.run, t.idle.value_or(t.run), t.total.value_or(t.run)}) {
        if (timeout <= Duration{} || timeout > duration_max)
            return fault("timeouts", "timeouts must be longer than zero and at most 3650 d");
    }
    const auto is_bad = [](Duration wait) { return wait < Duration{} || wait > duration_max; };
    constexpr auto sentence = "hold and retry wait must be zero to 3650 d";
    if (is_bad(spec.hold.value_or(Duration{}))) return fault("hold", sentence);
    if (is_bad(spec.policy.retry_wait)) return fault("retry_wait", sentence);
    if (is_bad(spec.policy.retry_wait_max)) return fault("retry_wait_max", sentence);
    if (spec.keep_key && !spec.idempotency_key)
        return fault("keep_key", "there is no idempotency_key that could be kept");
    if (is_bad(spec.keep_key.value_or(Duration{})))
        return fault("keep_key", "keep_key must be zero to 3650 d");
    return std::nullopt;
}

Fault check_date(const JobSpec& spec) {
    if (!spec.run_at || (*spec.run_at >= WallTime{} && *spec.run_at < date_end))
        return std::nullopt;
    return fault("run_at", "run_at must be a date in the years 1970 to 9999");
}

Fault check_resources(const Resources& asked) {
    if (asked.memory && (*asked.memory < memory_min || *asked.memory > memory_max))
        return fault("resources.memory", "memory must be 1MiB to 1024TiB");
    if (asked.cpu_percent && (*asked.cpu_percent < 1 || *asked.cpu_percent > cpu_percent_max))
        return fault("resources.cpu_percent",
                     "cpu_percent must be 1 to 100000; 100 is one core, 150 one and a half");
    if (asked.processes && (*asked.processes < 1 || *asked.processes > processes_max))
        return fault("resources.processes", "processes must be 1 to 4194304");
    return std::nullopt;
}

// A mask that came back, and a reference to nothing (S1, S2).
Fault check_secret(const std::string& name, std::string_view value) {
    if (value == masked_value)
        return fault("env", "`" + name + "` is \"" + std::string(masked_value) +
                                "\", which answers say in the place of a secret: give the value");
    if (is_secret_reference(value) && !secret_key_in(value))
        return fault("env", "`" + name +
                                "` must be secret://KEY; KEY is 1 to 64 of a-z 0-9 . _ -, begins "
                                "with a letter or digit and does not end with .allow");
    return std::nullopt;
}

// What exec() cannot carry is refused here, not at the tenth attempt.
Fault check_command(const JobSpec& spec) {
    const auto has_nul = [](std::string_view text) {
        return text.find('\0') != std::string_view::npos;
    };
    if (!spec.argv.empty() && spec.argv.front().empty())
        return fault("argv", "the first word of argv, the command, must not be empty");
    std::size_t size = spec.cwd.size();
    for (const auto& word : spec.argv) {
        if (has_nul(word)) return fault("argv", "argv must not contain NUL bytes");
        size += word.size() + 1;
    }
    for (const auto& [name, value] : spec.env) {
        if (name.empty() || name.find('=') != std::string::npos || has_nul(name) || has_nul(value))
            return fault("env",
                         "names in env must not be empty or contain '='; no NUL bytes anywhere");
        if (auto bad = check_secret(name, value)) return bad;
        size += name.size() + value.size() + 2;
    }
    if (size > command_max)
        return fault("", "argv, env and cwd together must have at most 128 KiB");
    if (!spec.cwd.empty() && (spec.cwd.front() != '/' || has_nul(spec.cwd)))
        return fault("cwd", "cwd must be an absolute path");
    return std::nullopt;
}

std::size_t count_callbacks(const JobSpec& spec) {
    auto count = spec.callbacks.size();
    for (const auto& callback : spec.callbacks) count += count_callbacks(*callback.spec);
    return count;
}

// What a callback cannot have, because its parent's end makes it.
Fault check_as_callback(const JobSpec& spec, const JobSpec& parent) {
    if (spec.tenant != parent.tenant)
        return fault("tenant", "a callback belongs to the tenant of its job: leave it out");
    if (spec.idempotency_key)
        return fault("idempotency_key",
                     "a callback has no idempotency key: each end of its job makes it once");
    if (!spec.after.empty())
        return fault("after", "a callback cannot wait for other jobs: use its own callbacks");
    return std::nullopt;
}

Fault find_fault_at(const JobSpec& spec, std::size_t level);

Fault check_callbacks(const JobSpec& spec, std::size_t level) {
    std::array<std::size_t, 3> seen{};
    for (const auto& callback : spec.callbacks) {
        const auto name = "on_" + std::string(to_string(callback.on));
        const auto path =
            name + "[" + std::to_string(seen[static_cast<std::size_t>(callback.on)]++) + "]";
        if (level == callback_levels_max)
            return fault(name, "callbacks can be nested 8 levels deep at most");
        auto bad = check_as_callback(*callback.spec, spec);
        if (!bad) bad = find_fault_at(*callback.spec, level + 1);
        if (!bad) continue;
        bad->field = bad->field.empty() ? path : path + "." + bad->field;
        return bad;
    }
    return std::nullopt;
}

Fault check_relations(const JobSpec& spec, std::size_t level) {
    if (level <= 1 && count_callbacks(spec) > callbacks_max)
        return fault("", "a job can have 100 callbacks at most, those of callbacks included");
    if (spec.after.size() > after_max)
        return fault("after", "a job can wait for 1000 others at most");
    return check_callbacks(spec, level);
}

Fault check_rules(const JobSpec& spec) {
    const auto found = find_rule_fault(spec.policy.rules);
    if (!found) return std::nullopt;
    return fault("policy." + found->place, found->what);
}

}  // namespace

bool is_name(std::string_view name) {
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    if (name.empty() || name.size() > name_max || !plain(name.front())) return false;
    return std::all_of(name.begin(), name.end(),
                       [&](char c) { return plain(c) || c == '.' || c == '_' || c == '-'; });
}

namespace {

Fault find_fault_at(const JobSpec& spec, std::size_t level) {
    if (auto bad = check_names(spec)) return bad;
    if (spec.priority > priority_max)
        return fault("priority", "priority must be 0 (first) to 9 (last)");
    if (spec.args.size() > args_max)
        return fault("args", "args must have at most 1 MiB: pass a reference to the data");
    if (auto bad = check_durations(spec)) return bad;
    if (auto bad = check_date(spec)) return bad;
    if (spec.policy.jitter_percent > 100)
        return fault("retry_jitter", "jitter must be 0 to 100 percent of the wait");
    if (auto bad = check_command(spec)) return bad;
    if (auto bad = check_rules(spec)) return bad;
    if (auto bad = check_resources(spec.resources)) return bad;
    if (spec.effects == Effects::once && spec.policy.retries > 0)
        return fault("retries",
                     "a `once` job cannot have retries: leave them out, or declare it "
                     "repeatable");
    return check_relations(spec, level);
}

}  // namespace

std::optional<SpecFault> find_fault(const JobSpec& spec) { return find_fault_at(spec, 0); }

std::optional<SpecFault> find_fault_of_delay(Duration delay) {
    if (delay >= Duration{} && delay <= duration_max) return std::nullopt;
    return fault("delay", "delay must be zero to 3650 d");
}

std::optional<SpecFault> find_fault_of_callback(const JobSpec& callback, const JobSpec& parent) {
    if (auto bad = check_as_callback(callback, parent)) return bad;
    return find_fault_at(callback, 1);
}

std::optional<Error> check_spec(const JobSpec& spec) {
    auto fault = find_fault(spec);
    if (!fault) return std::nullopt;
    return std::move(fault->error);
}

void keep_submitter(JobSpec& spec, const Who& who) {
    spec.submitted_by = who;
    for (auto& callback : spec.callbacks) {
        auto asked = *callback.spec;
        keep_submitter(asked, who);
        callback.spec = std::make_shared<const JobSpec>(std::move(asked));
    }
}

IdempotencyDecision decide_idempotency(const IdempotencyFacts& f) {
    using Kind = IdempotencyDecision::Kind;
    if (!f.key_known || zoo(Bug::idempotency_key_ignored)) return {Kind::create, "C5/new"};
    if (!f.same_body) return {Kind::other_body, "C5/other_body"};
    if (f.job_gone) return {Kind::gone, "C5/gone"};
    return {Kind::same_job, "C5/same_job"};
}

std::shared_ptr<const JobSpec> with_found(std::shared_ptr<const JobSpec> asked,
                                          const std::map<JobId, JobId>& found) {
    if (asked->after.empty()) return asked;
    auto spec = *asked;
    for (auto& after : spec.after) {
        const auto other = found.find(after.job);
        if (other != found.end()) after.job = other->second;
    }
    return std::make_shared<const JobSpec>(std::move(spec));
}

}  // namespace perdure
