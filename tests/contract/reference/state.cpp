#include "tests/contract/reference/state.h"

#include <algorithm>

#include "base/assert.h"

namespace perdure::reference {
namespace {

// The first `max` of a shape's jobs that are blocked on a thing, or all of them, and says whom.
std::vector<JobId> promote(State& state, const Thing& thing, const Shape& shape,
                           std::uint32_t max) {
    std::vector<JobId> promoted;
    while (promoted.size() < max) {
        const auto id = state.places.first_blocked(thing, shape);
        if (!id) break;
        JobRow& job = state.jobs.at(*id);
        const auto stay = job.in<Blocked>()->stay;
        move(state, job, Ready{stay});
        promoted.push_back(*id);
    }
    return promoted;
}

PromotionDecision decide_for(const State& state, const Thing& thing, const Shape& shape) {
    const auto wanting = static_cast<std::uint32_t>(state.places.wanting(thing, shape));
    return decide_promotion({.free = state.holders.free(thing), .wanting = wanting});
}

void promote_first_of_each_shape(State& state, const Thing& thing) {
    if (state.holders.free(thing) == 0) return;
    for (const auto& shape : state.places.shapes_blocked_on(thing)) promote(state, thing, shape, 1);
}

}  // namespace

JobRow* State::job(JobId id) {
    const auto found = jobs.find(id);
    return found == jobs.end() ? nullptr : &found->second;
}

SessionRow* State::session(SessionId id) {
    const auto found = sessions.find(id);
    return found == sessions.end() ? nullptr : &found->second;
}

bool State::is_paused(const JobRow& job) const {
    return paused_queues.contains({job.shape.tenant, job.shape.queue});
}

bool State::holds_its_things(const JobRow& job) const {
    return std::all_of(job.things.begin(), job.things.end(),
                       [&](const Thing& t) { return holders.is_held_by(t, job.id); });
}

void move(State& state, JobRow& job, PlaceRow next) {
    const bool wanted = job.wants_its_things();
    if (auto* outcome = std::get_if<Outcome>(&next)) {
        if (!outcome->ended_at) {
            outcome->ended_at = state.clock.now;
            outcome->ended_on = state.wall;
            state.ended.push_back(job.id);
        }
        outcome->forget_at =
            *outcome->ended_at + decide_retention(outcome->state, outcome->discarded, state.timing);
    }
    state.places.remove(job);
    note_who_waits(state, job.shape);
    job.place = std::move(next);
    state.places.insert(job);
    note_who_waits(state, job.shape);
    if (job.in<Ready>()) state.work_appeared = true;
    if (!wanted) return;
    for (const auto& thing : job.things) restore_line(state, thing);
}

void move_and_free(State& state, JobRow& job, PlaceRow next) {
    move(state, job, std::move(next));
    for (const auto& thing : job.things) {
        if (state.holders.release(thing, job.id)) promote_first_of_each_shape(state, thing);
    }
}

std::vector<JobId> restore_line(State& state, const Thing& thing) {
    std::vector<JobId> promoted;
    for (const auto& shape : state.places.shapes_blocked_on(thing)) {
        const auto max = decide_for(state, thing, shape).promote;
        const auto some = promote(state, thing, shape, max);
        promoted.insert(promoted.end(), some.begin(), some.end());
    }
    return promoted;
}

bool is_overlooked(const State& state, const Thing& thing) {
    const auto shapes = state.places.shapes_blocked_on(thing);
    return std::any_of(shapes.begin(), shapes.end(), [&](const Shape& shape) {
        return decide_for(state, thing, shape).promote > 0;
    });
}

Stay begin_stay(const State& state, const JobRow& job, Entry entry,
                std::optional<SessionId> avoid) {
    const auto now = state.clock.now;
    const bool first = entry == Entry::first_in_line;
    ClaimOrder order{
        .priority = job.spec->priority, .behind_the_first = !first, .since = now, .job = job.id};
    Stay stay{.order = order, .queue_deadline = now + job.spec->timeouts.queue};
    if (avoid) stay.avoid = Avoid{*avoid, now + state.timing.prefer_another};
    return stay;
}

std::uint64_t draw_assignment(SessionRow& session) { return ++session.assignments; }

}  // namespace perdure::reference
