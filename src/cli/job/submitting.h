// Submitting so that a lost answer costs nothing: the same idempotency key again, the same job
// [P1].
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>

#include "cli/context.h"

namespace perdure::cli {

struct SubmitAnswer {
    std::optional<boost::json::value> body;  // nothing: `code` says why, and it has been said
    ExitCode code = ExitCode::ok;
};

// `body` has an idempotency key in each job. A server that cannot be reached at the first try is
// an error at once; a lost answer, and a server that is busy, are tried again for 30 s.
SubmitAnswer submit_surely(Context& context, const std::string& body, const std::string& key);

}  // namespace perdure::cli
