// Which jobs of the quarantine a command is about: those that are named, or all that fit.
#pragma once

#include <boost/json/array.hpp>
#include <optional>
#include <vector>

#include "cli/command_context.h"

namespace perdure::cli {

// --queue, --kind, --cause, --older-than.
std::vector<Option> quarantine_filters();
bool has_filter(const Args& args);

struct Quarantined {
    std::optional<boost::json::array> jobs;  // newest first; empty: it was said why not
    ExitCode code = ExitCode::ok;
};
// All that nobody has dealt with and that fit the filters.
Quarantined find_quarantined(Context& context);

}  // namespace perdure::cli
