// Figures: everything that one run of the bench has measured, and how it is told: a table for
// people, one JSON object for programs. Nothing is rounded before it is told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/ceilings/ceilings.h"
#include "bench/instance.h"
#include "bench/measures/measures.h"

namespace perdure::bench {

struct Figures {
    DiskSpeed disk;
    StoreCeiling raw;
    double bare_http_per_s = 0;
    ShimCeiling shims;

    double lives_per_s = 0;
    Drain drain;
    std::size_t drained = 0;
    double submit_single_per_s = 0;
    Spread latency_ms;
    double commands_per_s = 0;
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
