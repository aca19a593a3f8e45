// Submitting so that a lost answer costs nothing: the same idempotency key again, the same job
// [P1].
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>

#include "cli/command_context.h"

namespace perdure::cli {

struct SubmitAnswer {
    std::optional<boost::json::value> body;  // empty: `code` says why, and it has been said
    ExitCode code = ExitCode::ok;
};

// `body` has an idempotency key in each job. A server that cannot be reached at the first try is
// an error at once; a lost answer, and a server that is busy, are tried again for 30 s. `typed`:
// one job made of options: what is refused is named by its option.
enum class SpecSource { options, file };
SubmitAnswer submit_surely(Context& context, const std::string& body, const std::string& key,
                           SpecSource source);

// Why there is no job to submit.
ExitCode not_made(Context& context, const Error& why);
// Every job gets a key of its own, made from one, so that the whole can be repeated.
void add_keys(boost::json::array& jobs, const std::string& key);
// The ids on standard output; what else is worth knowing for the person.
ExitCode print_submitted(Context& context, boost::json::value answer, const std::string& key);

}  // namespace perdure::cli
