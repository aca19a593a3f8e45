// JSON without a library, as much as a tiny program needs: writing strings and checking a text.
#pragma once

#include <string>
#include <string_view>

namespace perdure {

// Appends `bytes` as a JSON string. What is not UTF-8 becomes U+FFFD: output may be anything.
void append_json_string(std::string& to, std::string_view bytes);

// Whether `text` is one JSON value that every reader takes: UTF-8, no lone surrogates, no NUL in
// strings, not nested deeper than 64.
bool is_json(std::string_view text);

}  // namespace perdure
