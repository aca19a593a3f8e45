// Restarting our own processes: what a watchdog does when one of its children has ended (L1), and
// when it may say that all of them are alive.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/exit_code.h"
#include "base/time.h"

namespace perdure {

struct ChildEndFacts {
    bool told_to_stop = false;
    bool by_signal = false;
    int exit_code = 0;           // if it was no signal
    bool ever_ready = false;     // this child has been ready once, in this life or an earlier one
    Duration ready_for;          // how long this life was ready; zero: it never was
    std::uint32_t in_a_row = 0;  // earlier short lives since the last long one
};

struct ChildEndDecision {
    // stopped: as ordered. left: it went by itself, on purpose. again: start it after `wait`.
    // give_up: starting it again cannot help; the watchdog ends with the child's exit code.
    enum class Kind { stopped, left, again, give_up } kind = Kind::again;
    Duration wait;
    bool short_life = false;  // counts for the next back-off
    std::string_view rule;
};

ChildEndDecision decide_child_end(const ChildEndFacts& facts);

// A sign of life for whoever watches the watchdog: it must mean that the loops of its children
// turn, not only its own.

struct ChildLoopFacts {
    bool ready = false;     // in this life; before, it has no loop yet
    bool stopping = false;  // told to stop: it has a time limit of its own
    bool alive = false;     // has said so since the last sign of life
};

// False: one of them is silent. The sign is due, and is given when that one has spoken.
bool decide_sign_of_life(std::span<const ChildLoopFacts> children);

}  // namespace perdure
