#include "bench/measures/submitting.h"

#include <algorithm>
#include <vector>

#include "bench/job_bodies.h"
#include "bench/load.h"
#include "testbed/http_caller.h"

namespace perdure::bench {
namespace {

constexpr std::size_t submitters = 4;
constexpr std::string_view id_name = R"("id":")";
constexpr std::size_t id_size = 13;

void collect_ids(std::string_view body, std::vector<std::string>& into) {
    for (auto at = body.find(id_name); at != std::string_view::npos;
         at = body.find(id_name, at + id_size))
        into.emplace_back(body.substr(at + id_name.size(), id_size));
}

}  // namespace

Result<double> submit_batches(const Batches& batches) {
    std::vector<std::string> requests;
    for (std::size_t i = 0; i < batches.count; ++i)
        requests.push_back(request_bytes("POST", "/v1/jobs", batches.body(i)));
    std::vector<std::string> answers;
    const auto took =
        drive({.port = batches.port,
               .connections = submitters,
               .requests = batches.count,
               .limit_s = batches.limit_s,
               .request = [&](std::size_t i) -> std::string_view { return requests[i]; },
               .answered = [&](std::string_view body) { answers.emplace_back(body); }});
    if (!took) return took.error();
    std::vector<std::string> ids;
    ids.reserve(batches.jobs);
    for (const auto& answer : answers) collect_ids(answer, ids);
    std::sort(ids.begin(), ids.end());
    const bool twice = std::adjacent_find(ids.begin(), ids.end()) != ids.end();
    if (twice || ids.size() != batches.jobs)
        return error(Errc::corrupt, "the server did not give each job an id of its own");
    return *took;
}

Result<double> submit_many(std::uint16_t port, const std::string& job, std::size_t jobs) {
    const auto batch = std::min(batch_size, jobs);
    const auto body = batch_of(job, batch);
    return submit_batches({.port = port,
                           .count = jobs / batch,
                           .body = [&](std::size_t) { return body; },
                           .jobs = jobs});
}

}  // namespace perdure::bench
