// How a store walks through the ledger for people: newest entries first, a bounded number of them
// for each read (`ledger_walk_max`).
#pragma once

#include <optional>

#include "ports/catalogue.h"

namespace perdure {

// What a filter looks at in an entry.
struct EntryFacts {
    Detector detector = Detector::report;
    Incident incident = Incident::process_died;
    std::optional<Cause> cause;
    WallTime on;
};

inline bool is_wanted(const RecoveryFilter& filter, const EntryFacts& entry) {
    return (!filter.cause || entry.cause == filter.cause) &&
           (!filter.detector || entry.detector == *filter.detector) &&
           (!filter.incident || entry.incident == *filter.incident) &&
           (!filter.since || entry.on >= *filter.since);
}

// Entries are in the order in which they were made, nearly that of their dates: behind one of this
// date nothing is wanted, unless a clock was set back by more than a day.
inline bool is_long_before(const RecoveryFilter& filter, WallTime on) {
    return filter.since && on + days(1) < *filter.since;
}

}  // namespace perdure
