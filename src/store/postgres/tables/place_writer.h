// PlaceWriter: writes jobs and their places. All leave before anybody enters; each statement says
// how many rows it must touch (C3).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "store/engine/write_set.h"
#include "store/postgres/db/many.h"
#include "store/sql/tables/place_rows.h"

namespace perdure::store::postgres {

class PlaceWriter {
public:
    PlaceWriter();

    // Brings the tables to what the rows say, with what is collected next.
    void save(Connection& connection, const std::vector<JobRow*>& jobs);
    // The same for one job after the other: `at` is the one that a Failure is about.
    void save_one_by_one(Connection& connection, const std::vector<JobRow*>& jobs, JobId& at);
    // The jobs, their places and their history are no more.
    void forget(Connection& connection, const std::vector<ForgottenJob>& jobs);
    void take_notes(Connection& connection, const std::vector<TakenNote>& notes);
    // Removes what stands for no job any more, a piece at a time.
    void tidy_ready_deadlines(Connection& connection);

    // A row of a line was read: its number, for JobRow::read_as.
    std::uint64_t next_read() { return ++rows_read_; }

private:
    using Wake = std::tuple<std::int64_t, ShapeId, std::int64_t, std::int64_t>;

    bool may_leave_in_a_range(const JobRow& job) const;
    void leave(const JobRow& job);
    void leave_lines(Connection& connection, std::vector<const JobRow*>& jobs);
    void leave(Connection& connection, const sql::LineRange& range);
    void erase_notes(const JobRow& job, const Ready& ready);
    void send_leaving(Connection& connection);
    void enter(JobRow& job);
    void insert(const JobRow& job);
    void insert_ready(const JobRow& job, const Ready& ready, std::string_view life);
    void add_wake(ServiceTime wake_at, ShapeId shape, std::int64_t rank, ServiceTime since);
    void send_entering(Connection& connection);
    void write_note(Many& into, ServiceTime forget_at, const std::vector<JobId>& jobs);

    Many leave_timer_, leave_ready_, leave_blocked_, leave_wait_, leave_run_, leave_outcome_;
    Many leave_line_, leave_want_;
    Many job_, ready_, line_, wake_, want_, timer_, blocked_, wait_, run_, outcome_, attempt_;
    Many note_, note_gone_, note_left_;
    Many gone_job_, gone_attempt_, gone_large_, gone_ledger_;
    Text leave_stretch_, leave_like_stretch_, tidy_;
    std::map<ServiceTime, std::vector<JobId>> notes_;
    std::set<Wake> wakes_written_;  // since they were tidied
    Wake last_wake_{};              // of these
    Wake tidied_{INT64_MIN, 0, 0, 0};
    std::uint64_t rows_read_ = 0;
    std::uint64_t unchanged_since_ = 0;  // rows read before this may have new neighbours
};

}  // namespace perdure::store::postgres
