// What becomes of jobs by a change that was committed: one place that knows all replies that tell.
#pragma once

#include <functional>

#include "ports/changes.h"

namespace perdure {

using TakeNext = std::function<void(JobId, const Next&)>;

// Called for each attempt that it has ended, and for each wait that it has ended by an outcome.
void for_each_next(const Change& change, const ChangeReply& reply, const TakeNext& take);

}  // namespace perdure
