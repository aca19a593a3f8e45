// Jobs that mean something to each other: callbacks, callbacks of callbacks, `after`, batches, and
// callbacks that are added at any time.
#include <fmt/format.h>

#include <utility>

#include "base/probe.h"
#include "sim/workloads/clients.h"

namespace perdure::sim {
namespace {

constexpr int levels_max = 3;

On draw_on(Rng& rng) { return static_cast<On>(rng.below(3)); }

}  // namespace

Callback Clients::draw_callback(int level) {
    JobSpec spec{.kind = "work"};
    spec.args = parts_.scripts.add(draw_script(rng_, parts_.plan));
    if (rng_.chance(0.2)) spec.key = fmt::format("key-{}", rng_.below(3));
    if (rng_.chance(0.2)) spec.policy.name = PolicyName::forever;
    if (rng_.chance(0.2)) spec.effects = Effects::once;
    spec.timeouts.run = rng_.between(seconds(2), parts_.plan.job_max * 3);
    if (level < levels_max && rng_.chance(0.3)) spec.callbacks.push_back(draw_callback(level + 1));
    return {draw_on(rng_), std::make_shared<const JobSpec>(std::move(spec))};
}

void Clients::relate(JobSpec& spec) {
    if (rng_.chance(0.2))
        for (auto count = 1 + rng_.below(2); count > 0; --count)
            spec.callbacks.push_back(draw_callback(1));
    if (!known_.empty() && rng_.chance(0.15))
        for (auto count = 1 + rng_.below(2); count > 0; --count)
            spec.after.push_back({known_[rng_.below(known_.size())], draw_on(rng_)});
}

// Parts that run at the same time or one after the other, and one that waits for all of them.
std::vector<JobRequest> Clients::draw_batch() {
    std::vector<JobRequest> batch;
    const auto parts = static_cast<std::uint32_t>(1 + rng_.below(3));
    const bool serial = rng_.chance(0.5);
    const auto wait_for = [&](JobRequest& request, std::uint32_t index, On on) {
        request.after_earlier.push_back({request.spec.after.size(), index});
        request.spec.after.push_back({JobId{}, on});
    };
    for (std::uint32_t i = 0; i < parts; ++i) {
        auto& part =
            batch.emplace_back(JobRequest{.spec = draw_spec(), .policy = PolicyWish::chosen});
        if (serial && i > 0) wait_for(part, i - 1, On::success);
    }
    auto& last = batch.emplace_back(JobRequest{.spec = draw_spec(), .policy = PolicyWish::chosen});
    const auto on = rng_.chance(0.5) ? On::end : On::success;
    for (std::uint32_t i = 0; i < parts; ++i) wait_for(last, i, on);
    return batch;
}

void Clients::note_accepted(const std::string& key, JobId id) {
    auto& history = parts_.history.submits[key];
    if (history.accepted.empty()) ++parts_.history.accepted;
    if (history.accepted.insert(id).second) known_.push_back(id);
}

Task<void> Clients::submit_batch(std::size_t client) {
    const auto batch = draw_batch();
    const auto each = [&](auto act) {
        for (const auto& request : batch)
            act(parts_.history.submits[*request.spec.idempotency_key], request);
    };
    each([](SubmitHistory& history, const JobRequest& request) { history.spec = request.spec; });
    constexpr int tries = 20;
    for (int i = 0; i < tries; ++i) {
        each([](SubmitHistory& history, const JobRequest&) { ++history.sent; });
        auto submit_all = [batch](JobService& jobs) { return jobs.submit_all(batch, WallTime{}); };
        auto answer = co_await ask<SubmittedAll>(client, std::move(submit_all));
        const auto* refused = answer && *answer ? std::get_if<RefusedJob>(&**answer) : nullptr;
        if (answer && *answer && !refused) {
            const auto& jobs = std::get<std::vector<Submitted>>(**answer);
            for (std::size_t j = 0; j < jobs.size(); ++j)
                note_accepted(*batch[j].spec.idempotency_key, jobs[j].id);
            reached<"batch_accepted">();
            co_return;
        }
        const bool said_no = answer && (refused || !answer->is(Errc::outcome_unknown));
        if (said_no) each([](SubmitHistory& history, const JobRequest&) { ++history.refused; });
        if (refused) co_return;
        co_await parts_.world.sleep(lives_[client], rng_.between(milliseconds(100), seconds(2)));
    }
}

Task<void> Clients::add_callback(std::size_t client, JobId job) {
    const auto callback = draw_callback(1);
    auto add_it = [job, callback](JobService& jobs) { return jobs.add_callback(job, callback); };
    auto answer = co_await ask<CallbackAdded>(client, std::move(add_it));
    if (!answer || !*answer) co_return;
    parts_.history.added[job].insert((*answer)->number);
    if ((*answer)->made) reached<"callback_added_after_the_end">();
}

}  // namespace perdure::sim
