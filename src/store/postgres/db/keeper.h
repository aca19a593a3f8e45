// Keeper: this server's right to write the cell (C1, C7): an epoch that every group names. It is
// taken on each new connection, by a compare-and-set that waits for whatever group of the epoch
// before is still under way; only then is the cell read.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "store/postgres/db/connection.h"

namespace perdure::store::postgres {

class Keeper {
public:
    explicit Keeper(std::string holder) : holder_(std::move(holder)) {}

    // On a connection that has just been made. The first time the cell is taken from whoever held
    // it, unless that one's backend is still there (conflict); later from itself alone: fenced, if
    // somebody else has taken it meanwhile.
    // `by_force`: the first time, from one that is there as well.
    void take(Connection& connection, bool by_force);

    std::int64_t backend() const { return backend_; }
    std::int64_t epoch() const { return epoch_; }
    // Of the last group that was committed, as far as this keeper was told.
    std::int64_t last_group() const { return last_group_; }
    void note_committed(std::int64_t number) { last_group_ = number; }

private:
    struct Cell {
        std::int64_t epoch = 0;
        std::string holder;
        std::int64_t backend = 0;
        std::string backend_start;
    };

    static Cell read(Connection& connection);
    static void wait_for_holder(Connection& connection, const Cell& cell);
    void take_over(Connection& connection, std::int64_t from);
    void end_own_backend(Connection& connection);

    std::string holder_;
    std::int64_t epoch_ = 0;  // 0: it was never taken
    std::int64_t last_group_ = 0;
    std::int64_t backend_ = 0;
    std::string backend_start_;
};

}  // namespace perdure::store::postgres
