#include "store/sqlite/tables/ready_deadlines.h"

#include <vector>

namespace perdure::store::sqlite {

ReadyDeadlines::ReadyDeadlines(Connection& c)
    : insert_(c,
              "INSERT OR IGNORE INTO ready_wake (wake_at, shape, rank, since) VALUES (?, ?, ?, ?)"),
      next_(c,
            "SELECT wake_at, shape, rank, since FROM ready_wake"
            " WHERE (wake_at, shape, rank, since) > (?, ?, ?, ?)"
            " ORDER BY wake_at, shape, rank, since LIMIT ?"),
      is_used_(c,
               "SELECT 1 FROM ready WHERE shape = ? AND rank = ? AND since = ? AND wake_at = ?"
               " LIMIT 1"),
      delete_(
          c, "DELETE FROM ready_wake WHERE wake_at = ? AND shape = ? AND rank = ? AND since = ?") {}

void ReadyDeadlines::add(ServiceTime wake_at, ShapeId shape, std::int64_t rank, ServiceTime since) {
    const Wake wake{wake_at.us, shape, rank, since.us};
    if (wake == last_) return;  // mostly
    last_ = wake;
    if (written_.insert(wake).second) insert_.run({wake_at, shape, rank, since});
}

void ReadyDeadlines::remove_if_unused(const Wake& wake) {
    const auto& [at, shape, rank, since] = wake;
    {
        auto row = is_used_.query({shape, rank, since, at});
        if (row.next()) return;
    }
    delete_.run_one({at, shape, rank, since});
}

void ReadyDeadlines::tidy() {
    // Faster than they are written, so that they cannot pile up.
    const auto batch = static_cast<std::int64_t>(2 * written_.size() + 8);
    written_.clear();
    last_ = {};
    std::vector<Wake> wakes;
    {
        const auto& [at, shape, rank, since] = tidied_;
        auto row = next_.query({at, shape, rank, since, batch});
        while (row.next())
            wakes.emplace_back(row.number(0), row.number(1), row.number(2), row.number(3));
    }
    for (const auto& wake : wakes) remove_if_unused(wake);
    const bool is_end = static_cast<std::int64_t>(wakes.size()) < batch;
    tidied_ = is_end ? Wake{INT64_MIN, 0, 0, 0} : wakes.back();
}

}  // namespace perdure::store::sqlite
