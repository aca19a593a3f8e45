// PlaceTables: writes jobs and their places, and finds jobs by where they are. A job that is
// written leaves its old place in the same breath; each step touches exactly one row (C3).
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "store/sql/tables/load.h"
#include "store/sql/tables/place_rows.h"
#include "store/sqlite/db/batch_insert.h"
#include "store/sqlite/db/statement.h"
#include "store/sqlite/tables/forget_notes.h"
#include "store/sqlite/tables/history_tables.h"
#include "store/sqlite/tables/range_delete.h"
#include "store/sqlite/tables/wakes.h"

namespace perdure::store::sqlite {

using sql::Loader;
using sql::Stretch;

class PlaceTables : public LineReader {
public:
    PlaceTables(Connection& connection, Loader& load);

    // Brings the tables to what the rows say. `at` is the job whose turn it is, if it is one's.
    void save(const std::vector<JobRow*>& jobs, JobId& at);
    void write_one_by_one() { one_by_one_ = true; }
    // The jobs, their places and their history are no more.
    void forget(const std::vector<ForgottenJob>& jobs, JobId& at);
    void write(const LargeChange& change) { history_.write(change); }

    std::uint32_t read_line(const LineQuery& query, const TakeRow& take) override;
    std::vector<ShapeId> shapes_blocked_on(const Thing& thing, ShapeId behind,
                                           std::uint32_t max) override;
    void find_blocked(const Thing& thing, ShapeId shape, const std::optional<ClaimOrder>& behind,
                      const std::function<bool(const ClaimOrder&)>& is_it) override;
    std::uint32_t wanting(const Thing& thing, ShapeId shape, std::uint32_t enough) override;
    std::vector<JobId> kept() override;
    Submits submits(JobId after, std::uint32_t max, const std::set<JobId>& gone) override {
        return load_.submits(after, max, gone);
    }
    Due next_due() override { return load_.next_due(); }
    SessionId owner_of_damaged_run(JobId job) override;

    // Whose retention may be over.
    std::vector<ForgetNote> to_forget(ServiceTime now, std::uint32_t max) {
        return forget_notes_.due(now, max);
    }
    void write(const TakenNote& note) { forget_notes_.take(note); }

    void tidy_wakes() { wakes_.tidy(); }

private:
    Found line_after(const LineQuery& query);
    void leave(const std::vector<JobRow*>& jobs, JobId& at);
    void finish_inserts();
    bool may_leave_in_a_stretch(const JobRow& job) const;
    void leave_lines(std::vector<const JobRow*>& jobs);
    void leave(const Stretch& stretch);
    void enter(JobRow& job);
    void insert(const JobRow& job);
    void insert_ready(const JobRow& job, const Ready& ready, std::string_view life);
    void erase(const JobRow& job, const PlaceRow& place);
    void erase_ready(const JobRow& job, const Ready& ready);
    void erase_notes(const JobRow& job, const Ready& ready);
    void leave_for_good(const JobRow& job);

    Loader& load_;
    BatchInsert insert_job_, insert_ready_, insert_run_, insert_outcome_;
    Statement insert_timer_, insert_blocked_, insert_wait_, delete_wait_;
    Statement delete_timer_, delete_ready_, delete_blocked_;
    Statement insert_line_, delete_line_, insert_want_, delete_want_;
    Statement line_after_, whole_line_after_, next_shape_, blocked_line_, wanting_, kept_;
    Statement delete_stretch_, delete_like_stretch_, run_row_;
    RangeDelete run_exit_, outcome_exit_;
    HistoryTables history_;
    Wakes wakes_;
    ForgetNotes forget_notes_;
    bool one_by_one_ = false;
    std::uint64_t rows_read_ = 0;
    std::uint64_t unchanged_since_ = 0;  // rows read before this may have new neighbours
};

}  // namespace perdure::store::sqlite
