// Names of rows, for people and for discarding: the values of the primary key, one after the other,
// with a slash between them. What is no plain character of a text is written as %XX.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace perdure::store {

using KeyValue = std::variant<std::int64_t, std::string>;
using RowKey = std::vector<KeyValue>;

std::string row_name(const RowKey& key);

}  // namespace perdure::store
