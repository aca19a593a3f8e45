// Lists and counts for people, and the ledger. Nothing here is large: a piece is mostly the whole.
#include <algorithm>
#include <map>

#include "ports/ledger_walk.h"
#include "store/engine/people_views.h"
#include "store/memory/memory_views.h"

namespace perdure::store::memory {
namespace {

bool is_of_its_shape(const JobSpec& spec, const JobFilter& filter) {
    return spec.tenant == filter.tenant && (!filter.queue || spec.queue == *filter.queue) &&
           (!filter.kind || spec.kind == *filter.kind);
}

bool is_wanted_entry(const Recovery& entry, const RecoveryFilter& filter) {
    std::optional<Cause> cause;
    if (entry.end) cause = entry.end->cause;
    return is_wanted(filter, {entry.detector, entry.incident, cause, entry.on});
}

}  // namespace

std::optional<std::string> MemoryViews::worker_of(SessionId session) const {
    const auto found = rows_.sessions.find(session);
    if (found == rows_.sessions.end()) return std::nullopt;
    return found->second.worker;
}

std::optional<JobShown> MemoryViews::job(const JobQuery& query) {
    const auto found = rows_.jobs.find(query.job);
    if (found == rows_.jobs.end()) return std::nullopt;
    JobShown shown{.job = job_view(found->second, query.attempts), .workers = {}};
    shown.workers = workers_of(shown.job, [&](SessionId id) { return worker_of(id); });
    return shown;
}

JobPage MemoryViews::list(const JobFilter& filter) const {
    JobPage page;
    auto it = filter.before ? rows_.jobs.lower_bound(*filter.before) : rows_.jobs.end();
    while (it != rows_.jobs.begin()) {
        const JobRow& job = (--it)->second;
        if (!is_of_its_shape(*job.spec, filter) || !is_wanted(job, filter)) continue;
        if (page.jobs.size() == filter.limit) {
            page.next = page.jobs.back().id;
            break;
        }
        page.jobs.push_back(job_line(job, [&](SessionId id) { return worker_of(id); }));
    }
    return page;
}

QueuePiece MemoryViews::queues(const std::string& tenant, const QueuePlace& after) const {
    std::map<std::string, QueueLine> queues;
    for (const auto& [id, job] : rows_.jobs) {
        if (job.spec->tenant != tenant) continue;
        auto& line = queues[job.spec->queue];
        ++line.jobs[static_cast<std::size_t>(state_of(job))];
        if (const auto* ready = job.in<Ready>())
            line.add_ready(job.spec->kind, 1, ready->entry.order.since);
    }
    for (const auto& [of, queue] : rows_.paused)
        if (of == tenant) queues[queue].paused = true;
    QueuePiece piece;
    for (auto& [name, line] : queues) {
        line.queue = name;
        if (behind_queue(name) > after) piece.queues.push_back(line);
    }
    return piece;
}

LimitPiece MemoryViews::limits(const std::string& tenant, const LimitPlace& from) const {
    LimitPiece piece;
    for (const auto& [permit, max] : rows_.limits) {
        if (permit.tenant != tenant || permit.name < from.name) continue;
        const auto held = rows_.holders.find(permit);
        const auto taken = held == rows_.holders.end() ? 0 : held->second.size();
        piece.limits.push_back({permit.name, max, static_cast<std::uint32_t>(taken)});
    }
    return piece;
}

RunPiece MemoryViews::running(JobId after) const {
    RunPiece piece;
    if (after) return piece;
    for (const auto& [session, runs] : rows_.places.runs())
        piece.running[session] = static_cast<std::uint32_t>(runs.size());
    return piece;
}

WorkerPiece MemoryViews::workers(const WorkerQuery& query) const {
    WorkerPiece piece{.workers = {}, .clock = rows_.service.clock, .next = {}};
    const RunCounts none;
    const auto& running = query.running ? *query.running : none;
    for (auto it = rows_.sessions.upper_bound(query.after); it != rows_.sessions.end(); ++it) {
        const auto& session = it->second;
        if (!session.open) continue;
        if (query.tenant && !serves_tenant(session.offer, *query.tenant)) continue;
        const auto found = running.find(session.id);
        const auto count = found == running.end() ? 0 : found->second;
        if (auto line = worker_line(session, count, now(), timing_))
            piece.workers.push_back(std::move(*line));
    }
    return piece;
}

std::vector<JobId> MemoryViews::holders(const Permit& permit, std::uint32_t max) const {
    std::vector<JobId> jobs;
    const auto found = rows_.holders.find(permit);
    if (found == rows_.holders.end()) return jobs;
    for (const auto& [slot, job] : found->second)
        if (jobs.size() < max) jobs.push_back(job);
    return jobs;
}

RecoveryPage MemoryViews::recoveries(const RecoveryFilter& filter) {
    const WorkerOf name = [&](SessionId id) { return worker_of(id); };
    RecoveryPage page;
    const auto before = filter.before.value_or(UINT64_MAX);
    std::uint32_t walked = 0;
    std::uint64_t last = 0;
    // False: the page is full, or enough was looked at.
    const auto add = [&](const Recovery& entry) {
        if (entry.id >= before) return true;
        if (walked++ == ledger_walk_max) {
            page.next = last;
            return false;
        }
        if (is_long_before(filter, entry.on)) return false;
        last = entry.id;
        JobRow& job = rows_.jobs.at(entry.attempt.job);
        if (job.spec->tenant != filter.tenant || !is_wanted_entry(entry, filter)) return true;
        if (page.recoveries.size() == filter.limit) {
            page.next = page.recoveries.back().entry.id;
            return false;
        }
        page.recoveries.push_back(recovery_line(entry, job, tables_, name));
        return true;
    };
    if (filter.job) {
        const auto found = rows_.ledger_of.find(*filter.job);
        if (found == rows_.ledger_of.end()) return page;
        const auto& own = found->second;
        for (auto it = own.rbegin(); it != own.rend() && add(rows_.ledger.at(*it));) ++it;
        return page;
    }
    for (auto it = rows_.ledger.rbegin(); it != rows_.ledger.rend() && add(it->second);) ++it;
    return page;
}

}  // namespace perdure::store::memory
