// What most handlers begin with: the job that the path names, and the body as JSON.
#pragma once

#include <optional>
#include <span>

#include "api/http/message.h"
#include "api/http/problem.h"
#include "base/id.h"
#include "base/result.h"
#include "core/job.h"
#include "wire/json_reader.h"

namespace perdure::handlers {

// not_found if the path's first name is no id.
Result<JobId> job_of(const Request& request);

// Reads a JSON object with known fields; an empty body counts as {}.
template <class T>
std::optional<Misfit> read_body(const Request& request, std::span<const JsonField<T>> fields,
                                T& into) {
    if (request.body.find_first_not_of(" \t\r\n") == std::string::npos) return std::nullopt;
    boost::json::value root;
    if (auto misfit = parse_strict(request.body, root)) return misfit;
    Reading reading;
    read_fields<T>(JsonCursor(root, reading), fields, into);
    return reading.misfit;
}

// For routes that take neither body nor parameters.
std::optional<Misfit> expect_nothing(const Request& request);

}  // namespace perdure::handlers
