// Which groups may stay in memory (T4).
#include <algorithm>
#include <variant>

#include "core/ownership/unwritten.h"
#include "store/engine/apply/apply.h"

namespace perdure::store {
namespace {

struct SaysNothingNew {
    State& state;
    ServiceTime now;  // when the group has been applied

    bool operator()(const Tick&) const { return true; }
    bool operator()(const Claim&) const { return state.shapes.total(JobState::ready) == 0; }
    bool operator()(const ForgetEnded&) const { return !is_anything_to_forget(state, now); }
    bool operator()(const TakeKeeper& c) const { return c.expected.holder == c.next.holder; }
    bool operator()(const Heartbeat& c) const {
        const auto* known = state.session(c.session);
        if (!known || !known->open || state.unheard.contains(c.session)) return false;
        const bool has_nothing = c.attempts.empty() && state.runs_of(c.session).empty();
        return has_nothing && known->given_up == 0 && c.number > known->heartbeat &&
               c.seen == known->seen && c.slots == known->slots && c.draining == known->draining &&
               c.offer == known->offer && c.lease <= state.timing.lease;
    }
    template <class Other>
    bool operator()(const Other&) const {
        return false;
    }
};

std::optional<Duration> due_in(State& state, WallTime wall) {
    const auto& [at, date] = state.next_due();
    std::optional<Duration> first;
    if (at) first = *at - state.now();
    if (date) first = std::min(first.value_or(*date - wall), *date - wall);
    return first;
}

}  // namespace

bool says_nothing_new(State& state, const Group& group) {
    auto now = state.now();
    for (const auto& change : group.changes)
        if (const auto* tick = std::get_if<Tick>(&change)) now = std::max(now, tick->next.now);
    return std::all_of(group.changes.begin(), group.changes.end(), [&](const Change& change) {
        return std::visit(SaysNothingNew{state, now}, change);
    });
}

UnwrittenDecision check_idleness(State& state, const Group& group) {
    const bool is_quiet = says_nothing_new(state, group);
    UnwrittenFacts facts{.says_nothing_new = is_quiet, .has_work = state.has_work()};
    // Nobody need look for the next deadline if there is work.
    if (is_quiet && !facts.has_work) facts.due_in = due_in(state, group.wall);
    if (state.unwritten_since) facts.unwritten_for = state.now() - *state.unwritten_since;
    return decide_unwritten(facts, state.timing);
}

}  // namespace perdure::store
