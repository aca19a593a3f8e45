// The environment of a job, as the options --env and --env-file give it. What is taken from the
// caller's own environment, or looks like a secret, will be in the server's database: that is said.
#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_context.h"

namespace perdure::cli {

const std::vector<Option>& environment_options();

// Files first, in their order, then each --env: the last one counts.
// invalid: a line that is not understood, or a variable that the caller does not have.
Result<void> add_environment(Context& context, boost::json::object& job);

}  // namespace perdure::cli
