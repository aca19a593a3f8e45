// How loud the failure of a job is in the server's log.
#pragma once

#include <optional>

#include "base/level.h"

namespace perdure {

// As the server is configured. A callback that fails has nobody left to react: CRITICAL.
struct FailureLevels {
    Level of_jobs = Level::error;
    Level of_callbacks = Level::critical;
};

struct FailureFacts {
    std::optional<Level> of_job;  // what its author says
    bool is_callback = false;
    bool alarming = false;  // its policy would let it crash for ever
};

constexpr Level decide_failure_level(const FailureFacts& facts, const FailureLevels& levels) {
    if (facts.alarming) return Level::critical;
    if (facts.of_job) return *facts.of_job;
    return facts.is_callback ? levels.of_callbacks : levels.of_jobs;
}

}  // namespace perdure
