// Figures: everything that one run of the bench has measured, and how it is told: a table for
// people, one JSON object for programs. Nothing is rounded before it is told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/ceilings/ceilings.h"
#include "bench/instance.h"
#include "bench/measures/measures.h"
#include "bench/rounds.h"

namespace perdure::bench {

struct Figures {
    DiskSpeed disk;
    std::size_t rounds = 0;

    Rounds lives;  // ceiling: raw SQLite; other: blind writes
    Rounds drain;  // the same
    std::size_t drained = 0;
    double submit_batch_per_s = 0;
    Rounds submits;  // ceiling: bare Beast
    Spread latency_ms;
    Rounds commands;  // ceiling: bare shims; other: those one by one
    std::string containment;
    Memory idle;
    Memory after_load;
    std::size_t waited = 0;  // how many jobs were waiting for the next two
    std::optional<Waiting> waiting;
    std::optional<Spread> behind_key;
    std::vector<std::string> failures;  // what could not be measured, and why: it is 0 above
};

std::string as_table(const Figures& figures);
std::string as_json(const Figures& figures);

}  // namespace perdure::bench
