#include "drill/rows/play.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "drill/world/processes.h"

namespace perdure::drill {
namespace {

constexpr double patience_with_leftovers_s = 3;

}  // namespace

Error wrong(std::string what) { return error(Errc::conflict, std::move(what)); }

boost::json::object job_with(const Run& run, const std::string& script) {
    boost::json::object job;
    job["argv"] = boost::json::array{"sh", "-c", script};
    job["env"] = boost::json::object{{"W", run.witness.folder()}};
    job["queue"] = run.name;
    return job;
}

std::string stays_at_first() {
    return fmt::format("{}[ $PERDURE_EPOCH -gt 1 ] || {}{}", says_start, waits_at_gate, says_end);
}

std::string stays() { return fmt::format("{}{}{}", says_start, waits_at_gate, says_end); }

Result<Started> start_job(const Run& run, const boost::json::object& job) {
    const auto id = run.site->api().submit(job);
    if (!id) return id.error();
    const auto trace = run.witness.wait_for_start(*id, 1, patience_s);
    if (!trace) return trace.error();
    return Started{*id, *trace};
}

double without_wait(Moment injected, Moment known, Moment started, double wait_s) {
    return std::max(0.0, seconds_between(injected, known)) +
           std::max(0.0, seconds_between(known, started) - wait_s);
}

Result<JobFacts> check_end(const Run& run, const std::string& id, const Expected& expected) {
    auto job = run.site->api().wait_until_ended(id, long_patience_s);
    if (!job) return job.error();
    std::vector<std::string> causes;
    for (const auto& attempt : job->attempts) causes.push_back(attempt.cause);
    if (job->state != expected.state)
        return wrong(fmt::format("it should be {}, but {}", expected.state, job->story()));
    if (!expected.causes.empty() && causes != expected.causes)
        return wrong(fmt::format("its attempts should have ended by {}, but {}",
                                 fmt::join(expected.causes, ", "), job->story()));
    const auto starts = run.witness.starts(id);
    if (expected.starts > 0 && starts != expected.starts)
        return wrong(fmt::format("it should have started {} times, but its witness saw {}",
                                 expected.starts, starts));
    if (job->state == "succeeded" && !run.witness.ended(id, job->epoch))
        return wrong("it is called succeeded, but its witness saw no end");
    if (auto left = check_nobody_left(run); !left) return left.error();
    return job;
}

Result<void> check_nobody_left(const Run& run) {
    auto gone = until_true(
        patience_with_leftovers_s, "nothing is left over",
        [&] { return run.witness.nobody_left(); }, 0.1);
    if (!gone && !interrupted()) return wrong("processes of the job are left over");
    return gone;
}

Result<Victim> prepare_victim(const Run& run, VictimOptions options) {
    Victim victim;
    auto proxy = Proxy::start(run.site->port());
    if (!proxy) return proxy.error();
    victim.proxy = std::move(*proxy);
    auto worker = run.site->start_worker({.name = run.name + ".a",
                                          .queue = run.name,
                                          .port = victim.proxy->port(),
                                          .settings = options.settings});
    if (!worker) return worker.error();
    victim.worker = std::move(*worker);
    auto first = start_job(run, options.job);
    if (!first) return first.error();
    victim.victim = std::move(*first);
    auto second = start_job(run, job_with(run, stays_at_first()));
    if (!second) return second.error();
    victim.companion = std::move(*second);
    auto rescuer = run.site->start_worker({.name = run.name + ".b", .queue = run.name});
    if (!rescuer) return rescuer.error();
    victim.rescuer = std::move(*rescuer);
    return victim;
}

Result<void> dismiss(const Run& run, const Victim& victim) {
    run.witness.open_gate();
    const auto job = run.site->api().wait_until_ended(victim.companion.job, long_patience_s);
    if (!job) return job.error();
    if (job->state != "succeeded") return wrong("the job beside it: " + job->story());
    return {};
}

}  // namespace perdure::drill
