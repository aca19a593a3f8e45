#include <signal.h>

#include "drill/rows/all.h"
#include "drill/rows/play.h"
#include "drill/world/processes.h"

namespace perdure::drill {
namespace {

constexpr double cut_for_s = 1;
constexpr double patience_with_culprit_s = 90;
constexpr std::ptrdiff_t crashes_allowed = 3;  // the third is for a person
constexpr const char* no_drain = "timing.drain=0s";

Result<JobFacts> stop_and_wait(const Run& run, const char* policy, const Expected& expected,
                               Moment& injected) {
    auto wanted = job_with(run, stays_at_first());
    wanted["policy"] = policy;
    auto victim = prepare_victim(run, {.job = std::move(wanted), .settings = {no_drain}});
    if (!victim) return victim.error();
    injected = now();
    victim->worker->ask_to_stop();
    auto job = check_end(run, victim->victim.job, expected);
    if (!job) return job;
    if (auto dismissed = dismiss(run, *victim); !dismissed) return dismissed.error();
    return job;
}

}  // namespace

Result<double> worker_is_stopped(const Run& run) {
    Moment injected = 0;
    const auto job =
        stop_and_wait(run, "default", {.causes = {"evicted", "exit"}, .starts = 2}, injected);
    if (!job) return job.error();
    return seconds_between(injected, run.witness.started(job->id, 2)->at);
}

Result<double> worker_is_stopped_with_never(const Run& run) {
    Moment injected = 0;
    const auto job = stop_and_wait(
        run, "never", {.state = "quarantined", .causes = {"evicted"}, .starts = 1}, injected);
    if (!job) return job.error();
    return seconds_between(injected, job->ended_at);
}

// An upgrade: the worker leaves, its shims stay, the next worker of that directory adopts them.
Result<double> worker_is_replaced(const Run& run) {
    const Site::WorkerOptions options{.name = run.name + ".a", .queue = run.name};
    auto old = run.site->start_worker(options);
    if (!old) return old.error();
    const auto first = start_job(run, job_with(run, stays()));
    if (!first) return first.error();
    const auto before = run.site->api().job(first->job);
    if (!before) return before.error();
    const auto injected = now();
    ::kill((*old)->watchdog(), SIGUSR1);
    const auto left =
        until_true(patience_s, "the old worker leaves", [&] { return (*old)->has_ended(); });
    if (!left) return left.error();
    const auto next = run.site->start_worker(options);
    if (!next) return next.error();
    const auto adopted = run.site->api().wait_until(
        first->job, patience_s, "the next worker adopts it",
        [&](const JobFacts& job) { return job.session != before->session; }, 0.01);
    const auto seen = now();
    if (!adopted) return adopted.error();
    run.witness.open_gate();
    const auto job = check_end(run, first->job, {.causes = {"exit"}, .starts = 1});
    if (!job) return job.error();
    return seconds_between(injected, seen);
}

// The job ends while nobody can be told; it is told as soon as the network is back.
Result<double> report_is_lost(const Run& run) {
    auto victim = prepare_victim(run, {.job = job_with(run, stays())});
    if (!victim) return victim.error();
    victim->proxy->cut();
    run.witness.open_gate();
    const auto end = run.witness.wait_for_end(victim->victim.job, 1, patience_s);
    if (!end) return end.error();
    if (!pause_for(cut_for_s)) return error(Errc::unavailable, "stopped by Ctrl-C");
    const auto mended = now();
    victim->proxy->mend();
    const auto job = check_end(run, victim->victim.job, {.causes = {"exit"}, .starts = 1});
    if (!job) return job.error();
    if (auto dismissed = dismiss(run, *victim); !dismissed) return dismissed.error();
    return seconds_between(mended, job->ended_at);
}

// It stands still with a job in hand that it has not started. Nobody has told it anything, and its
// lease is good for a while: only the missing confirmation tells.
Result<double> assigned_to_a_worker_that_stops(const Run& run) {
    const auto& site = *run.site;
    const auto still = site.start_worker({.name = run.name + ".a", .queue = run.name});
    if (!still) return still.error();
    signal_all((*still)->everything(), SIGSTOP);
    const auto injected = now();
    auto wanted = job_with(run, std::string(says_start) + says_end);
    wanted["effects"] = "once";  // then it must not start when it wakes up
    const auto id = site.api().submit(wanted);
    if (!id) return id.error();
    const auto given = site.api().wait_until(
        *id, patience_s, "the job is assigned",
        [](const JobFacts& job) { return job.state == "starting"; }, 0.01);
    if (!given) return given.error();
    const auto other = site.start_worker({.name = run.name + ".b", .queue = run.name});
    if (!other) return other.error();
    const auto started = run.witness.wait_for_start(*id, 2, long_patience_s);
    if (!started) return started.error();
    signal_all((*still)->everything(), SIGCONT);
    const auto job = check_end(run, *id, {.starts = 1});
    if (!job) return job.error();
    return seconds_between(injected, started->at);
}

namespace {

// Kills whatever worker its watchdog keeps, a moment after it has seen it.
std::string kills_workers() {
    return std::string(says_start) +
           "parent() { read -r _ _ _ P _ <\"/proc/$1/stat\"; }\n"
           "parent $PPID; parent $P; D=$P\n"
           "while :; do for C in $(cat /proc/$D/task/$D/children); do\n"
           "grep -q child-worker \"/proc/$C/cmdline\" && sleep 0.3 && kill -9 $C\n"
           "done; sleep 0.05; done\n";
}

// Suspected as long as it has company, charged when it runs alone, and then for a person.
Result<void> check_culprit(const JobFacts& job) {
    std::ptrdiff_t charged = 0;
    std::ptrdiff_t suspected = 0;
    for (const auto& attempt : job.attempts) {
        charged += attempt.cause == "crash(worker)" ? 1 : 0;
        suspected += attempt.cause == "suspect" ? 1 : 0;
    }
    const bool all = charged + suspected == std::ssize(job.attempts);
    if (job.state != "quarantined" || charged != crashes_allowed || suspected == 0 || !all)
        return wrong("the job that kills its worker: " + job.story());
    return {};
}

}  // namespace

// Its adopter dies of it. The job beside it goes on all the while, and is not started again.
Result<double> kills_its_worker(const Run& run) {
    const auto& site = *run.site;
    const auto first = site.start_worker({.name = run.name + ".a", .queue = run.name});
    if (!first) return first.error();
    const auto beside = start_job(run, job_with(run, stays()));
    if (!beside) return beside.error();
    const auto culprit = start_job(run, job_with(run, kills_workers()));
    if (!culprit) return culprit.error();
    const auto empty = site.start_worker({.name = run.name + ".b", .queue = run.name});
    if (!empty) return empty.error();
    const auto job = site.api().wait_until_ended(culprit->job, patience_with_culprit_s);
    if (!job) return job.error();
    if (auto found = check_culprit(*job); !found) return found.error();
    run.witness.open_gate();
    const auto unharmed = check_end(run, beside->job, {.causes = {"exit"}, .starts = 1});
    if (!unharmed) return unharmed.error();
    return seconds_between(culprit->trace.at, job->ended_at);
}

}  // namespace perdure::drill
