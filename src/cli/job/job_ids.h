// Ids of jobs as people give them: whole, by their beginning, or @last.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command_context.h"

namespace perdure::cli {

// The whole id of what was given: capital letters as small ones, O as 0, I and L as 1. What cannot
// be the beginning of one is left as it is: the server says that there is no such job.
// not_found: no job begins so, or nothing was submitted from here. invalid: too short, or several.
Result<std::string> whole_id(Context& context, const std::string& given);

// All ids among the words and options of the command.
Result<void> complete_ids(Context& context, Args& args);

}  // namespace perdure::cli
