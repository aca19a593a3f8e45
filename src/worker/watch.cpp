#include "worker/watch.h"

#include <algorithm>

#include "base/probe.h"
#include "core/worker/worker_rules.h"

namespace perdure {
namespace {

constexpr Duration period = seconds(1);

WorkerKillFacts kill_facts(const Attempt& attempt, BootTime now) {
    return {.terms = attempt.terms,
            .may_run = attempt.may_run() && !attempt.cut_off,
            .lease_until = attempt.lease_until,
            .now = now};
}

}  // namespace

Watch::Watch(WorkerContext& context, AttemptTable& table, Supervisor& supervisor)
    : context_(context), table_(table), supervisor_(supervisor) {}

Task<void> Watch::run() {
    while (!context_.stop.requested()) {
        kill_overdue(When::any_time);
        notify_shims();
        supervisor_.give_up_old_progress();
        ring_for_expired_goes();
        co_await context_.watch_bell->wait(until_next());
    }
}

void Watch::notify_shims() {
    for (const auto& [key, attempt] : table_.all()) {
        if (attempt.phase == Attempt::Phase::ended) continue;
        context_.ports.processes.renew(key, attempt.lease_until.value_or(BootTime{}));
    }
}

void Watch::kill_overdue(When when) {
    const auto now = context_.now();
    std::vector<AttemptKey> overdue;  // hardly ever any: this is looked at before every call
    for (const auto& [key, attempt] : table_.all()) {
        if (attempt.phase == Attempt::Phase::ended) continue;
        auto facts = kill_facts(attempt, now);
        facts.about_to_send = when == When::before_sending;
        const auto kill = decide_worker_kill(facts, context_.options.timing);
        if (!kill.at || now < *kill.at) continue;
        reached<"worker_killed_for_a_lease">();
        context_.log.write(Level::warn, "lease is over", "job", key.job.text(), "epoch",
                           key.epoch.value, "rule", kill.rule);
        overdue.push_back(key);
    }
    for (const auto key : overdue) supervisor_.disown(key);
}

void Watch::ring_for_expired_goes() {
    for (const auto& [key, attempt] : table_.all()) {
        const bool waits = attempt.phase == Attempt::Phase::ordered && attempt.go_until;
        if (waits && *attempt.go_until <= context_.now()) context_.report_bell->ring();
    }
}

Duration Watch::until_next() const {
    const auto now = context_.now();
    auto next = now + period;
    for (const auto& [key, attempt] : table_.all()) {
        const auto kill = decide_worker_kill(kill_facts(attempt, now), context_.options.timing);
        if (kill.at) next = std::min(next, *kill.at);
        // An expired go has rung already; the reporter may be slow with it.
        const bool good = attempt.go_until && *attempt.go_until > now;
        if (attempt.phase == Attempt::Phase::ordered && good)
            next = std::min(next, *attempt.go_until);
        if (!attempt.progress.empty()) next = std::min(next, attempt.progress.front().give_up_at);
    }
    return std::max(next - now, Duration{});
}

}  // namespace perdure
