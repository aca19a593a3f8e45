#include <fmt/format.h>

#include "drill/rows/all.h"
#include "drill/rows/play.h"
#include "drill/world/processes.h"

namespace perdure::drill {
namespace {

std::string armed_once(const std::string& fault) {
    return fmt::format("debug.faults={}=100%x1", fault);
}

// A worker of its own at which this goes wrong once. The clock runs from the submit: what fails is
// a part of the start.
Result<double> start_with(const Run& run, const std::string& fault,
                          const std::vector<std::string>& causes) {
    const auto worker = run.site->start_worker(
        {.name = run.name, .queue = run.name, .settings = {armed_once(fault)}});
    if (!worker) return worker.error();
    const auto began = now();
    const auto id = run.site->api().submit(job_with(run, std::string(says_start) + says_end));
    if (!id) return id.error();
    const auto job = check_end(run, *id, {.causes = causes, .starts = 1});
    if (!job) return job.error();
    return seconds_between(began, run.witness.started(*id, job->epoch)->at);
}

}  // namespace

Result<double> assignment_is_lost(const Run& run) {
    return start_with(run, "worker.assignment_lost", {"exit"});
}

Result<double> shim_is_not_launched(const Run& run) {
    return start_with(run, "shim.not_launched", {"shim_failed", "exit"});
}

Result<double> lock_is_held(const Run& run) {
    return start_with(run, "worker.lock_held", {"lock_busy", "exit"});
}

Result<double> process_cannot_be_set_up(const Run& run) {
    return start_with(run, "shim.exec_fails", {"no_resources", "exit"});
}

Result<double> clean_up_fails(const Run& run) {
    const auto worker = run.site->start_worker(
        {.name = run.name, .queue = run.name, .settings = {armed_once("shim.tree_survives")}});
    if (!worker) return worker.error();
    return leaves_a_tree_behind(run);
}

namespace {

constexpr int tried_on_a_deaf_worker = 3;  // then it is known to be deaf

bool is_called_deaf(const Run& run, const std::string& worker) {
    const auto answer = run.site->api().get("/v1/workers");
    if (!answer) return false;
    for (const auto& line : member(*answer, "workers").as_array())
        if (text_of(line, "worker") == worker) return member(line, "deaf") == true;
    return false;
}

}  // namespace

// It is heard and starts nothing. Three jobs are tried there, and run elsewhere; it is told of.
Result<double> worker_is_deaf(const Run& run) {
    const auto& site = *run.site;
    const auto deaf_name = run.name + ".a";
    const auto deaf = site.start_worker({.name = deaf_name,
                                         .queue = run.name,
                                         .slots = tried_on_a_deaf_worker,
                                         .settings = {"debug.faults=worker.start_hangs"}});
    if (!deaf) return deaf.error();
    const auto injected = now();
    std::vector<std::string> jobs;
    for (int i = 0; i < tried_on_a_deaf_worker; ++i) {
        const auto id = site.api().submit(job_with(run, std::string(says_start) + says_end));
        if (!id) return id.error();
        const auto given = site.api().wait_until(
            *id, patience_s, "the job is assigned",
            [](const JobFacts& job) { return job.state == "starting"; }, 0.01);
        if (!given) return given.error();
        jobs.push_back(*id);
    }
    const auto other = site.start_worker(
        {.name = run.name + ".b", .queue = run.name, .slots = tried_on_a_deaf_worker});
    if (!other) return other.error();
    Moment last = injected;
    for (const auto& id : jobs) {
        const auto job = check_end(run, id, {.causes = {"evicted", "exit"}, .starts = 1});
        if (!job) return job.error();
        last = std::max(last, run.witness.started(id, 2)->at);
    }
    if (!is_called_deaf(run, deaf_name)) return wrong("nobody says that the worker is deaf");
    return seconds_between(injected, last);
}

// Half of all commits of an end are aborted at first. Nobody sees it.
Result<double> store_conflicts(const Run& run) {
    auto site = Site::open({.folder = run.folder, .settings = {"debug.faults=store.conflict=50%"}});
    if (!site) return site.error();
    const Run here{site->get(), run.folder, run.name, run.witness};
    auto measured = exits_without_a_word(here);
    if (!measured) return measured;
    if (auto off = here.site->see_neighbours_off(); !off) return off.error();
    return measured;
}

}  // namespace perdure::drill
