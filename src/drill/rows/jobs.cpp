#include <fmt/format.h>
#include <signal.h>

#include "drill/rows/all.h"
#include "drill/rows/play.h"
#include "drill/world/processes.h"
#include "testbed/child.h"

namespace perdure::drill {
namespace {

constexpr double kill_grace_s = 5;
constexpr double run_timeout_s = 1;
constexpr const char* ignores_sigterm = "trap '' TERM\n";

Result<double> measure_crash(const Run& run, const Started& first, Moment injected,
                             const Expected& expected) {
    const auto second = run.witness.wait_for_start(first.job, 2, patience_s);
    if (!second) return second.error();
    const auto job = check_end(run, first.job, expected);
    if (!job) return job.error();
    return without_wait(injected, job->attempts.front().ended_at, second->at, crash_wait_s);
}

Moment kill_it(pid_t process) {
    const auto at = now();
    ::kill(process, SIGKILL);
    return at;
}

}  // namespace

Result<double> cannot_be_launched(const Run& run) {
    auto wanted = job_with(run, "");
    wanted["argv"] = boost::json::array{"/no/such/program"};
    const auto began = now();
    const auto id = run.site->api().submit(wanted);
    if (!id) return id.error();
    const auto job = check_end(run, *id, {.state = "failed", .causes = {"command_unusable"}});
    if (!job) return job.error();
    return seconds_between(began, job->ended_at);
}

Result<double> killed_before_checkpoint(const Run& run) {
    const auto first = start_job(run, job_with(run, stays_at_first()));
    if (!first) return first.error();
    const auto injected = kill_it(first->trace.process());
    return measure_crash(run, *first, injected, {.causes = {"crash(signal)", "exit"}, .starts = 2});
}

Result<double> killed_after_checkpoint(const Run& run) {
    // The first attempt saves a state and stays; the second one shows what it was given.
    const auto script = fmt::format(
        "{}if [ $PERDURE_EPOCH -gt 1 ]; then cp \"$PERDURE_CHECKPOINT\" \"$W/given\"; else\n"
        "echo half | '{}' checkpoint && : >\"$W/saved\"\n{}fi\n{}",
        says_start, own_program(), waits_at_gate, says_end);
    auto wanted = job_with(run, script);
    wanted["effects"] = "resumable";
    const auto first = start_job(run, wanted);
    if (!first) return first.error();
    const auto saved = until<Trace>(patience_s, "the checkpoint is saved",
                                    [&] { return run.witness.left("saved"); });
    if (!saved) return saved.error();
    const auto injected = kill_it(first->trace.process());
    auto measured =
        measure_crash(run, *first, injected, {.causes = {"crash(signal)", "exit"}, .starts = 2});
    if (!measured) return measured;
    const auto given = run.witness.left("given");
    if (!given || given->words != "half\n")
        return wrong("the second attempt was not given the checkpoint of the first");
    return measured;
}

Result<double> hangs(const Run& run) {
    auto wanted = job_with(
        run, fmt::format("{}{}while :; do {}done\n", ignores_sigterm, says_start, waits_at_gate));
    wanted["timeouts"] = boost::json::object{{"run", run_timeout_s}};
    const auto first = start_job(run, wanted);
    if (!first) return first.error();
    const auto job =
        check_end(run, first->job, {.state = "failed", .causes = {"timeout(run)"}, .starts = 1});
    if (!job) return job.error();
    return std::max(0.0,
                    seconds_between(first->trace.at, job->ended_at) - run_timeout_s - kill_grace_s);
}

Result<double> exits_without_a_word(const Run& run) {
    const auto first = start_job(run, job_with(run, stays()));
    if (!first) return first.error();
    run.witness.open_gate();
    const auto end = run.witness.wait_for_end(first->job, 1, patience_s);
    if (!end) return end.error();
    const auto job = check_end(run, first->job, {.causes = {"exit"}, .starts = 1});
    if (!job) return job.error();
    return seconds_between(end->at, job->ended_at);
}

Result<double> leaves_a_tree_behind(const Run& run) {
    // In sessions of their own, one deaf to SIGTERM, one stopped, both without a parent.
    const auto script = fmt::format(
        "{}(setsid sh -c 'trap \"\" TERM; echo $$ >\"$W/deaf\"; while :; do sleep 100; done' &)\n"
        "(setsid sh -c 'echo $$ >\"$W/stopped\"; kill -STOP $$' &)\n"
        "while [ ! -s \"$W/deaf\" ] || [ ! -s \"$W/stopped\" ]; do sleep 0.02; done\n{}",
        says_start, says_end);
    const auto first = start_job(run, job_with(run, script));
    if (!first) return first.error();
    const auto end = run.witness.wait_for_end(first->job, 1, patience_s);
    if (!end) return end.error();
    const auto all_gone = until_true(patience_s, "the tree is gone", [&] {
        return !is_alive(run.witness.left("deaf")->process()) &&
               !is_alive(run.witness.left("stopped")->process());
    });
    const auto seen = now();
    if (!all_gone) return all_gone.error();
    const auto job = check_end(run, first->job, {.causes = {"exit"}, .starts = 1});
    if (!job) return job.error();
    return seconds_between(end->at, std::max(seen, job->ended_at));
}

// A limit of one slot stands for all slots: its holder dies, and the next job starts.
Result<double> slot_is_free_again(const Run& run) {
    const auto& api = run.site->api();
    if (auto made = api.put("/v1/limits/" + run.name, R"({"max":1})"); !made) return made.error();
    auto wanted = job_with(run, stays());
    wanted["limits"] = boost::json::array{run.name};
    const auto first = start_job(run, wanted);
    if (!first) return first.error();
    wanted["argv"] = boost::json::array{"sh", "-c", std::string(says_start) + says_end};
    const auto next = api.submit(wanted);
    if (!next) return next.error();
    const auto injected = kill_it(first->trace.process());
    const auto started = run.witness.wait_for_start(*next, 1, patience_s);
    if (!started) return started.error();
    run.witness.open_gate();
    for (const auto& id : {first->job, *next})
        if (const auto job = check_end(run, id, {}); !job) return job.error();
    return seconds_between(injected, started->at);
}

Result<double> shim_is_killed(const Run& run) {
    const auto first = start_job(run, job_with(run, stays_at_first()));
    if (!first) return first.error();
    const auto injected = kill_it(parent_of(first->trace.process()));
    const auto second = run.witness.wait_for_start(first->job, 2, patience_s);
    if (!second) return second.error();
    if (is_alive(first->trace.process()))
        return wrong("the old process lived when the next attempt started");
    return measure_crash(run, *first, injected, {.causes = {"shim_lost", "exit"}, .starts = 2});
}

Result<double> is_cancelled(const Run& run) {
    const auto first = start_job(run, job_with(run, stays()));
    if (!first) return first.error();
    const auto injected = now();
    const auto told = run.site->api().post("/v1/jobs/" + first->job + "/cancel");
    if (!told) return told.error();
    const auto job = check_end(run, first->job, {.state = "cancelled", .starts = 1});
    if (!job) return job.error();
    return seconds_between(injected, job->ended_at);
}

Result<double> is_poison(const Run& run) {
    const auto script = fmt::format("{}kill -SEGV $$\n", says_start);
    const auto id = run.site->api().submit(job_with(run, script));
    if (!id) return id.error();
    const auto job = check_end(run, *id,
                               {.state = "quarantined",
                                .causes = {"crash(signal)", "crash(signal)", "crash(signal)"},
                                .starts = 3});
    if (!job) return job.error();
    return seconds_between(run.witness.started(*id, 3)->at, job->ended_at);
}

}  // namespace perdure::drill
