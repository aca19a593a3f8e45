// The client's side of a job's socket (docs/protocol/job-socket.md): one request, one answer.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace perdure {

// `request` is complete, with its body. The answer is one line, without its end.
// unavailable: no connection. outcome_unknown: no answer within `patience`, or a broken connection;
// for `begin`, `checkpoint` and `call` that must be taken for "not committed".
Result<std::string> ask_job_socket(const std::string& path, const std::string& request,
                                   Duration patience = seconds(40));

}  // namespace perdure
