// Groups of changes, and what a store shows: rows, and what follows from them.
#pragma once

#include "ports/ledger_walk.h"
#include "tests/contract/reference/jobs.h"

namespace perdure::reference {

struct Reference : Jobs {
    using Jobs::apply;

    Reference(const Timing& with, QueueWeights queue_weights) {
        timing = with;
        weights = std::move(queue_weights);
    }

    GroupReply commit(const Group& group) {
        wall = group.wall;
        given_ids = std::max(given_ids, group.id_high_water);
        work_appeared = false;
        entered.clear();
        GroupReply reply;
        bool is_led_astray = false;  // by a tick that came too late: nothing behind it is done (T2)
        for (const auto& change : group.changes) {
            auto answer = is_led_astray
                              ? ChangeReply(refuse(Errc::conflict))
                              : std::visit([&](const auto& c) { return apply(c); }, change);
            if (answer.is(Errc::fenced)) ++fenced;
            const auto* tick = std::get_if<Tick>(&change);
            if (tick && tick->leads_from && !answer) is_led_astray = true;
            reply.replies.push_back(std::move(answer));
            run_end_effects();
        }
        reply.clock = clock;
        reply.keeper = keeper;
        reply.work_appeared = work_appeared;
        reply.recoveries = entered;
        return reply;
    }

    // What an engine does that begins with nothing but its rows (E7).
    void begin_turns_anew() {
        queues.clear();
        shares.clear();
    }

    ChangeReply apply(const Tick& change) {
        const auto from = change.leads_from.value_or(now());
        if (change.seen_tick != clock.tick || from != now()) return refuse(Errc::conflict);
        const bool goes_on = change.next.tick == clock.tick + 1 && change.next.now >= now() &&
                             change.next.grace_until >= clock.grace_until;
        if (!goes_on) return refuse(Errc::invalid);
        clock = change.next;
        return {Applied{}};
    }

    ChangeReply apply(const TakeKeeper& change) {
        if (keeper != change.expected) return refuse(Errc::conflict);
        keeper = change.next;
        return {Applied{}};
    }

    ChangeReply apply(const DefineLimit& change) {
        if (change.max == 0) return refuse(Errc::invalid);
        const Permit limit{Permit::Kind::limit, change.tenant, change.name};
        limits[limit] = change.max;
        offer(limit, false);  // there may be more room now
        return {Applied{}};
    }

    ChangeReply apply(const PauseQueue& change) {
        const Name queue{change.tenant, change.queue};
        // What was `ready` all the time can be claimed again.
        if (!change.paused && paused.erase(queue) > 0) work_appeared = true;
        if (change.paused) paused.insert(queue);
        for (auto& [id, job] : jobs) {
            if (!job.kept_until || !is_paused(job)) continue;
            move(job, JobState::ready);  // nobody may wait for what stands still (C4)
            release(job);
        }
        return {Applied{}};
    }

    RunView view_of_run(const Job& job) const {
        const Attempt& attempt = job.history.back();
        return {.attempt = {job.id, job.epoch},
                .session = attempt.session,
                .assignment = attempt.assignment,
                .state = job.state,
                .terms = attempt.terms,
                .clean = attempt.clean,
                .kill_cause = attempt.kill_cause,
                .recalled = attempt.recalled,
                .confirm_deadline = attempt.confirm_deadline,
                .spec = job.spec,
                .checkpoint = checkpoint_for(job),
                .counts = counts(job, nullptr),
                .inputs = inputs_of(job),
                .worker_policy = sessions.at(attempt.session).policy};
    }

    AuditView audit() const {
        AuditView view{.fenced = fenced, .clock = clock};
        for (const auto& [id, job] : jobs) {
            auto& shown = view.jobs.emplace_back(job);
            for (const auto& attempt : job.history) shown.attempts.push_back(attempt);
            if (job.is_in_run()) shown.run = view_of_run(job);
        }
        for (const auto& [held, job] : holders)
            view.holders.push_back({held.first, held.second, job});
        return view;
    }

    std::optional<SessionView> session(SessionId id) const {
        const auto* row = find_in(sessions, id);
        if (!row) return std::nullopt;
        SessionView view = *row;
        view.clock = clock;
        for (const auto job : runs_of(id)) view.runs.push_back(view_of_run(jobs.at(job)));
        return view;
    }

    // E5: whose instant has come, in order of these; then whose date has.
    OverdueView overdue(WallTime at) const {
        std::set<std::pair<ServiceTime, JobId>> due;
        std::set<std::pair<WallTime, JobId>> dated;
        for (const auto& [id, job] : jobs) {
            const auto facts = wait_facts(job);
            std::optional<ServiceTime> first;
            for (const auto& next : {facts.queue_deadline, facts.due, facts.kept_until,
                                     facts.kill_ordered ? std::nullopt : facts.total_deadline})
                if (next) first = std::min(first.value_or(*next), *next);
            if (first && *first <= now())
                due.emplace(*first, id);
            else if (job.date && *job.date <= at)
                dated.emplace(*job.date, id);
        }
        OverdueView view{.clock = clock};
        for (const auto& [instant, id] : due) view.waiting.push_back(id);
        for (const auto& [date, id] : dated) view.waiting.push_back(id);
        return view;
    }

    static bool is_listed(const Job& job, const JobFilter& f) {
        const auto& spec = *job.spec;
        const bool ended = has_ended(job.state);
        return (!f.before || job.id < *f.before) && spec.tenant == f.tenant &&
               (f.states.empty() || contains(f.states, job.state)) &&
               (!f.queue || spec.queue == *f.queue) && (!f.kind || spec.kind == *f.kind) &&
               (!f.key || spec.key == *f.key) && (!f.cause || (ended && job.cause == *f.cause)) &&
               (!f.ended_before || (ended && *job.ended_on < *f.ended_before)) &&
               !(f.undealt && ended && job.discarded);
    }

    JobLine line_of_job(const Job& job) const {
        JobLine line{.id = job.id,
                     .spec = job.spec,
                     .state = job.state,
                     .epoch = job.epoch,
                     .generation = job.generation};
        if (has_ended(job.state)) {
            line.cause = job.cause;
            line.ended_on = job.ended_on;
            line.may_have_run = job.may_have_run;
            line.discarded = job.discarded;
        }
        if (job.history.empty()) return line;
        const Attempt& last = job.history.back();
        if (job.is_in_run()) line.worker = sessions.at(last.session).worker;
        if (job.state == JobState::quarantined && !is_known_dead(last.end, last.late_result))
            line.may_still_run_on = sessions.at(last.session).worker;
        return line;
    }

    JobPage list(const JobFilter& filter) const {
        JobPage page;
        for (auto it = jobs.rbegin(); it != jobs.rend(); ++it) {
            if (!is_listed(it->second, filter)) continue;
            if (page.jobs.size() == filter.limit) {
                page.next = page.jobs.back().id;
                break;
            }
            page.jobs.push_back(line_of_job(it->second));
        }
        return page;
    }

    Overview overview(const std::string& tenant) const {
        Overview overview{.clock = clock};
        std::map<std::string, QueueLine> lines;
        for (const auto& [id, job] : jobs)
            if (job.spec->tenant == tenant)
                ++lines[job.spec->queue].jobs[static_cast<std::size_t>(job.state)];
        for (const auto& [of, queue] : paused)
            if (of == tenant) lines[queue].paused = true;
        for (auto& [name, line] : lines) {
            line.queue = name;
            overview.queues.push_back(line);
        }
        for (const auto& [limit, max] : limits)
            if (limit.tenant == tenant)
                overview.limits.push_back({limit.name, max, facts_of(limit, JobId{}).taken});
        std::map<std::pair<std::string, SessionId>, WorkerLine> workers;
        for (const auto& [id, session] : sessions) {
            const auto running = static_cast<std::uint32_t>(runs_of(id).size());
            const auto presence = decide_presence(
                {session.heard_at, session.lease_deadline, session.draining, running, now()},
                timing);
            if (!session.open || session.offer.tenant != tenant || presence.left) continue;
            workers[{session.worker, id}] = {.session = id,
                                             .worker = session.worker,
                                             .machine = session.directory.machine,
                                             .slots = session.slots,
                                             .running = running,
                                             .offer = session.offer,
                                             .suspect = presence.suspect,
                                             .deaf = session.hearing.is_deaf(),
                                             .silent_for = now() - session.heard_at,
                                             .lease_left = session.lease_deadline - now(),
                                             .draining = session.draining};
        }
        for (const auto& [name, line] : workers) overview.workers.push_back(line);
        return overview;
    }

    // What came of a repair: the next attempt, or, of what was brought back, the same one.
    RecoveryLine line_of_entry(const Recovery& entry) const {
        RecoveryLine line{.entry = entry};
        const bool again = runs_again(entry.repair);
        for (const auto& attempt : jobs.at(entry.attempt.job).history) {
            const bool is_next = again && attempt.epoch > entry.attempt.epoch;
            const bool is_it =
                is_brought_back(entry.repair) && attempt.epoch == entry.attempt.epoch;
            if (!is_next && !is_it) continue;
            line.epoch_after = attempt.epoch;
            line.worker_after = sessions.at(attempt.session).worker;
            line.acted_on = again ? attempt.started_on.value_or(attempt.claimed_on) : entry.on;
            break;
        }
        return line;
    }

    RecoveryPage recoveries(const RecoveryFilter& filter) const {
        RecoveryPage page;
        for (auto it = ledger.rbegin(); it != ledger.rend(); ++it) {
            const auto& entry = *it;
            const auto cause = entry.end ? std::optional(entry.end->cause) : std::nullopt;
            if ((filter.before && entry.id >= *filter.before) ||
                (filter.job && entry.attempt.job != *filter.job) ||
                jobs.at(entry.attempt.job).spec->tenant != filter.tenant ||
                !is_wanted(filter, {entry.detector, entry.incident, cause, entry.on}))
                continue;
            if (page.recoveries.size() == filter.limit) {
                page.next = page.recoveries.back().entry.id;
                break;
            }
            page.recoveries.push_back(line_of_entry(entry));
        }
        return page;
    }
};

}  // namespace perdure::reference
