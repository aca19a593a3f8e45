// Log chunks on their way up, without any encoding of their bytes. One after another: a line of
// JSON, {"job","epoch","offset","size"}, and then exactly `size` bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/json_reader.h"
#include "wire/worker_protocol.h"

namespace perdure {

inline constexpr std::size_t log_chunks_max = 1000;  // in one request

std::string log_frames(const std::vector<LogChunk>& chunks);
std::optional<ParseError> read_log_frames(std::string_view body, std::vector<LogChunk>& into);

}  // namespace perdure
