// RunExit: takes jobs out of `run`. Jobs that were claimed together mostly end together, so that
// neighbours in the table leave with one statement; how many rows that changed is checked (C3).
#pragma once

#include <cstdint>
#include <vector>

#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {

class RunExit {
public:
    explicit RunExit(Connection& connection);

    void add(JobId job) { leaving_.push_back(static_cast<std::int64_t>(job.value)); }
    // Everybody who was added has left.
    void finish();
    void leave(JobId job) { delete_.run_one({job}); }

private:
    using Ids = std::vector<std::int64_t>;

    Ids neighbours();
    void leave(std::size_t first, std::size_t last);

    Ids leaving_;
    Statement between_, delete_, delete_between_;
};

}  // namespace perdure::store::sqlite
