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
