#include "store/sqlite/tables/history_tables.h"

#include "store/engine/rows/codec.h"

namespace perdure::store::sqlite {

HistoryTables::HistoryTables(Connection& c)
    : save_attempt_(c, "INSERT OR REPLACE INTO attempt (job, epoch, body) VALUES (?, ?, ?)"),
      insert_large_(c, "INSERT OR REPLACE INTO large (job, epoch, kind, body) VALUES (?, ?, ?, ?)"),
      delete_large_(c, "DELETE FROM large WHERE job = ? AND epoch = ? AND kind = ?"),
      jobs_(c, "job", "id"),
      delete_attempts_(c,
                       "DELETE FROM attempt WHERE job BETWEEN ? AND ?"
                       " AND job NOT IN (SELECT job FROM owed_removal)"),
      delete_all_large_(c,
                        "DELETE FROM large WHERE job BETWEEN ? AND ?"
                        " AND job NOT IN (SELECT job FROM owed_removal)"),
      delete_ledger_(c,
                     "DELETE FROM recovery WHERE job BETWEEN ? AND ?"
                     " AND job NOT IN (SELECT job FROM owed_removal)"),
      delete_job_(c, "DELETE FROM job WHERE id = ?") {}

void HistoryTables::save(JobId job, const AttemptRow& attempt) {
    save_attempt_.run_one({job, attempt.epoch.value, Value::blob(encode(attempt))});
}

void HistoryTables::write(const LargeChange& change) {
    const auto& [attempt, kind, bytes] = change;
    if (bytes)
        return insert_large_.run_one(
            {attempt.job, attempt.epoch.value, code(kind), Value::blob(*bytes)});
    delete_large_.run_one({attempt.job, attempt.epoch.value, code(kind)});
}

// A range has no job but those that go, and what is owed of others goes in pieces (C8).
void HistoryTables::finish_removal() {
    jobs_.finish([&](const KeyRange& jobs) {
        for (auto* rows : {&delete_attempts_, &delete_all_large_, &delete_ledger_})
            rows->run({jobs.first, jobs.last});
    });
}

}  // namespace perdure::store::sqlite
