#include "sim/workloads/clients.h"

#include <fmt/format.h>

#include <utility>

#include "base/probe.h"
#include "sim/workloads/draw_policies.h"

namespace perdure::sim {
namespace {

Task<Result<bool>> hold_job(JobService& jobs, JobId job) { return as_bool(jobs.hold(Hold{job})); }
Task<Result<bool>> unhold_job(JobService& jobs, JobId job) {
    return as_bool(jobs.hold(Hold{job, false}));
}
Task<Result<bool>> deal(JobService& jobs, DealWithQuarantined act) {
    return as_bool(jobs.deal_with_quarantined(act));
}

}  // namespace

Clients::Clients(Parts parts) : parts_(parts), rng_(parts.world.split_rng()) {
    for (std::uint32_t i = 0; i < parts_.plan.clients; ++i)
        lives_.push_back(parts_.world.new_life());
}

void Clients::start(TrueTime until) {
    for (std::size_t i = 0; i < lives_.size(); ++i) parts_.world.spawn(live(i, until));
    const auto faults_end = TrueTime{parts_.plan.faults_end.us};
    if (parts_.plan.mode == Mode::liveness) parts_.world.spawn(let_all_go_on(0, faults_end));
}

JobSpec Clients::draw_spec(const std::string& tenant) {
    const auto& plan = parts_.plan;
    JobSpec spec{.tenant = tenant, .queue = draw_of(plan.queues), .kind = draw_of(plan.kinds)};
    if (rng_.chance(0.02)) spec.kind = unserved_kind;
    auto script = draw_script(rng_, plan);
    spec.priority = static_cast<std::uint8_t>(rng_.below(10));
    const auto effects = rng_.below(5);
    if (effects <= 1) spec.effects = Effects::resumable;
    if (effects == 2) spec.effects = Effects::once;
    // Some outlive their lease and `hold`, so that they are in quarantine and run.
    const bool outlives =
        spec.effects == Effects::once && plan.mode == Mode::safety && rng_.chance(0.5);
    if (outlives) script.length = seconds(60);
    spec.args = parts_.scripts.add(std::move(script));
    if (rng_.chance(0.3)) spec.key = fmt::format("key-{}", rng_.below(3));
    if (rng_.chance(0.2)) spec.limits.push_back("pool");
    const auto policy = rng_.below(8);
    if (policy == 0) spec.policy.name = PolicyName::never;
    if (policy == 1) spec.policy.name = PolicyName::forever;
    if (policy == 2 && spec.effects != Effects::once) spec.policy.retries = 2;
    if (rng_.chance(0.3)) spec.policy.rules = draw_rules(rng_, spec.effects);
    // Half of those that choose nothing inherit: the worker that has one may have its own policy.
    if (policy >= 5 && spec.policy.rules.empty()) spec.policy.level = PolicyLevel::server;
    spec.timeouts.run = outlives ? plan.length : rng_.between(seconds(2), plan.job_max * 3);
    if (rng_.chance(0.15)) spec.timeouts.queue = rng_.between(seconds(1), seconds(20));
    if (rng_.chance(0.1)) spec.timeouts.total = rng_.between(seconds(2), seconds(60));
    if (rng_.chance(0.1)) spec.hold = rng_.between(seconds(0), seconds(10));
    if (rng_.chance(0.1))
        spec.run_at = parts_.cluster.server(0).time.wall(parts_.world.now()) +
                      rng_.between(seconds(-5), seconds(15));
    relate(spec);
    if (plan.has(Fault::poison_request) && rng_.chance(0.05)) spec.kind = poison_kind;
    if (plan.has_backlogs) spec.priority = backlog_priority;
    const auto number = ++last_key_[tenant];
    spec.share = plan.shares[number % plan.shares.size()];
    spec.idempotency_key = fmt::format("submit-{}", number);
    return spec;
}

// A single client may spend its time on other things than submits: it gets some more, for submits
// alone, so that few runs show little.
bool Clients::is_done(TrueTime until) const {
    constexpr auto longest_overtime = seconds(30);
    const auto now = parts_.world.now();
    if (now < until) return false;
    return parts_.history.accepted >= accepted_least || now >= until + longest_overtime;
}

Task<void> Clients::live(std::size_t client, TrueTime until) {
    if (client == 0) co_await prepare_limits(client);
    while (!is_done(until)) {
        const bool overtime = parts_.world.now() >= until;
        const auto usual = parts_.plan.submit_every * 2;
        const auto wait = rng_.between(milliseconds(1), overtime ? seconds(2) : usual);
        co_await parts_.world.sleep(lives_[client], wait);
        if (is_done(until)) break;
        if (overtime) {
            co_await submit(client, draw_spec(draw_tenant()));
            continue;
        }
        if (rng_.chance(0.1)) co_await change_settings(client);
        if (!known_.empty() && rng_.chance(0.25)) {
            co_await meddle(client);
            continue;
        }
        if (parts_.plan.has_backlogs && rng_.chance(0.1)) {
            co_await submit_batch(client, draw_backlog(draw_tenant()));
            continue;
        }
        if (rng_.chance(0.15)) {
            co_await submit_batch(client, draw_batch());
            continue;
        }
        co_await submit(client, draw_spec(draw_tenant()));
    }
}

Task<std::optional<JobId>> Clients::submit(std::size_t client, JobSpec spec) {
    const auto key = submit_key(spec);
    parts_.history.submits[key].spec = spec;
    constexpr int tries = 20;
    for (int i = 0; i < tries; ++i) {
        parts_.history.submits[key].note_sent(parts_.world.now());
        auto submit_it = [spec](JobService& jobs) { return jobs.submit(spec); };
        auto answer = co_await ask<Submitted>(client, std::move(submit_it));
        auto& history = parts_.history.submits[key];
        if (answer && *answer) {
            const auto id = (*answer)->id;
            note_accepted(key, id);
            if (i > 0 && !(*answer)->created) reached<"repeated_submit_found_its_job">();
            parts_.world.trace(
                fmt::format("client {}: {} of {} is {}", client, key.key, key.tenant, id.text()));
            if (!rng_.chance(0.05)) co_return id;
            reached<"submit_repeated_after_its_answer">();
            continue;  // its author did not see the answer
        }
        if (answer && answer->is(Errc::gone)) {
            history.gone = true;
            reached<"repeated_submit_found_it_gone">();
            co_return std::nullopt;
        }
        if (answer && !answer->is(Errc::outcome_unknown)) ++history.refused;
        if (answer && answer->is(Errc::invalid)) co_return std::nullopt;  // no such limit yet
        co_await parts_.world.sleep(lives_[client], rng_.between(milliseconds(100), seconds(2)));
    }
    co_return std::nullopt;
}

Task<void> Clients::meddle(std::size_t client) {
    const auto known = known_[rng_.below(known_.size())];
    const auto job = known.id;
    switch (rng_.below(7)) {
        case 0: co_await cancel(client, job); break;
        case 1:
        case 2: co_await deal_with(client); break;
        case 3: co_await hold_for_a_while(client, job); break;
        case 4: co_await add_callback(client, known); break;
        case 5:  // its author asks once more, long after
            if (auto spec = draw_submitted()) co_await submit(client, std::move(*spec));
            break;
        default: {
            auto look = [job](JobService& jobs) { return jobs.job(job); };
            co_await ask<JobView>(client, look);
        }
    }
}

Task<void> Clients::hold_for_a_while(std::size_t client, JobId job) {
    auto hold_it = [job](JobService& jobs) { return hold_job(jobs, job); };
    auto held = co_await ask<bool>(client, hold_it);
    const bool refused = held && !*held;  // no answer: it may be held
    if (refused) co_return;
    reached<"job_held">();
    co_await parts_.world.sleep(lives_[client], rng_.between(seconds(1), seconds(8)));
    for (;;) {  // whoever holds a job lets it go on
        auto let_it_go = [job](JobService& jobs) { return unhold_job(jobs, job); };
        auto let_go = co_await ask<bool>(client, let_it_go);
        const bool is_there = let_go && !let_go->is(Errc::not_found) && !let_go->is(Errc::gone);
        if (let_go && (*let_go || let_go->is(Errc::conflict) || !is_there)) break;
        co_await parts_.world.sleep(lives_[client], seconds(1));
    }
}

Task<void> Clients::cancel(std::size_t client, JobId job) {
    auto look = [job](JobService& jobs) { return jobs.job(job); };
    auto cancel_it = [job](JobService& jobs) { return jobs.cancel(Cancel{job}); };
    auto before = co_await ask<JobView>(client, look);
    auto answer = co_await ask<Cancelled>(client, cancel_it);
    if (!answer || !*answer || !before || !*before) co_return;
    if ((*answer)->kind == CancelDecision::Kind::already_ended) co_return;
    auto after = co_await ask<JobView>(client, look);
    if (!after || !*after || (*after)->generation != (*before)->generation) co_return;
    // The epoch after the answer: nothing newer may start.
    parts_.history.cancels[job] = {(*after)->epoch, (*after)->generation};
    reached<"cancel_acknowledged">();
}

// Whoever deals with quarantine looks for it.
Task<JobId> Clients::find_quarantined(std::size_t client) {
    constexpr int looks = 12;
    for (int i = 0; i < looks; ++i) {
        const auto job = known_[rng_.below(known_.size())].id;
        auto look = [job](JobService& jobs) { return jobs.job(job); };
        auto view = co_await ask<JobView>(client, look);
        if (view && *view && (*view)->state == JobState::quarantined) co_return job;
    }
    co_return JobId{};
}

Task<void> Clients::deal_with(std::size_t client) {
    const auto drawn = rng_.below(3);
    const auto action =
        rng_.chance(0.3) ? QuarantineAction::release : static_cast<QuarantineAction>(drawn);
    const auto job = co_await find_quarantined(client);
    if (!job) co_return;
    const bool release = action == QuarantineAction::release;
    const bool flagged = release && rng_.chance(0.3);
    parts_.history.dealt_with.insert(job);
    if (release) ++parts_.history.releases[job];
    if (flagged) parts_.history.flagged_releases.insert(job);
    auto deal_with_it = [job, action, flagged](JobService& jobs) {
        return deal(jobs, DealWithQuarantined{job, action, flagged});
    };
    auto done = co_await ask<bool>(client, deal_with_it);
    if (done && *done) reached<"quarantine_dealt_with">();
    if (done && *done && release && !flagged) reached<"quarantine_released_without_the_flag">();
}

}  // namespace perdure::sim
