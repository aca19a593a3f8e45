// Measures: Perdure end to end, over HTTP, in processes of its own.
// Each uses a queue of its own and checks the counts before it believes its figure.
#pragma once

#include <string>

#include "base/result.h"
#include "bench/instance.h"
#include "bench/samples.h"

namespace perdure::bench {

// The first batch that an instance gets: interns a shape, faults pages in.
Result<void> warm_up(Instance& instance);

// Whole lives a second: submitted in batches of 1,000, claimed, run in the worker, ended. Until
// the last one has ended. `queue`: one that was never used.
Result<double> measure_lives(Instance& instance, const std::string& queue, std::size_t jobs);

struct Drain {
    double submit_batch_per_s = 0;  // into a paused queue, batches of 1,000
    double per_s = 0;               // from the moment at which it may go on
};
Result<Drain> measure_drain(Instance& instance, const std::string& queue, std::size_t jobs);

// Durable submits, one job each, into a paused queue.
Result<double> measure_single_submits(Instance& instance, const std::string& queue,
                                      std::size_t jobs, std::size_t connections);

// From before the submit was sent until the server had the report that the job had run: an upper
// bound for submit to start, on one host's clock. 100 jobs a second, nothing else to do.
Result<Spread> measure_latency(Instance& instance, std::size_t jobs);

// `true` as a supervised command.
Result<double> measure_commands(Instance& instance, const std::string& queue, std::size_t jobs);

struct Waiting {
    Spread claim_empty_ms;     // from the report of one job to the assignment of the next
    Spread claim_ms;           // the same with many waiting
    double first_claim_s = 0;  // after a kill with many waiting, from the start on
};
// These start servers of their own in an empty folder; the bench is their worker.
Result<Waiting> measure_waiting(const std::string& folder, std::size_t waiting);
// The same claims with many behind one key.
Result<Spread> measure_behind_key(const std::string& folder, std::size_t waiting);

}  // namespace perdure::bench
