#include <fmt/format.h>
#include <signal.h>

#include <functional>

#include "drill/rows/all.h"
#include "drill/rows/play.h"
#include "drill/world/processes.h"

namespace perdure::drill {
namespace {

constexpr double patience_with_shims_s = 20;
constexpr double patience_after_return_s = 3;
constexpr int interruptions = 10;

using Strike = std::function<void(Victim&)>;

boost::json::object with_policy(const Run& run, const char* policy) {
    auto job = job_with(run, stays_at_first());
    job["policy"] = policy;
    return job;
}

// Loses the worker and waits until its job has started elsewhere.
Result<double> lose(const Run& run, Victim& victim, const Strike& strike) {
    const auto injected = now();
    strike(victim);
    const auto second = run.witness.wait_for_start(victim.victim.job, 2, long_patience_s);
    if (!second) return second.error();
    return seconds_between(injected, second->at);
}

// The old attempt's process must go without anybody's help: its shim sees to it. One whose host
// speaks again, or wakes up, must do so at once.
Result<void> old_one_goes(const Victim& victim, double patience) {
    return until_true(
        patience, "the old attempt's process goes",
        [&] { return !is_alive(victim.victim.trace.process()); }, 0.1);
}

Result<double> lose_and_check(const Run& run, VictimOptions options, const Strike& strike,
                              const Strike& then = {}) {
    auto victim = prepare_victim(run, std::move(options));
    if (!victim) return victim.error();
    auto measured = lose(run, *victim, strike);
    if (!measured) return measured;
    if (then) then(*victim);
    const auto patience = then ? patience_after_return_s : patience_with_shims_s;
    if (auto gone = old_one_goes(*victim, patience); !gone) return gone.error();
    if (auto dismissed = dismiss(run, *victim); !dismissed) return dismissed.error();
    const auto job =
        check_end(run, victim->victim.job, {.causes = {"worker_lost", "exit"}, .starts = 2});
    if (!job) return job.error();
    if (job->attempts[0].session == job->attempts[1].session)
        return wrong("both attempts belong to one session");
    if (run.witness.ended(victim->victim.job, 1))
        return wrong("the lost attempt went on to its end");
    return measured;
}

}  // namespace

Result<double> worker_and_watchdog_are_killed(const Run& run) {
    return lose_and_check(run, {.job = job_with(run, stays_at_first())},
                          [](Victim& victim) { victim.worker->kill_own_processes(); });
}

Result<double> host_is_gone(const Run& run) {
    return lose_and_check(run, {.job = job_with(run, stays_at_first())},
                          [](Victim& victim) { victim.worker->kill_everything(); });
}

Result<double> host_is_gone_with_forever(const Run& run) {
    return lose_and_check(run, {.job = with_policy(run, "forever")},
                          [](Victim& victim) { victim.worker->kill_everything(); });
}

// The old attempt is told that it is stale as soon as its worker is heard again.
Result<double> host_is_cut_off(const Run& run) {
    return lose_and_check(
        run, {.job = job_with(run, stays_at_first())}, [](Victim& victim) { victim.proxy->cut(); },
        [](Victim& victim) { victim.proxy->mend(); });
}

// With a key the old attempt kills itself before its lease ends: at no time are there two.
Result<double> host_is_cut_off_with_key(const Run& run) {
    auto wanted =
        job_with(run, "exec 9>\"$W/alone\"; flock -n 9 || : >\"$W/overlap\"\n" + stays_at_first());
    wanted["key"] = run.name;
    auto measured = lose_and_check(
        run, {.job = std::move(wanted)}, [](Victim& victim) { victim.proxy->cut(); },
        [](Victim& victim) { victim.proxy->mend(); });
    if (measured && run.witness.left("overlap"))
        return wrong("two attempts with one key overlapped");
    return measured;
}

// Everything of a host stands still, as when a virtual machine is suspended, and wakes up when its
// job has long been running elsewhere.
Result<double> host_is_paused(const Run& run) {
    return lose_and_check(
        run, {.job = job_with(run, stays_at_first())},
        [](Victim& victim) { signal_all(victim.worker->everything(), SIGSTOP); },
        [](Victim& victim) { signal_all(victim.worker->everything(), SIGCONT); });
}

Result<double> host_is_gone_with_never(const Run& run) {
    auto victim = prepare_victim(run, {.job = with_policy(run, "never")});
    if (!victim) return victim.error();
    const auto injected = now();
    victim->worker->kill_everything();
    const auto job = check_end(run, victim->victim.job,
                               {.state = "quarantined", .causes = {"worker_lost"}, .starts = 1});
    if (!job) return job.error();
    if (auto dismissed = dismiss(run, *victim); !dismissed) return dismissed.error();
    return seconds_between(injected, job->ended_at);
}

// Nobody starts it again, and nobody kills it for its lease: it goes on alone, is shown as silent,
// and is quarantined after `hold`.
Result<double> host_is_cut_off_with_once(const Run& run) {
    auto wanted = job_with(run, stays_at_first());
    wanted["effects"] = "once";
    auto victim = prepare_victim(run, {.job = std::move(wanted)});
    if (!victim) return victim.error();
    const auto injected = now();
    victim->proxy->cut();
    const auto job = run.site->api().wait_until(
        victim->victim.job, long_patience_s, "it is quarantined",
        [](const JobFacts& f) { return f.state == "quarantined"; }, 0.1);
    if (!job) return job.error();
    if (!job->may_have_run) return wrong("it is not said that it may have run");
    if (!is_alive(victim->victim.trace.process()))
        return wrong("a once job was killed because its host was cut off");
    victim->proxy->mend();
    if (auto dismissed = dismiss(run, *victim); !dismissed) return dismissed.error();
    if (run.witness.starts(victim->victim.job) != 1) return wrong("a once job started twice");
    if (auto left = check_nobody_left(run); !left) return left.error();
    return std::max(0.0, seconds_between(injected, job->ended_at) - hold_s);
}

// Ten workers in a row are lost with it; nine times it runs again, then it is for a person.
Result<double> is_interrupted_ten_times(const Run& run) {
    const auto queue = run.name;
    auto worker = run.site->start_worker({.name = run.name + ".0", .queue = queue});
    if (!worker) return worker.error();
    const auto first = start_job(run, job_with(run, stays()));
    if (!first) return first.error();
    const auto beside = start_job(run, job_with(run, stays()));
    if (!beside) return beside.error();
    double worst = 0;
    for (int n = 1; n <= interruptions; ++n) {
        const auto injected = now();
        (*worker)->kill_everything();
        if (n == interruptions) break;
        auto next =
            run.site->start_worker({.name = fmt::format("{}.{}", run.name, n), .queue = queue});
        if (!next) return next.error();
        worker = std::move(next);
        const auto epoch = static_cast<std::uint32_t>(n) + 1;
        const auto again = run.witness.wait_for_start(first->job, epoch, long_patience_s);
        if (!again) return again.error();
        const auto other = run.witness.wait_for_start(beside->job, epoch, long_patience_s);
        if (!other) return other.error();
        worst = std::max(worst, seconds_between(injected, again->at));
    }
    const auto job = check_end(run, first->job,
                               {.state = "quarantined",
                                .causes = std::vector<std::string>(interruptions, "worker_lost"),
                                .starts = interruptions});
    if (!job) return job.error();
    return worst;
}

}  // namespace perdure::drill
