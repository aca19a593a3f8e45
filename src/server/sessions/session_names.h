// SessionNames: the workers behind sessions, for people.
#pragma once

#include <vector>

#include "base/id.h"
#include "ports/catalogue.h"
#include "ports/store.h"
#include "ports/task.h"

namespace perdure {

// Sessions that are not there any more are left out.
Task<SessionNames> names_of_workers(Store& store, std::vector<SessionId> sessions);

}  // namespace perdure
