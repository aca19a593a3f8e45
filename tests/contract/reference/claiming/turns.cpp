#include "tests/contract/reference/claiming/turns.h"

#include <algorithm>

#include "tests/contract/reference/state.h"

namespace perdure::reference {
namespace {

void set_waiting(Turns& turns, Turn& turn, bool waits) {
    if (waits && !turn.waits) turns.enter(turn);
    if (!waits && turn.waits) turns.leave(turn);
}

template <class Fits>
bool is_any_ready(const State& state, Fits fits) {
    const auto& ready = state.places.ready();
    return std::any_of(ready.begin(), ready.end(), [&](const auto& e) { return fits(e.first); });
}

}  // namespace

void note_who_waits(State& state, const Shape& of) {
    auto& tenant = state.turns[of.tenant];
    auto& queue = tenant.queues[of.queue];
    queue.turn.weight = state.weights.of(of.queue);
    const auto in_queue = [&](const Shape& s) {
        return s.tenant == of.tenant && s.queue == of.queue;
    };
    const auto in_share = [&](const Shape& s) { return in_queue(s) && s.share == of.share; };
    set_waiting(queue.turns, queue.shares[of.share], is_any_ready(state, in_share));
    const bool is_paused = state.paused_queues.contains({of.tenant, of.queue});
    set_waiting(tenant.turns, queue.turn, !is_paused && is_any_ready(state, in_queue));
}

void charge(State& state, const Shape& of) {
    auto& tenant = state.turns.at(of.tenant);
    auto& queue = tenant.queues.at(of.queue);
    tenant.turns.charge(queue.turn);
    queue.turns.charge(queue.shares.at(of.share));
}

void begin_turns_anew(State& state) {
    state.turns.clear();
    for (const auto& [shape, line] : state.places.ready()) note_who_waits(state, shape);
}

}  // namespace perdure::reference
