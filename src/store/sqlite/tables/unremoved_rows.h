// UnremovedRows: what jobs that are removed have left, because it was too much for one group (C8).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "store/engine/write_set.h"
#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {

class UnremovedRows {
public:
    explicit UnremovedRows(Connection& connection);

    // How many rows there are; no more than `enough` are counted.
    std::uint32_t count(JobId job, std::uint32_t enough);
    void remove(const LeftoverPiece& piece);

private:
    struct Table {
        Table(Connection& c, const char* count_sql, const char* remove_sql)
            : count(c, count_sql), remove(c, remove_sql) {}
        Statement count;
        Statement remove;
    };
    std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace perdure::store::sqlite
