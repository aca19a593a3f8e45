// What a group has done to jobs, for those who count it: read off the write set, so that only what
// is written is counted, and once.
#pragma once

#include <vector>

#include "ports/store.h"
#include "store/engine/write_set.h"

namespace perdure::store {

std::vector<JobEvent> events_of(const WriteSet& set, ServiceTime now);

}  // namespace perdure::store
