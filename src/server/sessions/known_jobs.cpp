#include "server/sessions/known_jobs.h"

#include <utility>

namespace perdure {

const JobView* KnownJobs::find(JobId id) const {
    for (const auto& job : jobs)
        if (job.id == id) return &job;
    return nullptr;
}

Task<Result<KnownJobs>> known_jobs(Store& store, std::vector<JobId> ids) {
    KnownJobs known;
    const AttemptWindow newest{.max = 1};
    auto all = co_await store.jobs(ids, newest);
    if (all) {
        known.jobs = std::move(*all);
        co_return known;
    }
    if (!all.is(Errc::corrupt)) co_return all.error();
    for (const auto id : ids) {
        std::vector<JobId> one{id};
        auto job = co_await store.jobs(std::move(one), newest);
        if (job.is(Errc::corrupt))
            known.damaged.insert(id);
        else if (!job)
            co_return job.error();
        else
            for (auto& view : *job) known.jobs.push_back(std::move(view));
    }
    co_return known;
}

}  // namespace perdure
