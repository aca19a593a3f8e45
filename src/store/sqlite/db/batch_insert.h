// BatchInsert: rows for one table, written many at a time. Half of what a single insert costs is
// beginning and ending its statement. Rows wait here until there are enough of them, or finish().
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "store/sqlite/db/statement.h"

namespace perdure::sqlite {

class BatchInsert {
public:
    // `into`: "run (job, session, ...)".
    BatchInsert(Connection& connection, const std::string& into, int columns);

    // Text and blobs are copied.
    void add(std::initializer_list<Value> row);
    // Everything that was added is in the table.
    void finish();

private:
    static constexpr std::size_t rows_max = 32;
    static constexpr std::size_t bytes_max = 64 * 1024;

    bool fits(std::initializer_list<Value> row) const;

    std::size_t columns_;
    std::string many_sql_, one_sql_;
    Statement many_, one_;
    std::vector<Value> waiting_;
    std::string bytes_;  // of what waits; never grows beyond its first capacity
};

}  // namespace perdure::sqlite
