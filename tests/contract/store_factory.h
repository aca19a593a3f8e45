// The stores that must pass the contract. To add one, add a line to store_factory.cpp: every test
// then runs against it as well [P12].
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/job/turns.h"
#include "core/ownership/timing.h"
#include "ports/store.h"

namespace perdure::contract {

struct StoreFactory {
    std::string name;
    // An empty store of its own for each test.
    std::unique_ptr<Store> (*make)(const Timing& timing) = nullptr;
    bool restarts = false;   // before each group
    std::uint64_t seed = 0;  // of the random history that a test makes in it
};

const std::vector<StoreFactory>& store_factories();
// What all of them are told about queues.
const QueueWeights& queue_weights();

inline std::ostream& operator<<(std::ostream& out, const StoreFactory& factory) {
    return out << factory.name;
}

}  // namespace perdure::contract
