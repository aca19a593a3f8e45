#include "store/sqlite/tables/line_tables.h"

#include <algorithm>
#include <numeric>

#include "store/engine/rows/codec.h"

namespace perdure::store::sqlite {
namespace {

using sql::Behind;
using sql::order_of;

// The columns that Loader::ready_job() takes, the job, and those of Loader::whole_ready_job().
constexpr int line_job = 7;
constexpr int line_asked = 8;
constexpr const char* line_of_places =
    "SELECT rank, since, queue_deadline, kept_until, avoid, avoid_until, life, job"
    " FROM ready WHERE shape = ? AND (rank, since, job) > (?, ?, ?)"
    " ORDER BY rank, since, job LIMIT ?";
constexpr const char* line_of_jobs =
    "SELECT rank, since, queue_deadline, kept_until, avoid, avoid_until, life, ready.job,"
    " job.shape, body_hash, body_hash_high, submitted_at, spec FROM ready"
    " LEFT JOIN job ON id = ready.job"
    " WHERE ready.shape = ? AND (rank, since, ready.job) > (?, ?, ?)"
    " ORDER BY rank, since, ready.job LIMIT ?";

// The same of several lines; which of them is the last column.
constexpr int line_shape = 8;
constexpr int whole_line_shape = 13;
constexpr const char* lines_of_places =
    "SELECT rank, since, queue_deadline, kept_until, avoid, avoid_until, life, job, shape"
    " FROM ready WHERE shape BETWEEN ? AND ? ORDER BY shape, rank, since, job";
constexpr const char* lines_of_jobs =
    "SELECT rank, since, queue_deadline, kept_until, avoid, avoid_until, life, ready.job,"
    " job.shape, body_hash, body_hash_high, submitted_at, spec, ready.shape FROM ready"
    " LEFT JOIN job ON id = ready.job"
    " WHERE ready.shape BETWEEN ? AND ?"
    " ORDER BY ready.shape, rank, since, ready.job";
// To step over a few rows costs less than a statement of its own; over the rest of a long line,
// more. Nor is a statement much beside many rows.
constexpr ShapeId neighbours_apart_max = 4;
constexpr std::uint32_t stepped_over_max = 4;
constexpr std::uint32_t few_rows_max = 7;

constexpr const char* how_many_want =
    "SELECT count(*) FROM (SELECT 1 FROM want WHERE tenant = ? AND kind = ? AND name = ?"
    " AND shape = ? LIMIT ?)";

}  // namespace

LineTables::LineTables(Connection& c, Loader& load)
    : load_(load),
      line_after_(c, line_of_places),
      whole_line_after_(c, line_of_jobs),
      lines_(c, lines_of_places),
      whole_lines_(c, lines_of_jobs),
      next_shape_(c,
                  "SELECT shape FROM blocked WHERE tenant = ? AND kind = ? AND name = ?"
                  " AND shape > ? AND kind IS NOT NULL ORDER BY shape LIMIT 1"),
      blocked_line_(c,
                    "SELECT rank, since, job FROM blocked WHERE tenant = ? AND kind = ?"
                    " AND name = ? AND shape = ? AND kind IS NOT NULL"
                    " AND (rank, since, job) > (?, ?, ?) ORDER BY rank, since, job"),
      wanting_(c, how_many_want),
      kept_(c, "SELECT job FROM ready WHERE kept_until IS NOT NULL ORDER BY job"),
      run_row_(c, "SELECT session, life FROM run WHERE job = ?") {}

Found LineTables::line_after(const LineQuery& query) {
    auto& line = query.jobs_are_loaded ? line_after_ : whole_line_after_;
    const Behind behind(query.behind);
    return line.query({query.shape, behind.rank, behind.since, behind.job, query.max});
}

std::uint32_t LineTables::read_line(const LineQuery& query, const TakeRow& take) {
    ++rows_read_;  // what is read now does not follow what was read before
    auto row = line_after(query);
    JobId id;
    const LoadRow load = [&] {
        return query.jobs_are_loaded ? load_.ready_job(id, row)
                                     : load_.whole_ready_job(id, row, line_asked);
    };
    std::uint32_t rows = 0;
    for (; row.next(); ++rows) {
        id = JobId{row.bits(line_job)};
        take(order_of(row.number(0), row.number(1), id), ++rows_read_, load);
    }
    return rows;
}

// Lines whose shapes lie close together are read with one statement.
std::vector<std::uint32_t> LineTables::read_lines(const std::vector<LineQuery>& queries,
                                                  const TakeRowOf& take) {
    std::vector<std::size_t> by_shape(queries.size());
    std::iota(by_shape.begin(), by_shape.end(), std::size_t{0});
    const auto shape_of = [&](std::size_t at) { return queries[by_shape[at]].shape; };
    std::sort(by_shape.begin(), by_shape.end(),
              [&](std::size_t a, std::size_t b) { return queries[a].shape < queries[b].shape; });
    std::vector<std::uint32_t> rows(queries.size());
    for (Neighbours lines{queries, by_shape}; lines.next < by_shape.size();) {
        lines.end = lines.next + 1;
        while (lines.end < by_shape.size() && lines.query().max <= few_rows_max &&
               shape_of(lines.end - 1) < shape_of(lines.end) &&
               shape_of(lines.end) <= shape_of(lines.end - 1) + neighbours_apart_max)
            ++lines.end;
        if (lines.end > lines.next + 1 && read_neighbours(lines, take, rows)) continue;
        const auto at = by_shape[lines.next++];
        rows[at] =
            read_line(queries[at], [&](const QueuePosition& order, std::uint64_t read_as,
                                       const LoadRow& load) { take(at, order, read_as, load); });
    }
    return rows;
}

// As many of them as can be read by one statement; all of them, if nothing is in the way. False:
// not even the first.
bool LineTables::read_neighbours(Neighbours& lines, const TakeRowOf& take,
                                 std::vector<std::uint32_t>& rows) {
    const bool are_loaded = lines.query().jobs_are_loaded;
    const auto first = lines.next;
    const auto last = lines.queries[lines.by_shape[lines.end - 1]].shape;
    auto row = (are_loaded ? lines_ : whole_lines_).query({lines.query().shape, last});
    JobId id;
    const LoadRow load = [&] {
        return are_loaded ? load_.ready_job(id, row) : load_.whole_ready_job(id, row, line_asked);
    };
    ++rows_read_;  // what is read of a line does not follow what was read before
    std::uint32_t passed_over = 0;
    while (row.next()) {
        const ShapeId shape = row.number(are_loaded ? line_shape : whole_line_shape);
        for (; lines.query().shape < shape; ++lines.next) ++rows_read_;
        const auto& query = lines.query();
        const auto at = lines.by_shape[lines.next];
        id = JobId{row.bits(line_job)};
        const auto order = order_of(row.number(0), row.number(1), id);
        const bool is_full = rows[at] == query.max;
        if (shape == query.shape && !is_full && query.behind < order) {
            take(at, order, ++rows_read_, load);
            ++rows[at];
            passed_over = 0;
        } else if (++passed_over == stepped_over_max) {
            if (is_full) ++lines.next;
            return lines.next > first;
        }
    }
    lines.next = lines.end;
    return true;
}

std::vector<ShapeId> LineTables::shapes_blocked_on(const Permit& permit, ShapeId behind,
                                                   std::uint32_t max) {
    std::vector<ShapeId> shapes;
    // From shape to shape: a million jobs behind one key are one step.
    while (shapes.size() < max) {
        auto row = next_shape_.query({permit.tenant, code(permit.kind), permit.name, behind});
        if (!row.next()) break;
        behind = row.number(0);
        shapes.push_back(behind);
    }
    return shapes;
}

void LineTables::find_blocked(const Permit& permit, ShapeId shape,
                              const std::optional<QueuePosition>& behind,
                              const std::function<bool(const QueuePosition&)>& is_it) {
    const Behind from(behind);
    auto row = blocked_line_.query(
        {permit.tenant, code(permit.kind), permit.name, shape, from.rank, from.since, from.job});
    while (row.next())
        if (is_it(order_of(row.number(0), row.number(1), JobId{row.bits(2)}))) return;
}

std::uint32_t LineTables::wanting(const Permit& permit, ShapeId shape, std::uint32_t enough) {
    auto row = wanting_.query({permit.tenant, code(permit.kind), permit.name, shape, enough});
    return row.next() ? static_cast<std::uint32_t>(row.number(0)) : 0;
}

std::vector<JobId> LineTables::kept() {
    std::vector<JobId> jobs;
    auto row = kept_.query({});
    while (row.next()) jobs.push_back({row.bits(0)});
    return jobs;
}

SessionId LineTables::owner_of_damaged_run(JobId job) {
    auto row = run_row_.query({job});
    if (!row.next()) return {};
    return sql::owner_in_run(row);
}

}  // namespace perdure::store::sqlite
