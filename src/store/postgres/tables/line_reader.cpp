#include "store/postgres/tables/line_reader.h"

#include "base/assert.h"
#include "store/engine/rows/codec.h"
#include "store/sql/tables/place_rows.h"

namespace perdure::store::postgres {
namespace {

using sql::Found;

constexpr int line_job = 7;
constexpr int line_asked = 8;
// What was asked comes with it: another round trip would cost more than it saves.
constexpr const char* line_sql =
    "SELECT r.*, j.shape, j.body_hash, j.body_hash_high, j.submitted_at, j.spec FROM"
    " (SELECT rank, since, queue_deadline, kept_until, avoid, avoid_until, life, job FROM ready"
    " WHERE shape = ? AND (rank, since, job) > (?, ?, ?) ORDER BY rank, since, job LIMIT ?) AS r"
    " LEFT JOIN LATERAL (SELECT shape, body_hash, body_hash_high, submitted_at, spec FROM job"
    " WHERE id = r.job OFFSET 0) AS j ON true ORDER BY r.rank, r.since, r.job";

}  // namespace

PostgresLines::PostgresLines(Connection& connection, sql::Loader& load, PlaceWriter& places)
    : connection_(connection),
      load_(load),
      places_(places),
      line_(connection, line_sql),
      kept_(connection, "SELECT job FROM ready WHERE kept_until IS NOT NULL ORDER BY job"),
      run_row_(connection, "SELECT session, life FROM run WHERE job = ?") {}

std::vector<std::uint32_t> PostgresLines::read_lines(const std::vector<LineQuery>& queries,
                                                     const TakeRowOf& take) {
    std::vector<ResultPtr> results(queries.size());
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const auto& query = queries[i];
        const sql::Behind behind(query.behind);
        line_.send({query.shape, behind.rank, behind.since, behind.job, query.max},
                   [&results, i](ResultPtr result) { results[i] = std::move(result); });
    }
    connection_.collect();
    std::vector<std::uint32_t> counts;
    for (std::size_t i = 0; i < queries.size(); ++i) {
        places_.next_read();  // what is read now does not follow what was read before
        ResultRows rows(std::move(results[i]));
        Found row(rows);
        std::uint32_t count = 0;
        for (; row.next(); ++count) {
            const JobId id{row.bits(line_job)};
            const LoadRow load = [&] { return load_.whole_ready_job(id, row, line_asked); };
            take(i, sql::order_of(row.number(0), row.number(1), id), places_.next_read(), load);
        }
        counts.push_back(count);
    }
    return counts;
}

std::uint32_t PostgresLines::read_line(const LineQuery& query, const TakeRow& take) {
    return read_lines({query}, [&](std::size_t, const QueuePosition& order, std::uint64_t read_as,
                                   const LoadRow& load) { take(order, read_as, load); })
        .front();
}

// These three are asked for in sets (load_many.h), and never one by one.
std::vector<ShapeId> PostgresLines::shapes_blocked_on(const Permit&, ShapeId, std::uint32_t) {
    PERDURE_ASSERT(!"asked for one by one");
    return {};
}
void PostgresLines::find_blocked(const Permit&, ShapeId, const std::optional<QueuePosition>&,
                                 const std::function<bool(const QueuePosition&)>&) {
    PERDURE_ASSERT(!"asked for one by one");
}
std::uint32_t PostgresLines::wanting(const Permit&, ShapeId, std::uint32_t) {
    PERDURE_ASSERT(!"asked for one by one");
    return 0;
}

std::vector<JobId> PostgresLines::kept() {
    std::vector<JobId> jobs;
    for (auto row = kept_.query({}); row.next();) jobs.push_back({row.bits(0)});
    return jobs;
}

SessionId PostgresLines::owner_of_damaged_run(JobId job) {
    auto row = run_row_.query({job});
    if (!row.next()) return {};
    return sql::owner_in_run(row);
}

}  // namespace perdure::store::postgres
