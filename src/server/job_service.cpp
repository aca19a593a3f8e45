#include "server/job_service.h"

#include <memory>
#include <string>
#include <utility>

#include "core/submit.h"

namespace perdure {

namespace {

// Callbacks inherit nothing: their policy is their own word, or only a name to be looked up.
PolicyWish wish_of(const JobSpec& callback) {
    return callback.policy.custom.empty() ? PolicyWish::settled : PolicyWish::chosen;
}

std::optional<RuleFault> find_policy_fault(const PolicyBook& book, const JobSpec& spec,
                                           PolicyWish wish) {
    if (auto refused = decide_policy(book, spec, wish).refused) return refused;
    for (const auto& callback : spec.callbacks) {
        auto refused = find_policy_fault(book, *callback.spec, wish_of(*callback.spec));
        if (refused) return RuleFault{"", "of a callback: " + refused->what};
    }
    return std::nullopt;
}

// Only what comes before it in its batch: so no two can wait for each other.
std::optional<Error> why_not_earlier(const JobRequest& request, std::size_t own_index) {
    for (const auto& entry : request.after_earlier) {
        if (entry.index < own_index) continue;
        return error(Errc::invalid, "after: index " + std::to_string(entry.index) +
                                        " is no earlier job of the same batch");
    }
    return std::nullopt;
}

void settle_policies(const PolicyBook& book, JobSpec& spec, PolicyWish wish) {
    spec.policy = decide_policy(book, spec, wish).policy;
    for (auto& callback : spec.callbacks) {
        auto settled = *callback.spec;
        settle_policies(book, settled, wish_of(settled));
        callback.spec = std::make_shared<const JobSpec>(std::move(settled));
    }
}

Error no_store() { return error(Errc::unavailable, "the store does not answer"); }

}  // namespace

std::optional<SpecFault> JobService::find_fault(const JobRequest& request) const {
    if (auto fault = perdure::find_fault(request.spec)) return fault;
    const auto refused = find_policy_fault(book_, request.spec, request.policy);
    if (!refused) return std::nullopt;
    const auto& [place, what] = *refused;
    return SpecFault{place.empty() ? "policy" : "policy." + place, error(Errc::invalid, what)};
}

// What is compared under an idempotency key is what was asked: the delay, not the date it became;
// the name of a policy, not what the configuration says about it today; and the index of an earlier
// job, not the id that it got.
Submit JobService::change_of(JobRequest request, WallTime now, const std::vector<Submit>& earlier) {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15ULL;
    auto hash = body_hash(request.spec);
    if (request.delay) {
        hash ^= (static_cast<std::uint64_t>(request.delay->us) + 1) * spread;
        request.spec.run_at = now + *request.delay;
    }
    settle_policies(book_, request.spec, request.policy);
    for (const auto& [position, index] : request.after_earlier) {
        hash = (hash ^ (std::uint64_t{index} + 1)) * spread;
        request.spec.after[position].job = earlier[index].id;
    }
    return {.id = commits_.next_job_id(),
            .spec = std::make_shared<const JobSpec>(std::move(request.spec)),
            .body_hash = hash};
}

Task<Result<Submitted>> JobService::submit(JobSpec spec) {
    return submit(JobRequest{.spec = std::move(spec), .policy = PolicyWish::chosen}, WallTime{});
}

Task<Result<Submitted>> JobService::submit(JobRequest request, WallTime now) {
    if (auto wrong = find_fault(request)) co_return wrong->error;
    if (auto wrong = why_not_earlier(request, 0)) co_return *wrong;
    if (!commits_.healthy()) co_return no_store();
    auto change = change_of(std::move(request), now, {});
    dispatcher_.alarm().ring();  // its claim can be part of the same commit
    auto reply = co_await commits_.commit(Lane::submits, std::move(change));
    if (!reply) co_return reply.error();
    co_return std::get<Submitted>(*reply);
}

Task<Result<SubmittedAll>> JobService::submit_all(std::vector<JobRequest> requests, WallTime now) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (auto wrong = find_fault(requests[i]))
            co_return SubmittedAll(RefusedJob{i, std::move(wrong->error)});
        if (auto wrong = why_not_earlier(requests[i], i))
            co_return SubmittedAll(RefusedJob{i, std::move(*wrong)});
    }
    if (!commits_.healthy()) co_return no_store();
    std::vector<Submit> submits;
    submits.reserve(requests.size());
    for (auto& request : requests) submits.push_back(change_of(std::move(request), now, submits));
    SubmitAll change{std::move(submits)};
    dispatcher_.alarm().ring();
    auto reply = co_await commits_.commit(Lane::submits, std::move(change));
    if (!reply) co_return reply.error();
    auto& batch = std::get<BatchSubmitted>(*reply);
    if (batch.refused)
        co_return SubmittedAll(RefusedJob{batch.refused->index, std::move(batch.refused->why)});
    co_return SubmittedAll(std::move(batch.jobs));
}

Task<Result<CallbackAdded>> JobService::add_callback(JobId job, Callback callback) {
    auto spec = *callback.spec;
    if (const auto refused = find_policy_fault(book_, spec, wish_of(spec)))
        co_return error(Errc::invalid, refused->what);
    settle_policies(book_, spec, wish_of(spec));
    callback.spec = std::make_shared<const JobSpec>(std::move(spec));
    if (!commits_.healthy()) co_return no_store();
    AddCallback change{commits_.next_job_id(), job, std::move(callback)};
    auto reply = co_await commits_.commit(Lane::reports, std::move(change));
    if (!reply) co_return reply.error();
    co_return std::get<CallbackAdded>(*reply);
}

Task<Result<Cancelled>> JobService::cancel(JobId job) {
    const Cancel change{job};
    auto reply = co_await commits_.commit(Lane::reports, change);
    if (!reply) co_return reply.error();
    auto cancelled = std::get<Cancelled>(*reply);
    if (cancelled.running && cancelled.session)
        dispatcher_.send(*cancelled.session, KillOrder{*cancelled.running, Cause::cancelled});
    co_return cancelled;
}

Task<Result<JobView>> JobService::job(JobId id) {
    std::vector<JobId> ids{id};
    auto found = co_await store_.jobs(std::move(ids));
    if (!found) co_return found.error();
    if (found->empty()) co_return error(Errc::not_found, "there is no job " + id.text());
    co_return std::move(found->front());
}

Task<Result<void>> JobService::hold(JobId job) { return apply(Hold{job, true}); }

Task<Result<void>> JobService::unhold(JobId job) { return apply(Hold{job, false}); }

Task<Result<void>> JobService::deal_with_quarantined(DealWithQuarantined act) {
    return apply(std::move(act));
}

Task<Result<void>> JobService::define_limit(DefineLimit limit) { return apply(std::move(limit)); }

Task<Result<void>> JobService::pause(PauseQueue pause) { return apply(std::move(pause)); }

Task<Result<void>> JobService::apply(Change change) {
    auto reply = co_await commits_.commit(Lane::reports, std::move(change));
    if (!reply) co_return reply.error();
    co_return Result<void>{};
}

}  // namespace perdure
