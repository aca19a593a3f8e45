// LineTables: finds jobs by where they are.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "store/sql/tables/load.h"
#include "store/sql/tables/place_rows.h"
#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {

using sql::Loader;

class LineTables : public LineReader {
public:
    LineTables(Connection& connection, Loader& load);

    std::uint32_t read_line(const LineQuery& query, const TakeRow& take) override;
    std::vector<std::uint32_t> read_lines(const std::vector<LineQuery>& queries,
                                          const TakeRowOf& take) override;
    std::vector<ShapeId> shapes_blocked_on(const Permit& permit, ShapeId behind,
                                           std::uint32_t max) override;
    void find_blocked(const Permit& permit, ShapeId shape,
                      const std::optional<QueuePosition>& behind,
                      const std::function<bool(const QueuePosition&)>& is_it) override;
    std::uint32_t wanting(const Permit& permit, ShapeId shape, std::uint32_t enough) override;
    std::vector<JobId> kept() override;
    Submits submits(JobId after, std::uint32_t max, const std::set<JobId>& gone) override {
        return load_.submits(after, max, gone);
    }
    Due next_due() override { return load_.next_due(); }
    SessionId owner_of_damaged_run(JobId job) override;

    // The number of the last row of a line that was read, for JobRow::read_as.
    std::uint64_t rows_read() const { return rows_read_; }

private:
    // Queries in order of their shapes, which lie close together.
    struct Neighbours {
        const std::vector<LineQuery>& queries;
        const std::vector<std::size_t>& by_shape;
        std::size_t next = 0;
        std::size_t end = 0;

        const LineQuery& query() const { return queries[by_shape[next]]; }
    };

    Found line_after(const LineQuery& query);
    bool read_neighbours(Neighbours& lines, const TakeRowOf& take,
                         std::vector<std::uint32_t>& rows);

    Loader& load_;
    Statement line_after_, whole_line_after_, lines_, whole_lines_;
    Statement next_shape_, blocked_line_, wanting_, kept_, run_row_;
    std::uint64_t rows_read_ = 0;
};

}  // namespace perdure::store::sqlite
