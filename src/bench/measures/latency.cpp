#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>
#include <chrono>
#include <map>
#include <thread>

#include "bench/job_bodies.h"
#include "bench/measures/measures.h"
#include "testbed/stopwatch.h"
#include "wire/text_time.h"

namespace perdure::bench {
namespace {

constexpr auto between_jobs = std::chrono::milliseconds(10);
constexpr std::size_t page_max = 1000;

using SentAt = std::map<std::string, std::int64_t>;

std::string text_of(const boost::json::value& object, std::string_view name) {
    const auto* text = member(object, name).if_string();
    return text ? std::string(*text) : std::string();
}

Result<SentAt> submit_steadily(Instance& instance, std::size_t jobs) {
    const auto body = noop_job("latency");
    SentAt sent;
    auto next = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < jobs; ++i) {
        std::this_thread::sleep_until(next);
        next += between_jobs;
        const auto now = wall_us();
        const auto answer = instance.post("/v1/jobs", body);
        if (!answer) return answer.error();
        sent[text_of(*answer, "id")] = now;
    }
    return sent;
}

}  // namespace

Result<Spread> measure_latency(Instance& instance, std::size_t jobs) {
    const auto sent = submit_steadily(instance, std::min(jobs, page_max));
    if (!sent) return sent.error();
    if (auto ended = instance.wait_until_ended("latency", sent->size()); !ended)
        return ended.error();
    const auto page = instance.get(fmt::format("/v1/jobs?queue=latency&limit={}", page_max));
    if (!page) return page.error();
    const auto* lines = member(*page, "jobs").if_array();
    Samples samples;
    for (std::size_t i = 0; lines && i < lines->size(); ++i) {
        const auto submitted = sent->find(text_of((*lines)[i], "id"));
        const auto ended = time_value(text_of((*lines)[i], "ended_at"));
        if (submitted == sent->end() || !ended) continue;
        samples.add(static_cast<double>(ended->us - submitted->second) / 1e3);
    }
    if (samples.size() != sent->size())
        return error(Errc::corrupt, "the server does not list all jobs of the latency measure");
    return samples.spread();
}

}  // namespace perdure::bench
