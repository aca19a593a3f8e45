// PlaceTables: writes jobs and their places. A job that is written leaves its old place in the same
// breath; each step touches exactly one row (C3).
#pragma once

#include <string_view>
#include <vector>

#include "store/sql/tables/load.h"
#include "store/sql/tables/place_rows.h"
#include "store/sqlite/db/batch_insert.h"
#include "store/sqlite/db/statement.h"
#include "store/sqlite/tables/history_tables.h"
#include "store/sqlite/tables/line_tables.h"
#include "store/sqlite/tables/range_delete.h"
#include "store/sqlite/tables/ready_deadlines.h"
#include "store/sqlite/tables/retention_queue.h"

namespace perdure::store::sqlite {

using sql::LineRange;

class PlaceTables {
public:
    PlaceTables(Connection& connection, Loader& load);

    LineTables& lines() { return lines_; }

    // Brings the tables to what the rows say. `at` is the job whose turn it is, if it is one's.
    void save(const std::vector<JobRow*>& jobs, JobId& at);
    void write_one_by_one() { one_by_one_ = true; }
    // The jobs, their places and their history are no more.
    void forget(const std::vector<ForgottenJob>& jobs, JobId& at);
    void write(const LargeChange& change) { history_.write(change); }

    // Whose retention may be over.
    std::vector<ForgetNote> to_forget(ServiceTime now, std::uint32_t max) {
        return retention_queue_.due(now, max);
    }
    void write(const TakenNote& note) { retention_queue_.take(note); }

    void tidy_ready_deadlines() { ready_deadlines_.tidy(); }

private:
    void leave(const std::vector<JobRow*>& jobs, JobId& at);
    void finish_inserts();
    bool may_leave_in_a_range(const JobRow& job) const;
    void leave_lines(std::vector<const JobRow*>& jobs);
    void leave(const LineRange& range);
    void enter(JobRow& job);
    void insert(const JobRow& job);
    void insert_ready(const JobRow& job, const Ready& ready, std::string_view life);
    void erase(const JobRow& job, const PlaceRow& place);
    void erase_ready(const JobRow& job, const Ready& ready);
    void erase_notes(const JobRow& job, const Ready& ready);
    void leave_for_good(const JobRow& job);

    LineTables lines_;
    BatchInsert insert_job_, insert_ready_, insert_run_, insert_outcome_;
    Statement insert_timer_, insert_blocked_, insert_wait_, delete_wait_;
    Statement delete_timer_, delete_ready_, delete_blocked_;
    Statement insert_line_, delete_line_, insert_want_, delete_want_;
    Statement delete_range_, delete_like_range_;
    RangeDelete run_exit_, outcome_exit_;
    HistoryTables history_;
    ReadyDeadlines ready_deadlines_;
    RetentionQueue retention_queue_;
    bool one_by_one_ = false;
    std::uint64_t unchanged_since_ = 0;  // rows read before this may have new neighbours
};

}  // namespace perdure::store::sqlite
