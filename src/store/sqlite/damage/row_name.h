// Names of rows, for people and for discarding: the values of the primary key, one after the other,
// with a slash between them. What is no plain character of a text is written as %XX.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "store/sqlite/db/statement.h"

namespace perdure::sqlite {

using KeyValue = std::variant<std::int64_t, std::string>;
using RowKey = std::vector<KeyValue>;

struct KeyColumn {
    std::string name;
    bool is_text = false;
};

// In the order of the primary key. Empty: there is no such table.
std::vector<KeyColumn> key_of_table(Connection& connection, const std::string& table);

std::string row_name(const RowKey& key);
// Nothing: that is no name of a row of this table.
std::optional<RowKey> parse_row_name(const std::vector<KeyColumn>& columns, std::string_view name);
// The first columns of a query, as many as `columns`.
RowKey key_in(const Found& row, const std::vector<KeyColumn>& columns);
std::vector<Value> values_of(const RowKey& key);
// "(a, b) = (?, ?)" with another operator, if wished.
std::string where_key(const std::vector<KeyColumn>& columns, std::string_view operation);
std::string names_of(const std::vector<KeyColumn>& columns);

}  // namespace perdure::sqlite
