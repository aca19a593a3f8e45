#include "store/sqlite/state/ledger_table.h"

#include "store/sqlite/rows/codec.h"

namespace perdure::sqlite {

LedgerTable::LedgerTable(Connection& c)
    : insert_(c,
              "INSERT INTO recovery (id, job, epoch, detector, incident, cause, happened_on, body)"
              " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
      forget_(c, "DELETE FROM recovery WHERE job = ?") {}

void LedgerTable::insert(const Recovery& entry) {
    std::optional<std::int64_t> cause;
    if (entry.end) cause = static_cast<std::int64_t>(entry.end->cause);
    insert_.run_one({entry.id, entry.attempt.job, entry.attempt.epoch.value,
                     static_cast<std::int64_t>(entry.detector),
                     static_cast<std::int64_t>(entry.incident), cause, entry.on,
                     Value::blob(encode(entry))});
}

void LedgerTable::forget(JobId job) { forget_.run({job}); }

}  // namespace perdure::sqlite
