// Base 64 with padding, for bytes that must pass through JSON unchanged.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace perdure {

std::string base64_text(std::string_view bytes);
// Empty unless `text` is exactly what base64_text() makes of some bytes.
std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace perdure
