#include "core/job/batch.h"

namespace perdure {

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
