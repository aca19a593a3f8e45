// Whose turn it is (E7), of every queue and every share: counted anew after each move.
#pragma once

#include <map>
#include <string>

#include "core/claim.h"
#include "core/turns.h"

namespace perdure::reference {

struct State;

struct QueueTurns {
    Turn turn;
    Turns turns;  // of its shares
    std::map<std::string, Turn> shares;
};
struct TenantTurns {
    Turns turns;  // of its queues
    std::map<std::string, QueueTurns> queues;
};

// Called after a job came into `ready` or left it, and after its queue was paused or resumed.
void note_who_waits(State& state, const Shape& shape);
void charge(State& state, const Shape& shape);
// As an engine that begins with nothing but its rows.
void begin_turns_anew(State& state);

}  // namespace perdure::reference
