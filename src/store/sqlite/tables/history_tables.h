// HistoryTables: what a job has behind it: earlier attempts, large values, entries of the ledger.
// It goes with the job's own row.
#pragma once

#include "store/engine/write_set.h"
#include "store/sqlite/db/statement.h"
#include "store/sqlite/tables/range_delete.h"

namespace perdure::store::sqlite {

class HistoryTables {
public:
    explicit HistoryTables(Connection& connection);

    void save(JobId job, const AttemptRow& attempt);
    void write(const LargeChange& change);

    // The job's row and all of its history; it has left its place. Done by finish_removal().
    void remove(JobId job) { jobs_.add(job); }
    void finish_removal();
    // Its row alone: the rest is removed in pieces (C8).
    void remove_without_history(JobId job) { delete_job_.run_one({job}); }

private:
    Statement save_attempt_, insert_large_, delete_large_;
    RangeDelete jobs_;
    Statement delete_attempts_, delete_all_large_, delete_ledger_, delete_job_;
};

}  // namespace perdure::store::sqlite
