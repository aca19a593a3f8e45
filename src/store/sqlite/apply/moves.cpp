#include "store/sqlite/apply/moves.h"

namespace perdure::sqlite {
namespace {

bool promote_first(State& state, const Thing& thing, ShapeId shape) {
    const auto id = state.places().first_blocked(thing, shape);
    if (!id) return false;
    JobRow& job = state.job_that_exists(*id);
    const auto* blocked = job.in<Blocked>();
    if (!blocked) fail_corrupt("job " + id->text() + " is listed as blocked");
    ++state.promoted;
    move(state, job, Ready{blocked->stay, std::nullopt});
    return true;
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

std::size_t restore_line(State& state, const Thing& thing) {
    std::size_t promoted = 0;
    const auto free = state.holders.free(thing);
    if (free == 0) return promoted;
    for (const auto shape : shapes_blocked_on(state, thing)) {
        while (state.places().wanting(thing, shape, free) < free &&
               promote_first(state, thing, shape))
            ++promoted;
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
