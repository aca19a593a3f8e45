// What a running job asks of a server as its attempt, and the answer: requests of the HTTP
// interface, passed on by its shim and its worker (docs/protocol/worker.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/id.h"
#include "core/job/job.h"
#include "wire/json_reader.h"

namespace perdure {

struct InsideCall {
    SessionId session;  // of the worker, when it passes this on
    AttemptKey attempt;
    std::uint64_t number = 0;  // the shim's: what is asked again after a lost answer has the same
    std::string method;        // GET or POST
    std::string target;        // path and query
    std::string body;
};
inline constexpr std::size_t inside_target_max = 2'000;
inline constexpr std::size_t inside_body_max = std::size_t{1} << 20;

struct InsideReply {
    std::uint32_t status = 0;
    std::string body;  // JSON, in one line
};

void append_json(std::string& out, const InsideCall& call);
std::optional<ParseError> from_json(std::string_view text, InsideCall& into);
void append_json(std::string& out, const InsideReply& reply);
std::optional<ParseError> from_json(std::string_view text, InsideReply& into);

// What the job is told when no server has answered, or may.
InsideReply refused_inside(const Error& why);

}  // namespace perdure
