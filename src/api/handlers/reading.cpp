#include "api/handlers/reading.h"

namespace perdure::handlers {
namespace {

constexpr std::uint64_t page_usual = 50;
constexpr std::uint64_t page_max = 1000;
constexpr std::uint32_t recoveries_of_a_job_max = 100;

}  // namespace

Result<JobId> job_of(const Request& request) {
    const auto id = JobId::parse(request.names.front());
    if (!id) return error(Errc::not_found, "there is no job " + request.names.front());
    return *id;
}

RecoveryFilter recoveries_of(const JobView& job) {
    return {.tenant = job.spec->tenant, .job = job.id, .limit = recoveries_of_a_job_max};
}

std::uint32_t read_page_size(QueryReader& query) {
    return static_cast<std::uint32_t>(query.number("limit", page_usual, 1, page_max));
}

std::optional<Misfit> expect_nothing(const Request& request) {
    struct Nothing {};
    Nothing nothing;
    if (auto misfit = read_body<Nothing>(request, {}, nothing)) return misfit;
    return QueryReader(request).finish();
}

}  // namespace perdure::handlers
