// CatalogueViews: what people look at (ports/catalogue.h), made from the rows of one connection,
// each time a bounded number of them (C8). Counts are read, never made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ownership/timing.h"
#include "ports/catalogue.h"
#include "store/sql/tables/load.h"

namespace perdure::store::sql {

class CatalogueViews {
public:
    CatalogueViews(Database& database, const Timing& timing, DamageBook& book);

    // list.cpp: from id to id, newest first, along the table of the wanted states.
    JobPage list(const JobFilter& filter);

    QueuePiece queues(const std::string& tenant, const QueuePlace& after);
    LimitPiece limits(const std::string& tenant, const LimitPlace& from);
    RunPiece running(JobId after);
    WorkerPiece workers(const WorkerQuery& query);
    std::vector<JobId> holders(const Permit& permit, std::uint32_t max);
    // Empty: there is no such session, or it cannot be understood.
    std::optional<std::string> worker_of(SessionId id);

private:
    struct Entry {
        JobId job;
        ShapeId shape = 0;
        std::int64_t state = 0;
    };
    class Stream;  // entries, newest first
    using Streams = std::vector<std::unique_ptr<Stream>>;
    using WantedShapes = std::map<ShapeId, bool>;  // those that were looked at

    bool is_wanted_shape(ShapeId id, const JobFilter& filter, WantedShapes& known);
    std::optional<std::vector<Entry>> few_ready_jobs(const JobFilter& filter, JobId before);
    Streams streams_for(const JobFilter& filter);
    static std::optional<Entry> newest(const Streams& streams);
    // Empty: it is not wanted.
    std::optional<JobLine> wanted_line(JobId id, const JobFilter& filter);
    std::optional<ServiceTime> oldest_ready(ShapeId shape, std::uint32_t& rows);
    std::optional<SessionRow> readable_session(SessionId id);

    Database& database_;
    Timing timing_;
    DamageBook& book_;
    Loader load_;
    Statement shape_, shapes_with_ready_, ready_, first_ready_;
    Statement queues_, paused_, limits_, taken_, running_, sessions_, key_holder_, limit_holders_;
};

}  // namespace perdure::store::sql
