#include "api/handlers/reading.h"

#include "api/http/query.h"

namespace perdure::handlers {

Result<JobId> job_of(const Request& request) {
    const auto id = JobId::parse(request.names.front());
    if (!id) return error(Errc::not_found, "there is no job " + request.names.front());
    return *id;
}

std::optional<Misfit> expect_nothing(const Request& request) {
    struct Nothing {};
    Nothing nothing;
    if (auto misfit = read_body<Nothing>(request, {}, nothing)) return misfit;
    return QueryReader(request).finish();
}

}  // namespace perdure::handlers
