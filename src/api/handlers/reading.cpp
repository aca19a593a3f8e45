#include "api/handlers/reading.h"

namespace perdure::handlers {
namespace {

constexpr auto page_patience = seconds(1);
constexpr std::uint64_t page_usual = 50;
constexpr std::uint64_t page_max = 1000;
constexpr std::uint32_t recoveries_of_a_job_max = 100;

}  // namespace

Result<JobId> job_of(const Request& request) {
    const auto id = JobId::parse(request.names.front());
    if (!id) return error(Errc::not_found, "there is no job " + request.names.front());
    return *id;
}

Task<Result<JobView>> read_job(Api& api, ReadTerms terms, JobId id, AttemptWindow attempts) {
    const JobQuery query{.job = id, .attempts = attempts};
    auto shown = co_await api.catalogue.job(query, std::move(terms));
    if (!shown) co_return shown.error();
    co_return std::move(shown->job);
}

PageWalk::PageWalk(Api& api, const Request& request)
    : clock_(api.clock), gone_(request.gone), until_(api.clock.boot() + page_patience) {}

bool PageWalk::goes_on() { return !(gone_ && *gone_) && clock_.boot() < until_; }

RecoveryFilter recoveries_of(const JobView& job) {
    return {.tenant = job.spec->tenant, .job = job.id, .limit = recoveries_of_a_job_max};
}

std::uint32_t read_page_size(QueryReader& query) {
    return static_cast<std::uint32_t>(query.number("limit", page_usual, 1, page_max));
}

std::uint32_t read_large_page_size(QueryReader& query) {
    return static_cast<std::uint32_t>(query.number("limit", page_max, 1, page_max));
}

std::optional<ParseError> expect_nothing(const Request& request) {
    struct Nothing {};
    Nothing nothing;
    if (auto parse_error = read_body<Nothing>(request, {}, nothing)) return parse_error;
    return QueryReader(request).finish();
}

}  // namespace perdure::handlers
