// PostgresLines: jobs by their place, read on from a position; several lines in one round trip.
#pragma once

#include <set>
#include <vector>

#include "store/engine/tables.h"
#include "store/postgres/db/prepared.h"
#include "store/postgres/tables/place_writer.h"
#include "store/sql/tables/load.h"

namespace perdure::store::postgres {

class PostgresLines : public LineReader {
public:
    PostgresLines(Connection& connection, sql::Loader& load, PlaceWriter& places);

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

private:
    Connection& connection_;
    sql::Loader& load_;
    PlaceWriter& places_;
    PreparedStatement line_;
    sql::Statement kept_, run_row_;
};

}  // namespace perdure::store::postgres
