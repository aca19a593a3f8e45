// The measures of `perdure bench --scale`. Each starts instances of its own in fresh folders,
// takes a small case and then the large one, and gives up when its time is over: what it has
// reached by then is its figure, and the row says so.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/deadline.h"
#include "bench/instance.h"
#include "bench/scale/scale_rows.h"

namespace perdure::bench {

struct ScaleWorld {
    std::string folder;       // of the measure's own
    std::size_t waiting = 0;  // how many jobs wait, where that is the question
    double limit_s = 0;       // for each case of a measure
};

// A server without a worker, or with one, in a new folder of the measure.
Result<std::unique_ptr<Instance>> start_in(const ScaleWorld& world, const std::string& name,
                                           InstanceOptions options);

using ScaleRows = Result<std::vector<ScaleRow>>;

ScaleRows measure_many_queues(const ScaleWorld& world);
ScaleRows measure_many_kinds(const ScaleWorld& world);
ScaleRows measure_many_tenants(const ScaleWorld& world);
ScaleRows measure_many_workers(const ScaleWorld& world);
ScaleRows measure_wide_limit(const ScaleWorld& world);
ScaleRows measure_many_attempts(const ScaleWorld& world);
ScaleRows measure_heartbeats(const ScaleWorld& world);
ScaleRows measure_many_ready(const ScaleWorld& world);
ScaleRows measure_many_after(const ScaleWorld& world);
ScaleRows measure_retention(const ScaleWorld& world);
ScaleRows measure_awaited_submits(const ScaleWorld& world);
ScaleRows measure_idle(const ScaleWorld& world);

struct ScaleMeasure {
    std::string name;
    std::string about;
    ScaleRows (*run)(const ScaleWorld&);
};
// All of them, in the order in which they are taken.
const std::vector<ScaleMeasure>& scale_measures();

}  // namespace perdure::bench
