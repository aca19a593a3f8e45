#include "core/explain/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/zoo.h"

namespace perdure {
namespace {

using Blockers = std::vector<Blocker>;

constexpr std::size_t names_shown = 10;

Duration rest(Duration of, Duration passed) { return std::max(of - passed, Duration{}); }

// "1 worker", "3 workers"
std::string workers(std::size_t count) {
    return fmt::format("{} worker{}", count, count == 1 ? "" : "s");
}

using Workers = std::vector<const WhyWorker*>;

template <class Condition>
Workers those(const Workers& among, Condition condition) {
    Workers found;
    for (const auto* worker : among)
        if (condition(*worker)) found.push_back(worker);
    return found;
}

std::string names_of(const Workers& workers) {
    std::vector<std::string_view> names;
    for (const auto* worker : workers)
        if (names.size() < names_shown) names.push_back(worker->name);
    return fmt::format("{}{}", fmt::join(names, ", "), workers.size() > names_shown ? ", …" : "");
}

// What no worker offers: each permit by its name, or that no single worker has them all.
void explain_offers(const WhyFacts& f, const Workers& connected, Blockers& into) {
    const auto serving = those(connected, [](const auto& w) { return w.serves_tenant; });
    if (serving.empty())
        return into.push_back(
            {fmt::format("none of {} serves tenant `{}`", workers(connected.size()), f.tenant),
             fmt::format("a worker that does: perdure worker --tenant {}", f.tenant)});
    const auto refusing = those(serving, [](const auto& w) { return w.refuses_submitter(); });
    if (!refusing.empty())
        return into.push_back(
            {fmt::format("{} would take it, but run{} each job as whoever submitted it, and {} is "
                         "nobody as whom they may run one",
                         workers(refusing.size()), refusing.size() == 1 ? "s" : "",
                         f.submitter.empty() ? "this job's submitter" : f.submitter),
             "submit it as an account of their host, or start a worker with another worker.user"});
    const auto for_queue = those(serving, [](const auto& w) { return w.takes_queue; });
    const auto for_kind = those(serving, [](const auto& w) { return w.takes_kind; });
    const auto kind =
        f.kind.empty() ? std::string("a command") : fmt::format("a job of kind `{}`", f.kind);
    if (for_queue.empty())
        into.push_back(
            {fmt::format("none of {} takes queue `{}`", workers(serving.size()), f.queue),
             fmt::format("a worker that does: perdure worker --queues {}", f.queue)});
    if (for_kind.empty())
        into.push_back({fmt::format("none of {} takes {}", workers(serving.size()), kind),
                        f.kind.empty() ? "a worker that runs commands"
                                       : "a worker with a handler for that kind"});
    if (!for_queue.empty() && !for_kind.empty())
        into.push_back({fmt::format("none of {} takes {} of queue `{}`", workers(serving.size()),
                                    kind, f.queue),
                        "a worker that takes both"});
}

void explain_limits(const Workers& matching, Blockers& into) {
    const auto unable = those(matching, [](const auto& w) { return !w.cannot_limit.empty(); });
    if (unable.size() != matching.size()) return;
    into.push_back(
        {fmt::format("none of {} that take it can limit `{}` ({})", workers(matching.size()),
                     unable.front()->cannot_limit, names_of(unable)),
         "a worker that has cgroups with that controller (docs/guides/operate.md), or "
         "the job again without that limit"});
}

void explain_doubtful(const Workers& matching, Blockers& into) {
    const auto suspect = those(matching, [](const auto& w) { return w.suspect; });
    const auto deaf =
        those(matching, [](const auto& w) { return w.deaf && !w.suspect && !w.draining; });
    const auto draining = those(matching, [](const auto& w) { return w.draining && !w.suspect; });
    if (!suspect.empty())
        into.push_back(
            {fmt::format("{} matching workers are silent ({})", suspect.size(), names_of(suspect)),
             "their next heartbeat, or another worker"});
    if (!deaf.empty())
        into.push_back(
            {fmt::format("{} matching workers are heard but start nothing ({})", deaf.size(),
                         names_of(deaf)),
             "a start that one of them confirms (it is tried now and then), or another worker"});
    if (!draining.empty())
        into.push_back({fmt::format("{} matching workers are draining", draining.size()),
                        "start another worker"});
}

void explain_workers(const WhyFacts& f, Blockers& into) {
    Workers connected;
    for (const auto& worker : f.workers) connected.push_back(&worker);
    if (connected.empty())
        return into.push_back({"no worker is connected", "start a worker (perdure worker)"});
    const auto matching = those(connected, [](const auto& w) { return w.matches(); });
    if (matching.empty()) return explain_offers(f, connected, into);
    explain_limits(matching, into);
    const auto able =
        those(matching, [](const auto& w) { return !w.suspect && !w.draining && !w.deaf; });
    if (able.empty()) return explain_doubtful(matching, into);
    const bool busy =
        std::all_of(able.begin(), able.end(), [](const auto* w) { return w->free_slots == 0; });
    if (busy)
        into.push_back({fmt::format("all slots of {} that take it are busy", workers(able.size())),
                        "the end of a running job, or more slots"});
}

void explain_permits(const WhyFacts& f, Blockers& into) {
    for (const auto& permit : f.taken) {
        if (permit.holders.empty())
            into.push_back({fmt::format("{} is taken", permit.name), "whoever holds it"});
        for (const auto& holder : permit.holders)
            into.push_back(
                {fmt::format("{} is held by job {}", permit.name, holder), "the end of that job"});
    }
}

// All that a claim would meet, in whatever state the job waits for it.
void explain_claim(const WhyFacts& f, Blockers& into) {
    explain_permits(f, into);
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

// Why it has to wait at all, if that is an attempt's end.
std::string after_last(const WhyFacts& f) {
    if (!f.last) return "";
    const auto detail = f.last->detail.empty() ? "" : ": " + f.last->detail;
    return fmt::format(": attempt {} ended ({}){}", f.last->attempt, to_string(f.last->cause),
                       detail);
}

void explain_scheduled(const WhyFacts& f, Blockers& into) {
    into.push_back({"it is not due yet" + after_last(f), "its time", f.due_in, f.due_at});
    explain_claim(f, into);  // what would be in its way after that, as it is now
}

void explain_blocked(const WhyFacts& f, Blockers& into) {
    if (f.held) {
        into.push_back({"a person holds it", "unhold it", f.queue_timeout_in});
        if (f.due_at) into.push_back({"it is not due yet", "its time", std::nullopt, f.due_at});
    }
    const auto before = into.size();
    explain_claim(f, into);
    // The permit it waited for was freed between two reads.
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
