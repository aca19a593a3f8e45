// Options that relate jobs: --after, --on-success, --on-failure, --on-end, and --notify, a webhook
// at the end. A command inside an option is words as a shell would split them, never given to a
// shell; or a job object as JSON.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cli/job/callers_folder.h"

namespace perdure::cli {

const std::vector<Option>& relation_options();
// Callbacks that are words, not JSON, run in the same folder as the job itself would.
Result<void> add_relations(const Args& args, CallersFolder* folder, boost::json::object& job);

// 'echo "a b"' is two words. Quotes and backslashes as in a shell; nothing else is special.
Result<std::vector<std::string>> split_words(std::string_view text);
// Whether it is a job object as JSON, and not words.
bool is_job_object(std::string_view text);
// A job object of its words, or of JSON.
Result<boost::json::object> job_of_text(std::string_view text);

}  // namespace perdure::cli
