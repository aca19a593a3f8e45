// Damaged rows as JSON (docs/protocol/http.md).
#pragma once

#include <vector>

#include "ports/damage.h"
#include "wire/json_writer.h"

namespace perdure {

// What a person can do about it.
std::string remedy_of(const Damaged& row);
// "damaged": [...]
void write_damaged(JsonWriter& out, const std::vector<Damaged>& rows);

}  // namespace perdure
