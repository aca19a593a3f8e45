// A sign of life for whoever watches the watchdog: it must mean that the loops of its children
// turn, not only its own.
#pragma once

#include <span>

namespace perdure {

struct ChildLoopFacts {
    bool ready = false;     // in this life; before, it has no loop yet
    bool stopping = false;  // told to stop: it has a time limit of its own
    bool alive = false;     // has said so since the last sign of life
};

// False: one of them is silent. The sign is due, and is given when that one has spoken.
bool decide_sign_of_life(std::span<const ChildLoopFacts> children);

}  // namespace perdure
