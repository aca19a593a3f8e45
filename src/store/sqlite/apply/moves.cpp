#include "store/sqlite/apply/moves.h"

namespace perdure::sqlite {
namespace {

std::optional<JobId> promote_first(State& state, const Thing& thing, ShapeId shape) {
    JobRow* first = nullptr;
    // One that cannot be understood stays where it is: it must not stop those behind it.
    state.places().find_blocked(thing, shape, [&](JobId id) {
        first = state.readable(id);
        return first != nullptr;
    });
    if (!first) return std::nullopt;
    const auto* blocked = first->in<Blocked>();
    if (!blocked) fail_corrupt("job " + first->id.text() + " is listed as blocked");
    ++state.promoted;
    const auto id = first->id;
    move(state, *first, Ready{blocked->stay, std::nullopt});
    return id;
}

std::vector<ShapeId> shapes_blocked_on(State& state, const Thing& thing) {
    if (state.shapes.total(JobState::blocked) == 0) return {};
    return state.places().shapes_blocked_on(thing);
}

void promote_first_of_each_shape(State& state, const Thing& thing) {
    if (state.holders.free(thing) == 0) return;
    for (const auto shape : shapes_blocked_on(state, thing)) promote_first(state, thing, shape);
}

}  // namespace

void move(State& state, JobRow& job, PlaceRow next) {
    const bool wanted = job.wants_its_things();
    if (auto* outcome = std::get_if<Outcome>(&next)) {
        if (!outcome->ended_at) {
            outcome->ended_at = state.now();
            outcome->ended_on = state.service.wall;
            if (state.relations.is_watched(job)) state.ended.push_back(job.id);
        }
        outcome->forget_at =
            *outcome->ended_at + decide_retention(outcome->state, outcome->discarded, state.timing);
    }
    state.put(job, std::move(next));
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
    const auto free = state.holders.free(thing);
    if (free == 0) return promoted;
    for (const auto shape : shapes_blocked_on(state, thing)) {
        while (state.places().wanting(thing, shape, free) < free) {
            const auto id = promote_first(state, thing, shape);
            if (!id) break;
            promoted.push_back(*id);
        }
    }
    return promoted;
}

Stay begin_stay(const State& state, const JobRow& job, Entry entry,
                std::optional<SessionId> avoid) {
    const auto now = state.now();
    Stay stay{.order = {.priority = job.spec->priority,
                        .behind_the_first = entry != Entry::first_in_line,
                        .since = now,
                        .job = job.id},
              .queue_deadline = now + job.spec->timeouts.queue};
    if (avoid) stay.avoid = Avoid{*avoid, now + state.timing.prefer_another};
    return stay;
}

}  // namespace perdure::sqlite
