// What a job says to its shim: the requests of docs/protocol/job-socket.md, read off a buffer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/policy/cause.h"

namespace perdure {

inline constexpr std::size_t request_line_max = 4096;  // with its newline
inline constexpr std::size_t request_body_max = std::size_t{1} << 20;

struct JobRequest {
    enum class Kind { progress, begin, checkpoint, verdict, result, call } kind = Kind::begin;
    int percent = 0;
    std::string body;    // of a checkpoint, result or call; a progress's text
    std::string method;  // of a call
    std::string target;
    Cause verdict = Cause::exit;         // of a verdict
    std::optional<WallTime> verdict_at;  // of `verdict at`
};

// A request, or why it will never be one, or neither: more bytes are needed.
struct ParsedRequest {
    std::optional<JobRequest> request;
    std::string problem;
    std::size_t consumed = 0;
};

ParsedRequest parse_request(std::string_view buffer);

// RFC 3339 with a `T` and an offset or `Z`.
std::optional<WallTime> parse_date(std::string_view text);

}  // namespace perdure
