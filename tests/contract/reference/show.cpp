#include "tests/contract/reference/show.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "core/aftermath.h"
#include "core/presence.h"
#include "tests/contract/reference/ending.h"
#include "tests/contract/reference/relations/relations.h"

namespace perdure::reference {
namespace {

RunView show_run(const State& state, const JobRow& job) {
    const auto& run = *job.in<Run>();
    const auto& attempt = *job.attempt(run.epoch);
    return {.attempt = {job.id, run.epoch},
            .session = run.session,
            .assignment = run.assignment,
            .state = run.state,
            .terms = attempt.terms,
            .clean = attempt.clean,
            .order = run.order,
            .recalled = run.recalled,
            .confirm_deadline = run.confirm_deadline,
            .spec = job.spec,
            .checkpoint = checkpoint_before(job, run.epoch),
            .counts = counts_with(job, run.epoch, nullptr, policy_of(state, job, attempt)),
            .inputs = inputs_of(job),
            .worker_policy = state.session_of(run.session).policy};
}

AttemptView show_attempt(const AttemptRow& attempt) {
    return {.epoch = attempt.epoch,
            .generation = attempt.generation,
            .session = attempt.session(),
            .assignment = attempt.assignment,
            .terms = attempt.terms,
            .start_committed = attempt.start_committed,
            .claimed_at = attempt.claimed_at,
            .end = attempt.end,
            .late_result = attempt.late_result,
            .rule = attempt.rule,
            .claimed_on = attempt.claimed_on,
            .started_on = attempt.started_on,
            .ended_on = attempt.ended_on,
            .evidence = attempt.evidence};
}

void add_waiting(const State& state, WallTime wall, std::uint32_t limit, OverdueView& view) {
    for (const auto& [at, id] : state.places.wakes()) {
        if (at > state.clock.now || view.waiting.size() >= limit) break;
        view.waiting.push_back(id);
    }
    for (const auto& [date, id] : state.places.dates()) {
        if (date > wall || view.waiting.size() >= limit) break;
        const auto wakes = wake_at(state.jobs.at(id));
        const bool is_listed = wakes && *wakes <= state.clock.now;
        if (!is_listed) view.waiting.push_back(id);
    }
}

struct FillJobView {
    JobView& view;
    const State& state;
    const JobRow& job;
    void operator()(const Timer&) const {}
    void operator()(const Ready&) const {}
    void operator()(const Blocked& blocked) const { view.blocked_on = blocked.on; }
    void operator()(const Run&) const { view.run = show_run(state, job); }
    void operator()(const Wait&) const {}
    void operator()(const Outcome& outcome) const {
        view.cause = outcome.cause;
        view.rule = outcome.rule;
        view.may_have_run = outcome.may_have_run;
        view.discarded = outcome.discarded;
        view.ended_at = outcome.ended_at;
        view.ended_on = outcome.ended_on;
        view.forget_at = outcome.forget_at;
    }
};

bool is_wanted_end(const Outcome* outcome, const JobFilter& filter) {
    if (!outcome) return !filter.cause && !filter.ended_before;
    return (!filter.cause || outcome->cause == *filter.cause) &&
           (!filter.ended_before || outcome->ended_on < *filter.ended_before) &&
           !(filter.undealt && outcome->discarded);
}

bool is_wanted(const JobRow& job, const JobFilter& filter) {
    const auto& spec = *job.spec;
    const auto& states = filter.states;
    return spec.tenant == filter.tenant &&
           (states.empty() || std::count(states.begin(), states.end(), state_of(job)) > 0) &&
           (!filter.queue || spec.queue == *filter.queue) &&
           (!filter.kind || spec.kind == *filter.kind) && (!filter.key || spec.key == filter.key) &&
           is_wanted_end(job.in<Outcome>(), filter);
}

JobLine show_line(const State& state, const JobRow& job) {
    JobLine line{.id = job.id,
                 .spec = job.spec,
                 .state = state_of(job),
                 .epoch = job.epoch,
                 .generation = job.generation};
    if (const auto* outcome = job.in<Outcome>()) {
        line.cause = outcome->cause;
        line.ended_on = outcome->ended_on;
        line.may_have_run = outcome->may_have_run;
        line.discarded = outcome->discarded;
        const bool doubtful =
            line.state == JobState::quarantined && !job.attempts.empty() &&
            !is_known_dead(job.attempts.back().end, job.attempts.back().late_result);
        if (doubtful)
            line.may_still_run_on = state.session_of(job.attempts.back().session()).worker;
    }
    if (const auto* run = job.in<Run>()) line.worker = state.session_of(run->session).worker;
    return line;
}

// Nothing if it has left.
std::optional<WorkerLine> show_worker(const State& state, const SessionRow& session) {
    const auto& runs = state.places.runs_of(session.id);
    WorkerLine line{.session = session.id,
                    .worker = session.worker,
                    .machine = session.directory.machine,
                    .slots = session.slots,
                    .running = static_cast<std::uint32_t>(runs.size()),
                    .offer = session.offer,
                    .silent_for = state.clock.now - session.heard_at,
                    .lease_left = session.lease_deadline - state.clock.now,
                    .draining = session.draining};
    const auto presence = decide_presence({.heard_at = session.heard_at,
                                           .lease_deadline = session.lease_deadline,
                                           .draining = session.draining,
                                           .running = line.running,
                                           .now = state.clock.now},
                                          state.timing);
    if (presence.left) return std::nullopt;
    line.suspect = presence.suspect;
    line.deaf = session.hearing.is_deaf();
    return line;
}

}  // namespace

ServiceView show_service(const State& state) {
    const auto& places = state.places;
    const auto soon = state.timing.idle_tick;
    const bool nothing_moves = places.count(Place::run) == 0 && places.count(Place::ready) == 0 &&
                               places.count(Place::blocked) == 0;
    const bool nothing_due =
        (places.wakes().empty() || places.wakes().begin()->first > state.clock.now + soon) &&
        (places.dates().empty() || places.dates().begin()->first > state.wall + soon);
    auto highest = std::max(state.id_high_water, state.made_id_high_water);
    for (const auto& [id, row] : state.servers) highest = std::max(highest, row.id_high_water);
    return {.clock = state.clock,
            .keeper = state.keeper,
            .idle = nothing_moves && nothing_due,
            .id_high_water = highest};
}

SessionView show_session(const State& state, const SessionRow& session) {
    SessionView view{.session = session.id,
                     .directory = session.directory,
                     .life = session.life,
                     .worker = session.worker,
                     .open = session.open,
                     .stream = session.stream,
                     .assignments = session.assignments,
                     .heartbeat = session.heartbeat,
                     .content_hash = session.content_hash,
                     .seen = session.seen,
                     .renewal = session.renewal,
                     .slots = session.slots,
                     .draining = session.draining,
                     .offer = session.offer,
                     .lease_deadline = session.lease_deadline,
                     .heard_at = session.heard_at,
                     .hearing = session.hearing,
                     .policy = session.policy,
                     .clock = state.clock};
    for (const auto& [assignment, id] : state.places.runs_of(session.id))
        view.runs.push_back(show_run(state, state.jobs.at(id)));
    return view;
}

JobView show_job(const State& state, const JobRow& job) {
    const auto facts = wait_facts(job);
    JobView view{.id = job.id,
                 .spec = job.spec,
                 .state = facts.state,
                 .epoch = job.epoch,
                 .generation = job.generation,
                 .submitted_at = job.submitted_at,
                 .queue_deadline = facts.queue_deadline,
                 .total_deadline = facts.total_deadline,
                 .due = facts.due,
                 .date = facts.date,
                 .kept_until = facts.kept_until,
                 .presumed_lost = job.presumed_lost.has_value()};
    view.attempts.reserve(job.attempts.size());
    for (const auto& attempt : job.attempts) view.attempts.push_back(show_attempt(attempt));
    std::visit(FillJobView{view, state, job}, job.place);
    show_relations(job, view);
    return view;
}

OverdueView show_overdue(const State& state, WallTime wall, std::uint32_t limit) {
    OverdueView view{.clock = state.clock};
    add_waiting(state, wall, limit, view);
    for (const auto& [thing, lines] : state.places.blocked()) {
        if (view.free_things.size() >= limit) break;
        if (is_overlooked(state, thing)) view.free_things.push_back(thing);
    }
    return view;
}

JobPage show_list(const State& state, const JobFilter& filter) {
    JobPage page;
    auto it = filter.before ? state.jobs.lower_bound(*filter.before) : state.jobs.end();
    while (it != state.jobs.begin()) {
        const JobRow& job = (--it)->second;
        if (!is_wanted(job, filter)) continue;
        if (page.jobs.size() == filter.limit) {
            page.next = page.jobs.back().id;
            break;
        }
        page.jobs.push_back(show_line(state, job));
    }
    return page;
}

Overview show_overview(const State& state, const std::string& tenant) {
    Overview overview{.clock = state.clock};
    std::map<std::string, QueueLine> queues;
    for (const auto& [id, job] : state.jobs) {
        if (job.spec->tenant != tenant) continue;
        ++queues[job.spec->queue].jobs[static_cast<std::size_t>(state_of(job))];
    }
    for (const auto& [of, queue] : state.paused_queues)
        if (of == tenant) queues[queue].paused = true;
    for (auto& [name, line] : queues) {
        line.queue = name;
        overview.queues.push_back(line);
    }
    for (const auto& [thing, max] : state.holders.limits())
        if (thing.tenant == tenant)
            overview.limits.push_back({thing.name, max, state.holders.taken(thing)});
    for (const auto& [id, session] : state.sessions) {
        if (!session.open || session.offer.tenant != tenant) continue;
        if (auto line = show_worker(state, session)) overview.workers.push_back(std::move(*line));
    }
    std::stable_sort(overview.workers.begin(), overview.workers.end(),
                     [](const auto& a, const auto& b) { return a.worker < b.worker; });
    return overview;
}

AuditView show_audit(const State& state, JobId after, std::uint32_t limit) {
    AuditView view{.repairs = state.repairs, .fenced = state.fenced, .clock = state.clock};
    auto it = state.jobs.upper_bound(after);
    for (; it != state.jobs.end() && view.jobs.size() < limit; ++it)
        view.jobs.push_back(show_job(state, it->second));
    view.more = it != state.jobs.end();
    if (!view.jobs.empty()) view.last = view.jobs.back().id;
    if (after) return view;
    for (const auto& [thing, slots] : state.holders.rows())
        for (const auto& [slot, job] : slots) view.holders.push_back({thing, slot, job});
    return view;
}

}  // namespace perdure::reference
