#include "core/explain/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/zoo.h"

namespace perdure {
namespace {

using Blockers = std::vector<Blocker>;

std::string shape_of(const WhyFacts& f) {
    return f.kind.empty() ? fmt::format("queue `{}`", f.queue)
                          : fmt::format("queue `{}` and kind `{}`", f.queue, f.kind);
}

Duration rest(Duration of, Duration passed) { return std::max(of - passed, Duration{}); }

void explain_workers(const WhyFacts& f, Blockers& into) {
    const auto& w = f.workers;
    if (w.connected == 0)
        return into.push_back({"no worker is connected", "start a worker (perdure worker)"});
    if (w.matching == 0 && w.refusing > 0)
        return into.push_back(
            {fmt::format("{} workers take {} but run each job as whoever submitted it, and {} is "
                         "nobody as whom they may run one",
                         w.refusing, shape_of(f),
                         f.submitter.empty() ? "this job's submitter" : f.submitter),
             "submit it as an account of their host, or start a worker with another worker.user"});
    if (w.matching == 0)
        return into.push_back({fmt::format("none of {} workers takes {}", w.connected, shape_of(f)),
                               "start a worker that does"});
    const auto able = w.matching - std::min(w.matching, w.suspect + w.draining + w.deaf);
    const auto names = fmt::format("{}", fmt::join(w.doubtful, ", "));
    const auto of = names.empty() ? std::string() : fmt::format(" ({})", names);
    if (w.suspect > 0 && able == 0)
        into.push_back({fmt::format("{} matching workers are silent{}", w.suspect, of),
                        "their next heartbeat, or another worker"});
    if (w.deaf > 0 && able == 0)
        into.push_back(
            {fmt::format("{} matching workers are heard but start nothing{}", w.deaf, of),
             "a start that one of them confirms (it is tried now and then), or another worker"});
    if (w.draining > 0 && able == 0)
        into.push_back(
            {fmt::format("{} matching workers are draining", w.draining), "start another worker"});
    if (able > 0 && w.free_slots == 0)
        into.push_back({fmt::format("all slots of {} matching workers are busy", able),
                        "the end of a running job, or more slots"});
}

void explain_things(const WhyFacts& f, Blockers& into) {
    for (const auto& thing : f.taken) {
        if (thing.holders.empty())
            into.push_back({fmt::format("{} is taken", thing.name), "whoever holds it"});
        for (const auto& holder : thing.holders)
            into.push_back(
                {fmt::format("{} is held by job {}", thing.name, holder), "the end of that job"});
    }
}

// All that a claim would meet, in whatever state the job waits for it.
void explain_claim(const WhyFacts& f, Blockers& into) {
    explain_things(f, into);
    if (f.queue_paused && !zoo(Bug::why_forgets_a_blocker))
        into.push_back({fmt::format("queue `{}` is paused", f.queue), "resume the queue"});
    explain_workers(f, into);
}

void explain_ready(const WhyFacts& f, const Timing& timing, Blockers& into) {
    explain_claim(f, into);
    if (f.presumed_lost)
        into.push_back({"its last worker was lost, and another one is preferred",
                        "a claim by another worker, or the return of the lost one",
                        timing.prefer_another});
    if (f.suspect_for && *f.suspect_for < timing.suspect_alone)
        into.push_back(
            {"it is a suspect: its worker crashed again and again while it ran beside others",
             "a worker that takes it and runs nothing else",
             rest(timing.suspect_alone, *f.suspect_for)});
    if (into.empty()) into.push_back({"it is next in line", "the next claim", timing.tick});
}

void explain_scheduled(const WhyFacts& f, Blockers& into) {
    into.push_back({"it is not due yet", "its time", f.due_in, f.due_at});
    explain_claim(f, into);  // what would be in its way after that, as it is now
}

void explain_blocked(const WhyFacts& f, Blockers& into) {
    if (f.held) {
        into.push_back({"a person holds it", "unhold it", f.queue_timeout_in});
        if (f.due_at) into.push_back({"it is not due yet", "its time", std::nullopt, f.due_at});
    }
    const auto before = into.size();
    explain_claim(f, into);
    // The thing it waited for was freed between two reads.
    if (into.size() == before && !f.held)
        into.push_back({"it is about to get in line", "the next commit"});
}

std::optional<Duration> earlier(std::optional<Duration> a, std::optional<Duration> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

void explain_waiting(const WhyFacts& f, Blockers& into) {
    for (const auto& other : f.awaited)
        into.push_back({fmt::format("it waits for the {} of job {}, which is {}",
                                    to_string(other.on), other.job, other.state),
                        "the end of that job: it goes on if it fits, or is cancelled",
                        f.queue_timeout_in});
    if (into.empty()) into.push_back({"it waits for other jobs", "their end", f.queue_timeout_in});
}

bool is_lost(const WhyFacts& f) { return !f.worker.empty() && f.lease_left <= Duration{}; }

void explain_silence(const WhyFacts& f, const Timing& timing, Blockers& into) {
    if (f.worker.empty())
        return into.push_back({"the session of its worker is over", "the end of its lease"});
    if (f.silent_for < timing.suspect || is_lost(f)) return;
    into.push_back(
        {fmt::format("worker `{}` has been silent for {:.0f} s", f.worker, f.silent_for.seconds()),
         "its next heartbeat, or the end of its lease", std::max(f.lease_left, Duration{})});
}

// O7: it stays its worker's for `hold`, and what happens then is known.
void explain_lost(const WhyFacts& f, const std::string& where, Blockers& into) {
    const auto left = std::max(f.lease_left + f.hold, Duration{});
    const auto* then = f.runs_again ? "it is given up and runs again"
                                    : "it may have run: it is quarantined, and a person decides";
    into.push_back(
        {fmt::format("{} is lost, its lease ended {:.0f} s ago", where, -f.lease_left.seconds()),
         fmt::format("the return of that worker, or the end of its hold: then {}", then),
         left > Duration{} ? std::optional(left) : std::nullopt});
}

void explain_run(const WhyFacts& f, const Timing& timing, Blockers& into) {
    const auto where = f.worker.empty() ? "a lost worker" : fmt::format("worker `{}`", f.worker);
    if (f.kill_ordered)
        into.push_back(
            {fmt::format("it is being killed on {}: {}", where, to_string(*f.kill_ordered)),
             "the end of its process", timing.kill_grace});
    if (f.state == JobState::starting) {
        const auto* word = f.asks ? "its worker to ask for the start" : "its start to be confirmed";
        into.push_back({fmt::format("it was given to {} and waits for {}", where, word),
                        "the worker, or the end of the wait", timing.confirm});
    } else if (is_lost(f)) {
        explain_lost(f, where, into);
    } else if (!f.kill_ordered) {
        into.push_back({fmt::format("it runs on {}", where), "its own end, or its timeout",
                        earlier(f.run_timeout_in, f.total_timeout_in)});
    }
    explain_silence(f, timing, into);
}

}  // namespace

std::vector<Blocker> explain(const WhyFacts& f, const Timing& timing) {
    Blockers blockers;
    switch (f.state) {
        case JobState::scheduled: explain_scheduled(f, blockers); break;
        case JobState::waiting: explain_waiting(f, blockers); break;
        case JobState::ready: explain_ready(f, timing, blockers); break;
        case JobState::blocked: explain_blocked(f, blockers); break;
        case JobState::starting:
        case JobState::running: explain_run(f, timing, blockers); break;
        case JobState::succeeded:
        case JobState::failed:
        case JobState::cancelled:
        case JobState::expired:
        case JobState::quarantined: break;
    }
    return blockers;
}

}  // namespace perdure
