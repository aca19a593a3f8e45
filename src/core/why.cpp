#include "core/why.h"

#include <fmt/format.h>

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
    if (w.matching == 0)
        return into.push_back({fmt::format("none of {} workers takes {}", w.connected, shape_of(f)),
                               "start a worker that does"});
    const auto able = w.matching - std::min(w.matching, w.suspect + w.draining);
    if (w.suspect > 0 && able == 0)
        into.push_back({fmt::format("{} matching workers are silent", w.suspect),
                        "their next heartbeat, or another worker"});
    if (w.draining > 0 && able == 0)
        into.push_back(
            {fmt::format("{} matching workers are draining", w.draining), "start another worker"});
    if (able > 0 && w.free_slots == 0)
        into.push_back({fmt::format("all slots of {} matching workers are busy", able),
                        "the end of a running job, or more slots"});
}

void explain_claim(const WhyFacts& f, Blockers& into) {
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

void explain_blocked(const WhyFacts& f, Blockers& into) {
    if (!f.blocked_on)
        into.push_back({"a person holds it", "unhold it", f.queue_timeout_in});
    else if (f.holders.empty())
        into.push_back({fmt::format("{} is taken", *f.blocked_on), "whoever holds it"});
    if (f.blocked_on)
        for (const auto& holder : f.holders)
            into.push_back({fmt::format("{} is held by job {}", *f.blocked_on, holder),
                            "the end of that job"});
    // What would be in its way after that.
    explain_claim(f, into);
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

void explain_silence(const WhyFacts& f, const Timing& timing, Blockers& into) {
    if (f.worker.empty())
        return into.push_back({"the session of its worker is over", "the end of its lease"});
    if (f.silent_for < timing.suspect) return;
    into.push_back(
        {fmt::format("worker `{}` has been silent for {:.0f} s", f.worker, f.silent_for.seconds()),
         "its next heartbeat, or the end of its lease", rest(timing.lease, f.silent_for)});
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
        case JobState::scheduled:
            blockers.push_back({"it is not due yet", "its time", f.due_in, f.due_at});
            break;
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
