// Campaign: many seeds in one process: run, repeat some of them to prove determinism, shrink what
// fails, and keep the figures.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/simulation.h"

namespace perdure::sim {

using StoreFactory = std::function<std::unique_ptr<Store>(const Plan&)>;

struct Failure {
    Verdict verdict;
    FaultSet masked;      // fault classes that are not needed for it
    std::string command;  // replays it
};

struct Figures {
    std::uint64_t seeds = 0;
    std::uint64_t faults = 0;
    std::uint64_t events = 0;
    std::uint64_t accepted = 0;
    std::uint64_t quiet = 0;     // runs in which too little happened
    std::uint64_t repeated = 0;  // seeds that were run twice and compared
    Duration simulated;
    std::vector<Failure> failures;

    void add(const Figures& other);
};

class Campaign {
public:
    // `forced`: this store, whatever the seed has drawn.
    explicit Campaign(StoreFactory make_store, std::optional<StoreKind> forced = std::nullopt)
        : make_store_(std::move(make_store)), forced_(forced) {}

    Verdict run(std::uint64_t seed, Mode mode, const FaultSet& masked, std::size_t trace_lines);
    // Runs one seed and keeps its figures. One in a hundred runs twice.
    void add(std::uint64_t seed, Mode mode);
    const Figures& figures() const { return figures_; }
    bool shrink = true;

private:
    FaultSet shrunk(const Verdict& verdict);

    StoreFactory make_store_;
    std::optional<StoreKind> forced_;
    Figures figures_;
};

std::string replay_command(std::uint64_t seed, Mode mode, const FaultSet& masked,
                           std::optional<StoreKind> forced);
std::string describe(const Failure& failure);

}  // namespace perdure::sim
