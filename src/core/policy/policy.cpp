#include "core/policy/policy.h"

#include <algorithm>

#include "base/zoo.h"

namespace perdure {
namespace {

constexpr auto always = PolicyRule::always;

// Rows as in docs/guides/policies.md. The waits double from the first to the cap.
PolicyRule standard_rule(CauseClass c) {
    switch (c) {
        case CauseClass::own_failure: return {.rule = "default/own_failure"};
        case CauseClass::conflict: return {.times = 4, .rule = "default/conflict"};
        case CauseClass::disconnected:
            return {.times = always,
                    .first_wait = seconds(5),
                    .wait_max = seconds(60),
                    .rule = "default/disconnected"};
        case CauseClass::crash:
            return {.times = 2,
                    .first_wait = seconds(1),
                    .wait_max = seconds(60),
                    .then = LastResort::quarantine,
                    .rule = "default/crash"};
        case CauseClass::owner_lost:
            return {.times = 9,
                    .then = LastResort::quarantine,
                    .another_worker = true,
                    .rule = "default/owner_lost"};
        case CauseClass::timed_out: return {.rule = "default/timed_out"};
        default: return {};
    }
}

PolicyRule never_rule(CauseClass c) {
    switch (c) {
        case CauseClass::crash:
        case CauseClass::owner_lost:
        case CauseClass::moved:
            return {.then = LastResort::quarantine, .rule = "never/interrupted"};
        default: return {.rule = "never/fail"};
    }
}

PolicyRule forever_rule(CauseClass c) {
    switch (c) {
        case CauseClass::own_failure: return {.rule = "forever/own_failure"};
        case CauseClass::disconnected:
            return {.times = always,
                    .first_wait = seconds(5),
                    .wait_max = seconds(60),
                    .rule = "forever/disconnected"};
        case CauseClass::owner_lost:
            return {.times = always, .another_worker = true, .rule = "forever/owner_lost"};
        case CauseClass::crash:
            return {.times = always,
                    .first_wait = seconds(1),
                    .wait_max = seconds(60),
                    .alarming = true,
                    .rule = "forever/crash"};
        default:
            return {.times = always,
                    .first_wait = seconds(1),
                    .wait_max = seconds(60),
                    .rule = "forever/again"};
    }
}

}  // namespace

CauseClass class_of(const AttemptEnd& end) {
    if (end.cause == Cause::cancelled) return CauseClass::cancelled;
    if (end.cause == Cause::timeout_queue) return CauseClass::queue_timeout;
    if (end.cause == Cause::timeout_total) return CauseClass::timed_out;
    if (end.cause == Cause::command_unusable) return CauseClass::unusable;
    if (end.ran == Ran::no) return CauseClass::did_not_run;
    if (end.cause == Cause::evicted || end.cause == Cause::cut_off || end.cause == Cause::suspect)
        return CauseClass::moved;
    switch (end.cause) {
        case Cause::exit:
        case Cause::verdict_permanent: return CauseClass::own_failure;
        case Cause::verdict_retry:
        case Cause::conflict: return CauseClass::conflict;
        case Cause::disconnected: return CauseClass::disconnected;
        // Without a time it is a plain wish to run again, with that wish's budget.
        case Cause::verdict_at: return end.at ? CauseClass::asked_later : CauseClass::conflict;
        case Cause::timeout_run:
        case Cause::timeout_idle: return CauseClass::timed_out;
        case Cause::worker_lost:
        case Cause::host_lost: return end.alone ? CauseClass::crash : CauseClass::owner_lost;
        default: return CauseClass::crash;
    }
}

PolicyRule rule_for(const PolicyChoice& policy, CauseClass c) {
    // These are not the author's to choose: the job did not fail, or a person has spoken.
    switch (c) {
        case CauseClass::cancelled: return {.then = LastResort::cancel, .rule = "any/cancelled"};
        case CauseClass::queue_timeout:
            return {.then = LastResort::expire, .rule = "any/queue_timeout"};
        case CauseClass::unusable: return {.rule = "any/command_unusable"};
        case CauseClass::did_not_run:
            return {.times = always,
                    .first_wait = milliseconds(250),
                    .wait_max = seconds(60),
                    .another_worker = true,
                    .rule = "any/did_not_run"};
        case CauseClass::asked_later:
            if (policy.name != PolicyName::never)
                return {.times = always, .rule = "any/verdict_at"};
            break;
        case CauseClass::moved:
            if (policy.name != PolicyName::never) return {.times = always, .rule = "any/moved"};
            break;
        case CauseClass::own_failure:
            if (policy.name != PolicyName::never && policy.retries > 0)
                return {.times = policy.retries,
                        .first_wait = policy.retry_wait,
                        .wait_max = std::max(policy.retry_wait, policy.retry_wait_max),
                        .growth = policy.growth,
                        .jitter_percent = policy.jitter_percent,
                        .rule = "any/retries"};
            break;
        default: break;
    }
    switch (policy.name) {
        case PolicyName::default_: return standard_rule(c);
        case PolicyName::never: return never_rule(c);
        case PolicyName::forever: return forever_rule(c);
    }
    return standard_rule(c);
}

CauseCounts with(CauseCounts counts, const AttemptEnd& end) {
    if (zoo(Bug::counts_lost_on_reclaim)) counts = {};
    const auto c = class_of(end);
    if (zoo(Bug::crash_not_counted) && c == CauseClass::crash && end.matched == 0) return counts;
    const bool did_not_run = c == CauseClass::did_not_run;
    counts.did_not_run_in_a_row = did_not_run ? counts.did_not_run_in_a_row + 1 : 0;
    if (!end.counted) return counts;
    if (end.matched == 0) {
        ++counts.of[static_cast<std::size_t>(c)];
    } else if (!zoo(Bug::rule_not_counted)) {
        if (counts.of_rules.size() < end.matched) counts.of_rules.resize(end.matched);
        ++counts.of_rules[end.matched - 1U];
    }
    return counts;
}

}  // namespace perdure
