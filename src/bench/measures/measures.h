// Measures: Perdure end to end, over HTTP, in processes of its own.
// Each uses a queue of its own and checks the counts before it believes its figure.
#pragma once

#include "base/result.h"
#include "bench/instance.h"
#include "bench/samples.h"

namespace perdure::bench {

// Whole lives a second: submitted in batches of 1,000, claimed, run in the worker, ended. Until
// the last one has ended.
Result<double> measure_lives(Instance& instance, std::size_t jobs);

struct Drain {
    double submit_batch_per_s = 0;  // into a paused queue, batches of 1,000
    double per_s = 0;               // from the moment at which it may go on
};
Result<Drain> measure_drain(Instance& instance, std::size_t jobs);

// Durable submits, one job each, into a paused queue.
Result<double> measure_single_submits(Instance& instance, std::size_t jobs,
                                      std::size_t connections);

// From before the submit was sent until the server had the report that the job had run: an upper
// bound for submit to start, on one host's clock. 100 jobs a second, nothing else to do.
Result<Spread> measure_latency(Instance& instance, std::size_t jobs);

// `true` as a supervised command.
Result<double> measure_commands(Instance& instance, std::size_t jobs);

struct Backlog {
    Spread claim_empty_ms;       // from the report of one job to the assignment of the next
    Spread claim_waiting_ms;     // the same with a million waiting
    Spread claim_behind_key_ms;  // the same with a million behind one key
    double first_claim_s = 0;    // after a kill with a million waiting, from the start on
};
// Starts servers of its own in two empty folders; the bench is their worker.
Result<Backlog> measure_backlog(const std::string& waiting_folder, const std::string& key_folder,
                                std::size_t waiting);

}  // namespace perdure::bench
