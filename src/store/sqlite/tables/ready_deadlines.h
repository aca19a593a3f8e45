// ReadyDeadlines: at which instants something in `ready` is due. Jobs that got in line in the same
// tick and wait equally long share one row of `ready_wake`, so that a deadline costs a job nothing.
// A row whose jobs have all left is removed by one of the next ticks.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>

#include "store/engine/rows/rows.h"
#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {

class ReadyDeadlines {
public:
    explicit ReadyDeadlines(Connection& connection);

    void add(ServiceTime wake_at, ShapeId shape, std::int64_t rank, ServiceTime since);
    // Removes what stands for no job any more, a piece at a time. Called by every tick.
    void tidy();

private:
    using Wake = std::tuple<std::int64_t, ShapeId, std::int64_t, std::int64_t>;

    void remove_if_unused(const Wake& wake);

    Statement insert_, next_, is_used_, delete_;
    std::set<Wake> written_;  // since the last tick
    Wake last_{};             // of these
    Wake tidied_{INT64_MIN, 0, 0, 0};
};

}  // namespace perdure::store::sqlite
