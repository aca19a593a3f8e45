// The options that describe a job, the same for `run` and `submit`, and the JSON they become.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_context.h"

namespace perdure::cli {

const std::vector<Option>& job_options();

// The job object of docs/protocol/http.md. Only shape and numbers are looked at here; whether the
// job is acceptable is the server's to say.
Result<boost::json::object> job_from(Context& context);

// The option behind a part of that object: "--priority" of "$.priority". Empty: there is none.
std::string_view option_of_path(std::string_view path);

// "cli-" and 128 random bits: a submit that is repeated finds the first job.
std::string new_idempotency_key(System& system);
// Gives a job its key. One that was made up here is for repetitions of a submit: nobody asks for it
// later, and it outlives its job by an hour only.
void set_key(boost::json::object& job, const std::string& key);

}  // namespace perdure::cli
