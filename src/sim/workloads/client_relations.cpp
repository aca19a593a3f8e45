// Jobs that mean something to each other: callbacks, callbacks of callbacks, `after`, batches, and
// callbacks that are added at any time.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/probe.h"
#include "sim/workloads/clients.h"

namespace perdure::sim {
namespace {

constexpr int levels_max = 3;

Trigger draw_on(Rng& rng) { return static_cast<Trigger>(rng.below(3)); }

}  // namespace

Callback Clients::draw_callback(int level, const std::string& tenant) {
    JobSpec spec{.tenant = tenant, .queue = draw_of(parts_.plan.queues), .kind = {}};
    spec.kind = draw_of(parts_.plan.kinds);
    spec.args = parts_.scripts.add(draw_script(rng_, parts_.plan));
    if (rng_.chance(0.2)) spec.key = fmt::format("key-{}", rng_.below(3));
    if (rng_.chance(0.2)) spec.policy.name = PolicyName::forever;
    if (rng_.chance(0.2)) spec.effects = Effects::once;
    spec.timeouts.run = rng_.between(seconds(2), parts_.plan.job_max * 3);
    if (level < levels_max && rng_.chance(0.3))
        spec.callbacks.push_back(draw_callback(level + 1, tenant));
    return {draw_on(rng_), std::make_shared<const JobSpec>(std::move(spec))};
}

void Clients::relate(JobSpec& spec) {
    if (rng_.chance(0.2))
        for (auto count = 1 + rng_.below(2); count > 0; --count)
            spec.callbacks.push_back(draw_callback(1, spec.tenant));
    if (!known_.empty() && rng_.chance(0.15))
        for (auto count = 1 + rng_.below(2); count > 0; --count)
            spec.after.push_back({known_[rng_.below(known_.size())].id, draw_on(rng_)});
}

// One that was accepted before, unless it was part of a batch and waited for another part.
std::optional<JobSpec> Clients::draw_submitted() {
    if (known_.empty()) return std::nullopt;
    const auto& known = known_[rng_.below(known_.size())];
    const auto& spec = parts_.history.submits.at({known.tenant, known.key}).spec;
    const auto by_index = [](const After& after) { return after.job == JobId{}; };
    if (std::any_of(spec.after.begin(), spec.after.end(), by_index)) return std::nullopt;
    return spec;
}

// Parts that run at the same time or one after the other, and one that waits for all of them.
std::vector<JobRequest> Clients::draw_batch() {
    std::vector<JobRequest> batch;
    const auto tenant = draw_tenant();
    const bool mixed = rng_.chance(0.1);
    const auto add = [&]() -> JobRequest& {
        // Seldom for somebody else: then those that wait for it are refused, and all with them.
        auto spec = draw_spec(mixed && rng_.chance(0.3) ? draw_tenant() : tenant);
        // Seldom one that was submitted before: it is found, and counts for those that wait for it.
        const auto before = rng_.chance(0.1) ? draw_submitted() : std::nullopt;
        if (before) {
            reached<"batch_with_a_job_that_was_there">();
            spec = *before;
        }
        return batch.emplace_back(
            JobRequest{.spec = std::move(spec), .policy = PolicyOrigin::chosen});
    };
    const auto parts = static_cast<std::uint32_t>(1 + rng_.below(3));
    const bool serial = rng_.chance(0.5);
    const auto wait_for = [&](JobRequest& request, std::uint32_t index, Trigger on) {
        request.after_earlier.push_back({request.spec.after.size(), index});
        request.spec.after.push_back({JobId{}, on});
    };
    for (std::uint32_t i = 0; i < parts; ++i) {
        auto& part = add();
        if (serial && i > 0) wait_for(part, i - 1, Trigger::success);
    }
    auto& last = add();
    const auto on = rng_.chance(0.5) ? Trigger::end : Trigger::success;
    for (std::uint32_t i = 0; i < parts; ++i) wait_for(last, i, on);
    return batch;
}

void Clients::note_accepted(const SubmitKey& key, JobId id) {
    auto& history = parts_.history.submits[key];
    if (history.accepted.empty()) ++parts_.history.accepted;
    if (history.accepted.insert(id).second) known_.push_back({id, key.tenant, key.key});
}

// All of one queue and one share: others must have their turn meanwhile (E7).
std::vector<JobRequest> Clients::draw_backlog(const std::string& tenant) {
    const auto& plan = parts_.plan;
    const Script quick{.length = milliseconds(300)};
    std::vector<JobRequest> batch(backlog_size);
    const auto queue = draw_of(plan.queues);
    const auto share = draw_of(plan.shares);
    for (auto& request : batch) {
        request.spec = {.tenant = tenant, .queue = queue, .kind = plan.kinds[0], .share = share};
        request.spec.args = parts_.scripts.add(quick);
        request.spec.priority = backlog_priority;
        request.spec.idempotency_key = fmt::format("submit-{}", ++last_key_[tenant]);
    }
    return batch;
}

Task<void> Clients::submit_batch(std::size_t client, std::vector<JobRequest> batch) {
    const auto each = [&](auto act) {
        for (const auto& request : batch)
            act(parts_.history.submits[submit_key(request.spec)], request);
    };
    each([](SubmitHistory& history, const JobRequest& request) { history.spec = request.spec; });
    constexpr int tries = 20;
    for (int i = 0; i < tries; ++i) {
        const auto now = parts_.world.now();
        each([now](SubmitHistory& history, const JobRequest&) { history.note_sent(now); });
        auto submit_all = [batch](JobService& jobs) { return jobs.submit_all(batch, WallTime{}); };
        auto answer = co_await ask<SubmittedAll>(client, std::move(submit_all));
        const auto* refused = answer && *answer ? std::get_if<RefusedJob>(&**answer) : nullptr;
        if (answer && *answer && !refused) {
            const auto& jobs = std::get<std::vector<Submitted>>(**answer);
            for (std::size_t j = 0; j < jobs.size(); ++j)
                note_accepted(submit_key(batch[j].spec), jobs[j].id);
            reached<"batch_accepted">();
            co_return;
        }
        const bool said_no = answer && (refused || !answer->is(Errc::outcome_unknown));
        if (said_no) each([](SubmitHistory& history, const JobRequest&) { ++history.refused; });
        if (refused) co_return;
        co_await parts_.world.sleep(lives_[client], rng_.between(milliseconds(100), seconds(2)));
    }
}

Task<void> Clients::add_callback(std::size_t client, const Known& known) {
    const auto job = known.id;
    const auto callback = draw_callback(1, known.tenant);
    auto add_it = [job, callback](JobService& jobs) { return jobs.add_callback(job, callback); };
    auto answer = co_await ask<CallbackAdded>(client, std::move(add_it));
    if (!answer || !*answer) co_return;
    parts_.history.added[job].insert((*answer)->number);
    if ((*answer)->made) reached<"callback_added_after_the_end">();
}

}  // namespace perdure::sim
