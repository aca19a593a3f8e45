// RangeDelete: takes rows out of a table by their integer key. Those that were written together
// mostly leave together, so that neighbours in the table leave with one statement; how many rows
// that changed is checked (C3).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {

// From one key to another, both included.
struct KeyRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

class RangeDelete {
public:
    RangeDelete(Connection& connection, const std::string& table, const std::string& key);

    void add(JobId job) { leaving_.push_back(static_cast<std::int64_t>(job.value)); }
    // Every row that was added has left. `each` is called for the ranges that they make: of the
    // table's rows, a range had those that were added and no others.
    void finish(const std::function<void(const KeyRange&)>& each = {});
    void leave(JobId job) { delete_.run_one({job}); }

private:
    using Keys = std::vector<std::int64_t>;

    Keys neighbours();
    void leave(const KeyRange& range, std::size_t rows);

    std::string table_, between_sql_, delete_sql_, delete_between_sql_;
    Keys leaving_;
    Statement between_, delete_, delete_between_;
};

}  // namespace perdure::store::sqlite
