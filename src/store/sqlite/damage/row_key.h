// Keys of rows: which columns they are, and how a row is found again by its name
// (store/engine/row_name.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/engine/row_name.h"
#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {

struct KeyColumn {
    std::string name;
    bool is_text = false;
};

// In the order of the primary key. Empty: there is no such table.
std::vector<KeyColumn> key_of_table(Connection& connection, const std::string& table);

// Empty: that is no name of a row of this table.
std::optional<RowKey> parse_row_name(const std::vector<KeyColumn>& columns, std::string_view name);
// The first columns of a query, as many as `columns`.
RowKey key_in(const Found& row, const std::vector<KeyColumn>& columns);
std::vector<Value> values_of(const RowKey& key);
// "(a, b) = (?, ?)" with another operator, if wished.
std::string where_key(const std::vector<KeyColumn>& columns, std::string_view operation);
std::string names_of(const std::vector<KeyColumn>& columns);

}  // namespace perdure::store::sqlite
