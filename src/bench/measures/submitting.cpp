#include "bench/measures/submitting.h"

#include <algorithm>
#include <vector>

#include "bench/job_bodies.h"
#include "bench/load.h"
#include "stage/http_caller.h"

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

Result<double> submit_many(std::uint16_t port, const std::string& job, std::size_t jobs) {
    const auto batch = std::min(batch_size, jobs);
    const auto request = request_bytes("POST", "/v1/jobs", batch_of(job, batch));
    std::vector<std::string> answers;
    const auto took =
        drive({.port = port,
               .connections = submitters,
               .requests = jobs / batch,
               .request = [&](std::size_t) -> std::string_view { return request; },
               .answered = [&](std::string_view body) { answers.emplace_back(body); }});
    if (!took) return took.error();
    std::vector<std::string> ids;
    ids.reserve(jobs);
    for (const auto& answer : answers) collect_ids(answer, ids);
    std::sort(ids.begin(), ids.end());
    const bool twice = std::adjacent_find(ids.begin(), ids.end()) != ids.end();
    if (twice || ids.size() != jobs)
        return error(Errc::corrupt, "the server did not give each job an id of its own");
    return *took;
}

}  // namespace perdure::bench
