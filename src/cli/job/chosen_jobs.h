// Which jobs a command acts on: those that are named, or those that fit a filter, after a person
// has seen how many that are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/command_context.h"

namespace perdure::cli {

struct ChosenJobs {
    std::vector<std::string> ids;
    ExitCode code = ExitCode::ok;  // if it is another one, it has been said why there are none
};

// --state, --queue, --kind, --key, --tenant, --all, --yes.
std::vector<Option> filter_options();
bool has_job_filter(const Args& args);

// `states`: which can be acted on, separated by commas; taken if no --state is given.
ChosenJobs jobs_that_fit(Context& context, std::string_view states);
// Named ones, or those that fit; then the person is asked, or has said --yes.
ChosenJobs choose_jobs(Context& context, std::string_view verb, std::string_view states);

// "cancel 17 jobs?" False: nothing shall be done, and the code says why.
bool is_confirmed(Context& context, std::string_view verb, std::size_t jobs, ExitCode& code);

}  // namespace perdure::cli
