#include "server/job_service.h"

#include <memory>
#include <string>
#include <utility>

#include "core/job/submit.h"

namespace perdure {

namespace {

// Callbacks inherit nothing: their policy is their own word, or only a name to be looked up.
PolicyOrigin policy_origin_of(const JobSpec& callback) {
    return callback.policy.custom.empty() ? PolicyOrigin::frozen : PolicyOrigin::chosen;
}

std::optional<RuleFault> find_policy_fault(const PolicyBook& book, const JobSpec& spec,
                                           PolicyOrigin origin) {
    if (auto refused = decide_policy(book, spec, origin).refused) return refused;
    for (const auto& callback : spec.callbacks) {
        auto refused = find_policy_fault(book, *callback.spec, policy_origin_of(*callback.spec));
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

void freeze_policies(const PolicyBook& book, JobSpec& spec, PolicyOrigin origin) {
    spec.policy = decide_policy(book, spec, origin).policy;
    for (auto& callback : spec.callbacks) {
        auto frozen = *callback.spec;
        freeze_policies(book, frozen, policy_origin_of(frozen));
        callback.spec = std::make_shared<const JobSpec>(std::move(frozen));
    }
}

// What decide_quarantine() refuses, for people.
std::string why_not(const std::string& rule) {
    if (rule == "E2/no_late_result")
        return "its result has not come: there is nothing to accept; release or discard it";
    if (rule == "E2/discarded_before") return "it was discarded before: there is nothing to do";
    if (rule == "E2/still_told")
        return "many wait for it and are still being told that it has ended: try again in a moment";
    if (rule == "E2/not_quarantined") return "the job is not in quarantine";
    return rule;
}

Error no_store() { return error(Errc::unavailable, "the store does not answer"); }

}  // namespace

std::optional<SpecFault> JobService::find_fault(const JobRequest& request) const {
    if (auto fault = perdure::find_fault(request.spec)) return fault;
    if (auto fault = find_fault_of_delay(request.delay.value_or(Duration{}))) return fault;
    const auto refused = find_policy_fault(*book_, request.spec, request.policy);
    if (!refused) return std::nullopt;
    const auto& [place, what] = *refused;
    return SpecFault{place.empty() ? "policy" : "policy." + place, error(Errc::invalid, what)};
}

// The hashes are of what was asked, before anything is settled (B1).
Submit JobService::change_of(JobRequest request, WallTime now, const std::vector<Submit>& earlier) {
    const AskedBody asked{request.spec, request.delay, request.after_earlier};
    Submit change{.id = commits_.next_job_id(), .spec = {}, .body_hash = body_hash(asked)};
    if (request.spec.idempotency_key) change.old_hash = old_body_hash(asked);
    if (request.delay) request.spec.run_at = now + *request.delay;
    freeze_policies(*book_, request.spec, request.policy);
    for (const auto& [position, index] : request.after_earlier)
        request.spec.after[position].job = earlier[index].id;
    change.spec = std::make_shared<const JobSpec>(std::move(request.spec));
    return change;
}

Task<Result<Submitted>> JobService::submit(JobSpec spec) {
    return submit(JobRequest{.spec = std::move(spec), .policy = PolicyOrigin::chosen}, WallTime{});
}

Task<Result<Submitted>> JobService::submit(JobRequest request, WallTime now,
                                           std::optional<ByAttempt> by) {
    if (auto wrong = find_fault(request)) co_return wrong->error;
    if (auto wrong = why_not_earlier(request, 0)) co_return *wrong;
    if (!commits_.healthy()) co_return no_store();
    auto change = change_of(std::move(request), now, {});
    change.by = by;
    dispatcher_.alarm().ring();  // its claim can be part of the same commit
    auto reply = co_await commits_.commit(Lane::submits, std::move(change));
    if (!reply) co_return reply.error();
    co_return std::get<Submitted>(*reply);
}

Task<Result<SubmittedAll>> JobService::submit_all(std::vector<JobRequest> requests, WallTime now,
                                                  std::optional<ByAttempt> by) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (auto wrong = find_fault(requests[i]))
            co_return SubmittedAll(RefusedJob{i, std::move(wrong->error), std::move(wrong->field)});
        if (auto wrong = why_not_earlier(requests[i], i))
            co_return SubmittedAll(RefusedJob{i, std::move(*wrong)});
    }
    if (!commits_.healthy()) co_return no_store();
    std::vector<Submit> submits;
    submits.reserve(requests.size());
    for (auto& request : requests) submits.push_back(change_of(std::move(request), now, submits));
    SubmitAll change{std::move(submits), by};
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
    if (const auto refused = find_policy_fault(*book_, spec, policy_origin_of(spec)))
        co_return error(Errc::invalid, refused->what);
    freeze_policies(*book_, spec, policy_origin_of(spec));
    callback.spec = std::make_shared<const JobSpec>(std::move(spec));
    if (!commits_.healthy()) co_return no_store();
    AddCallback change{commits_.next_job_id(), job, std::move(callback)};
    auto reply = co_await commits_.commit(Lane::reports, std::move(change));
    if (!reply) co_return reply.error();
    co_return std::get<CallbackAdded>(*reply);
}

Task<Result<Cancelled>> JobService::cancel(Cancel change) {
    auto reply = co_await commits_.commit(Lane::reports, std::move(change));
    if (!reply) co_return reply.error();
    auto cancelled = std::get<Cancelled>(*reply);
    if (cancelled.running && cancelled.session)
        dispatcher_.send(*cancelled.session, KillOrder{*cancelled.running, Cause::cancelled});
    co_return cancelled;
}

Task<Result<JobView>> JobService::job(JobId id) {
    std::vector<JobId> ids{id};
    const AttemptWindow newest{.max = 1};
    auto found = co_await store_.jobs(std::move(ids), newest);
    if (!found) co_return found.error();
    if (found->empty()) co_return error(Errc::not_found, "there is no job " + id.text());
    co_return std::move(found->front());
}

Task<Result<void>> JobService::hold(Hold change) { return apply(std::move(change)); }

// One that can be reached is stopped first, whatever the person says about it.
Task<Result<void>> JobService::make_sure_it_is_dead(OldProcess old, bool may_still_run) {
    ReleaseFacts facts{.aftermath = old.aftermath, .end_since = {}, .may_still_run = may_still_run};
    if (old_processes_.stop(old))
        facts.end_since = co_await old_processes_.wait_for_its_end(old.attempt);
    switch (decide_release(facts).release) {
        case Release::goes_on: break;
        case Release::result_came:
            co_return error(Errc::conflict,
                            "its old process has ended with success just now: accept that result, "
                            "or release the job once more");
        case Release::may_still_run: co_return error(Errc::conflict, may_still_run_text(old));
    }
    co_return Result<void>{};
}

Task<Result<void>> JobService::deal_with_quarantined(DealWithQuarantined act) {
    auto before = co_await job(act.job);
    if (!before) co_return before.error();
    if (before->state != JobState::quarantined)
        co_return error(Errc::conflict, "the job is not in quarantine");
    auto old = co_await old_processes_.find(act.job);
    if (!old) co_return old.error();
    const bool alive = old->aftermath != Aftermath::dead;
    if (act.action == QuarantineAction::release) {
        auto dead = co_await make_sure_it_is_dead(*old, act.may_still_run);
        if (!dead) co_return dead;
        // The attempt's own row does not know that its host was started anew since.
        act.may_still_run = act.may_still_run || !alive;
    }
    auto done = co_await apply(act);
    if (done.is(Errc::conflict)) co_return error(Errc::conflict, why_not(done.error().what));
    if (done && alive && act.action == QuarantineAction::discard) old_processes_.stop(*old);
    co_return done;
}

Task<Result<void>> JobService::define_limit(DefineLimit limit) { return apply(std::move(limit)); }

Task<Result<void>> JobService::pause(PauseQueue pause) { return apply(std::move(pause)); }

Task<Result<void>> JobService::apply(Change change) {
    auto reply = co_await commits_.commit(Lane::reports, std::move(change));
    if (!reply) co_return reply.error();
    co_return Result<void>{};
}

}  // namespace perdure
