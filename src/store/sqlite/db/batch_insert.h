// BatchInsert: rows for one table, written many at a time. Half of what a single insert costs is
// beginning and ending its statement. Rows wait here until there are enough of them, or finish().
// Most rows of a group are alike but for a few columns: what is the same in all is bound once.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {

class BatchInsert {
public:
    // `how`: "INSERT INTO run (job, session, ...)". `own`: in which columns, counted from 0, any
    // two rows differ.
    BatchInsert(Connection& connection, const std::string& how, std::size_t columns,
                std::vector<std::size_t> own);

    // Text and blobs are copied.
    void add(std::initializer_list<Value> row);
    // Everything that was added is in the table.
    void finish();

private:
    static constexpr std::size_t rows_max = 32;
    static constexpr std::size_t bytes_max = 64 * 1024;

    bool is_like_the_first(std::initializer_list<Value> row) const;
    void write_many();
    int write_alike();

    std::size_t columns_;
    std::vector<std::size_t> own_, shared_;  // columns
    std::string alike_sql_, many_sql_, one_sql_;
    Statement alike_, many_, one_;
    std::vector<Value> waiting_;
    bool are_alike_ = true;  // those that wait, but for their own columns
    std::vector<Value> bound_;
    std::string bytes_;  // of what waits; never grows beyond its first capacity
};

}  // namespace perdure::store::sqlite
