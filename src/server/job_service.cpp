#include "server/job_service.h"

#include <memory>
#include <utility>

#include "core/submit.h"

namespace perdure {

Task<Result<Submitted>> JobService::submit(JobSpec spec) {
    if (auto wrong = check_spec(spec)) co_return *wrong;
    if (!commits_.healthy()) co_return error(Errc::unavailable, "the store does not answer");
    const auto hash = body_hash(spec);
    Submit change{.id = commits_.next_job_id(),
                  .spec = std::make_shared<const JobSpec>(std::move(spec)),
                  .body_hash = hash};
    auto reply = co_await commits_.commit(Lane::submits, std::move(change));
    if (!reply) co_return reply.error();
    co_return std::get<Submitted>(*reply);
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
