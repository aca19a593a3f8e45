// perdure bench --scale: costs that must not grow with what is there, each in a small and in a
// large case of the same run.
#pragma once

#include <vector>

#include "bench/bench_options.h"
#include "bench/scale/scale_rows.h"
#include "testbed/scratch.h"

namespace perdure::bench {

// Those measures that the options name, or all. One that fails costs no other its figure: it has a
// row that says why. Progress goes to standard error.
std::vector<ScaleRow> run_scale(const Options& options, const Scratch& scratch);

}  // namespace perdure::bench
