// Arms the fault points that `debug.faults` names, once for each process, and says so.
#pragma once

#include <fmt/ranges.h>

#include <string>

#include "base/fault.h"
#include "base/log.h"
#include "config/config.h"
#include "platform/entropy.h"

namespace perdure {

// The words were checked with the configuration.
inline void arm_configured_faults(const Config& config, const std::string& counts_file,
                                  const Log& log) {
    if (config.faults.empty()) return;
    auto faults = parse_faults(config.faults);
    if (!faults) return;
    arm_faults(std::move(*faults), counts_file, Entropy().next());
    log.write(Level::warn, "fault points are armed", "faults",
              fmt::format("{}", fmt::join(config.faults, ",")));
}

}  // namespace perdure
