// Where a job is, who holds what, and who follows (C3, C4, E6); and the ledger.
#pragma once

#include "tests/contract/reference/rows.h"

namespace perdure::reference {

struct Places : Rows {
    bool is_paused(const Job& job) const {
        return paused.contains({job.spec->tenant, job.spec->queue});
    }

    PermitFacts facts_of(const Permit& permit, JobId by) const {
        PermitFacts facts{.permit = permit};
        if (permit.kind == Permit::Kind::limit) facts.max = limits.at(permit);
        for (const auto& [held, holder] : holders) {
            if (held.first != permit) continue;
            holder == by ? facts.held_by_this_job = true : ++facts.taken;
        }
        return facts;
    }

    // C4: what is free is offered to as many jobs of each shape as decide_promotion() says. What
    // was freed just now is offered to the first of each shape, whoever else wants it.
    void offer(const Permit& permit, bool is_freed) {
        const auto facts = facts_of(permit, JobId{});
        const auto free = facts.max - std::min(facts.max, facts.taken);
        std::map<Shape, std::map<QueuePosition, Job*>> blocked;
        std::map<Shape, std::uint32_t> wanting;
        for (auto& [id, job] : jobs) {
            if (job.blocked_on == permit) blocked[job.shape()][job.order()] = &job;
            if (job.wants() && contains(job.permits(), permit)) ++wanting[job.shape()];
        }
        for (const auto& [shape, line] : blocked) {
            auto promoted =
                is_freed ? std::min(free, 1U) : decide_promotion({free, wanting[shape]}).promote;
            for (auto it = line.begin(); it != line.end() && promoted > 0; ++it, --promoted)
                move(*it->second, JobState::ready);
        }
    }

    void release(const Job& job) {
        for (const auto& permit : job.permits()) {
            const auto freed = std::erase_if(holders, [&](const auto& entry) {
                return entry.first.first == permit && entry.second == job.id;
            });
            if (freed > 0) offer(permit, true);
        }
    }

    // C3: a job is in one place, and what belonged to the last one goes. If it was offered its
    // permits, others may follow it; what it has by then it has (C4).
    void move(Job& job, JobState to) {
        const bool wanted = job.wants();
        const bool stays = to == JobState::ready || to == JobState::blocked;  // one stay in both
        job.state = to;
        job.due.reset();
        job.date.reset();
        job.kept_until.reset();
        job.blocked_on.reset();
        if (!stays) job.queue_deadline.reset();
        if (to == JobState::ready) work_appeared = true;
        if (!wanted) return;
        for (const auto& permit : job.permits()) offer(permit, false);
    }

    // A new stay in `ready`. E6: the first in line is before all of its own priority, no higher.
    void line_up(Job& job, bool is_first, std::optional<SessionId> avoid) {
        move(job, JobState::ready);
        job.queue_deadline = now() + job.spec->timeouts.queue;
        job.since = now();
        job.is_first = is_first;
        job.avoid = avoid;
        job.avoid_until = now() + timing.prefer_another;
    }

    void end(Job& job, JobState as, Cause cause, std::string_view rule, bool may_have_run = false) {
        move(job, as);
        job.presumed_lost = false;
        job.total_deadline.reset();
        job.cause = cause;
        job.rule = rule;
        job.may_have_run = may_have_run;
        job.discarded = false;
        job.ended_at = now();
        job.ended_on = wall;
        job.forget_at = now() + decide_retention(as, false, timing);
        ended.push_back(job.id);
        release(job);
    }

    void enter(const Job& job, SessionId owner, const RepairFacts& facts) {
        const auto decision = decide_repair(facts);
        if (!decision) return;
        auto entry = recovery_of({job.id, job.epoch}, job.spec->effects, facts, *decision);
        entry.id = ++last_recovery;
        entry.on = wall;
        if (const auto* session = find_in(sessions, owner)) entry.worker = session->worker;
        ledger.push_back(entry);
        entered.push_back(entry);
    }
};

}  // namespace perdure::reference
