#include "store/sqlite/db/batch_insert.h"

#include <numeric>

namespace perdure::sqlite {
namespace {

std::string insert(const std::string& into, std::size_t columns, std::size_t rows) {
    std::string row = "(?";
    for (std::size_t i = 1; i < columns; ++i) row += ", ?";
    row += ")";
    auto sql = "INSERT INTO " + into + " VALUES " + row;
    for (std::size_t i = 1; i < rows; ++i) sql += ", " + row;
    return sql;
}

}  // namespace

BatchInsert::BatchInsert(Connection& connection, const std::string& into, int columns)
    : columns_(static_cast<std::size_t>(columns)),
      many_sql_(insert(into, columns_, rows_max)),
      one_sql_(insert(into, columns_, 1)),
      many_(connection, many_sql_.c_str()),
      one_(connection, one_sql_.c_str()) {
    waiting_.reserve(columns_ * rows_max);
    bytes_.reserve(bytes_max);
}

bool BatchInsert::fits(std::initializer_list<Value> row) const {
    const auto size = std::accumulate(
        row.begin(), row.end(), bytes_.size(),
        [](std::size_t sum, const Value& value) { return sum + value.bytes.size(); });
    return size <= bytes_max;
}

void BatchInsert::add(std::initializer_list<Value> row) {
    if (!fits(row)) finish();
    if (!fits(row)) return one_.run_one(row);
    for (const auto& value : row) {
        auto& kept = waiting_.emplace_back(value);
        const auto start = bytes_.size();
        bytes_.append(value.bytes);
        kept.bytes = std::string_view(bytes_).substr(start);
    }
    if (waiting_.size() < columns_ * rows_max) return;
    if (many_.run(waiting_.data(), waiting_.size()) != static_cast<int>(rows_max))
        fail_corrupt("not every row was written: " + many_sql_);
    waiting_.clear();
    bytes_.clear();
}

void BatchInsert::finish() {
    for (std::size_t i = 0; i < waiting_.size(); i += columns_)
        if (one_.run(waiting_.data() + i, columns_) != 1)
            fail_corrupt("a row was not written: " + one_sql_);
    waiting_.clear();
    bytes_.clear();
}

}  // namespace perdure::sqlite
