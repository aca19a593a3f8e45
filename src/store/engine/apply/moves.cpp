#include "store/engine/apply/moves.h"

#include <algorithm>
#include <map>

#include "base/zoo.h"

namespace perdure::store {
namespace {

// The first `max` of a shape's jobs that are blocked on a permit, or all of them, and says whom.
std::vector<JobId> promote(State& state, const Permit& permit, ShapeId shape, std::uint32_t max) {
    std::vector<JobId> first;
    if (max == 0) return first;
    // One that cannot be understood stays where it is: it must not stop those behind it.
    state.lines().find_blocked(permit, shape, [&](JobId id) {
        if (state.readable(id)) first.push_back(id);
        return first.size() == max;
    });
    for (const auto id : first) {
        JobRow& job = state.job_that_exists(id);
        const auto* blocked = job.in<Blocked>();
        if (!blocked) fail_corrupt("job " + id.text() + " is listed as blocked");
        auto entry = blocked->entry;
        state.promoted.push_back({entry.order, shape});
        if (zoo(Bug::queue_deadline_restarts_on_promotion))
            entry.queue_deadline = state.now() + job.spec->timeouts.queue;
        move(state, job, Ready{entry, std::nullopt});
    }
    return first;
}

// Calls it for each shape behind one that may have a job blocked on the permit, while the group has
// room; the rest is owed (C8).
template <class Call>
void for_each_shape_blocked_on(State& state, const Permit& permit, ShapeId behind, Call call) {
    if (state.shapes.total(JobState::blocked) == 0) return state.debts.pay(permit);
    while (const auto shape = state.lines().next_shape_blocked_on(permit, behind)) {
        if (state.room == 0) return state.debts.owe(permit, behind);
        state.spend(1);
        call(*shape);
        behind = *shape;
    }
    state.debts.pay(permit);
}

void promote_first_of_each_shape(State& state, const Permit& permit) {
    if (zoo(Bug::promotion_forgotten_on_free)) return;
    if (state.holders.free(permit) == 0) return;
    // What is owed of it begins there: whoever pays looks at all that follow.
    if (state.debts.owes(permit)) return state.debts.owe(permit, 0);
    for_each_shape_blocked_on(state, permit, 0,
                              [&](ShapeId shape) { promote(state, permit, shape, 1); });
}

// The first of a shape's jobs that are blocked on a permit are in memory then. One that cannot be
// understood stands for none.
void load_blocked(State& state, const Permit& permit, ShapeId shape, std::uint32_t wanted) {
    for (std::size_t asked = wanted, readable = 0; readable < wanted;) {
        std::vector<JobId> first;
        state.lines().find_blocked(permit, shape, [&](JobId id) {
            if (first.size() < asked) first.push_back(id);
            return first.size() == asked;
        });
        state.load_jobs(first);
        readable = static_cast<std::size_t>(std::count_if(
            first.begin(), first.end(), [&](JobId id) { return state.readable(id) != nullptr; }));
        if (first.size() < asked) return;
        asked += wanted - std::min<std::size_t>(readable, wanted);
    }
}

// Only who holds a permit frees it.
void preload_permit_of(State& state, const Permit& permit, PermitMoves moves) {
    const auto& holders = state.holders;
    moves.free = std::min(holders.free(permit) + moves.free, holders.max(permit));
    preload_permit(state, permit, moves);
}

}  // namespace

// More than restore_line() may ask for, whatever the jobs that are moved hold or want.
void preload_permit(State& state, const Permit& permit, const PermitMoves& moves) {
    const auto& [free, jobs, first_behind] = moves;
    if (free == 0 || state.shapes.total(JobState::blocked) == 0) return;
    const auto offered = std::min(free, promotion_window);
    auto behind = first_behind;
    for (auto room = state.room;
         const auto shape = state.lines().next_shape_blocked_on(permit, behind); --room) {
        if (room == 0) return;
        const auto wanting = state.lines().wanting(permit, *shape, offered + jobs);
        const auto staying = wanting - std::min(wanting, jobs);
        load_blocked(state, permit, *shape, offered - std::min(offered, staying) + jobs);
        behind = *shape;
    }
}

void preload_permits(State& state, const JobRow& job) {
    for (const auto& permit : job.permits) {
        const bool is_held = state.holders.is_held_by(permit, job.id);
        preload_permit_of(state, permit, {.free = is_held ? 1U : 0U, .jobs = 1});
    }
}

// It may be the first that is.
void preload_permits_before_blocking(State& state, const JobRow& job) {
    for (const auto& permit : job.permits) state.lines().next_shape_blocked_on(permit, 0);
    preload_permits(state, job);
}

void preload_permits(State& state, const std::vector<const JobRow*>& jobs) {
    std::map<Permit, PermitMoves> moved;
    for (const auto* job : jobs) {
        for (const auto& permit : job->permits) {
            auto& moves = moved[permit];
            ++moves.jobs;
            if (state.holders.is_held_by(permit, job->id)) ++moves.free;
        }
    }
    for (const auto& [permit, moves] : moved) preload_permit_of(state, permit, moves);
}

void move(State& state, JobRow& job, PlaceRow next) {
    const bool wanted = job.wants_its_permits();
    if (auto* outcome = std::get_if<Outcome>(&next)) {
        if (!outcome->ended_at) {
            outcome->ended_at = state.now();
            outcome->ended_on = state.service.wall;
            const bool is_watched = !job.spec->callbacks.empty() || job.watched != false;
            if (is_watched) state.ended.push_back(job.id);
        }
        outcome->forget_at =
            *outcome->ended_at + decide_retention(outcome->state, outcome->discarded, state.timing);
    }
    state.put(job, std::move(next));
    if (!wanted || zoo(Bug::next_in_line_forgotten)) return;
    for (const auto& permit : job.permits) restore_line(state, permit);
}

void move_and_free(State& state, JobRow& job, PlaceRow next) {
    move(state, job, std::move(next));
    for (const auto& permit : job.permits) {
        if (state.holders.release(permit, job.id)) promote_first_of_each_shape(state, permit);
    }
}

std::vector<JobId> restore_line(State& state, const Permit& permit, ShapeId behind) {
    std::vector<JobId> promoted;
    const auto free = state.holders.free(permit);
    if (free == 0) {
        // Whoever frees it next begins anew.
        state.debts.pay(permit);
        return promoted;
    }
    for_each_shape_blocked_on(state, permit, behind, [&](ShapeId shape) {
        const auto enough = std::min(free, promotion_window);
        const auto decision = decide_promotion(
            {.free = free, .wanting = state.lines().wanting(permit, shape, enough)});
        const auto some = promote(state, permit, shape, decision.promote);
        state.spend(some.size());
        promoted.insert(promoted.end(), some.begin(), some.end());
    });
    return promoted;
}

QueueEntry begin_entry(const State& state, const JobRow& job, InLine where,
                       std::optional<SessionId> avoid) {
    const auto now = state.now();
    const bool first = where == InLine::first_in_line;
    QueueEntry entry{
        .order = {.priority = job.spec->priority, .in_turn = !first, .since = now, .job = job.id},
        .queue_deadline = now + job.spec->timeouts.queue};
    if (zoo(Bug::first_in_line_jumps_priority) && first) entry.order.priority = 0;
    if (avoid) entry.avoid = Avoid{*avoid, now + state.timing.prefer_another};
    return entry;
}

}  // namespace perdure::store
