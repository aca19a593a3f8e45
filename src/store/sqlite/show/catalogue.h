// ShowCatalogue: lists and counts for people (ports/catalogue.h), made from the rows of one
// connection. A list goes from id to id, newest first, along the table of the wanted states; counts
// are read, never made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ownership/timing.h"
#include "ports/catalogue.h"
#include "store/sqlite/tables/load.h"

namespace perdure::store::sqlite {

class ShowCatalogue {
public:
    ShowCatalogue(Connection& connection, const Timing& timing, DamageBook& book);

    JobPage list(const JobFilter& filter);
    Overview overview(const std::string& tenant);

private:
    struct Entry {
        JobId job;
        ShapeId shape = 0;
    };
    class Stream;  // entries, newest first
    using Streams = std::vector<std::unique_ptr<Stream>>;

    std::vector<ShapeId> wanted_shapes(const JobFilter& filter);
    std::uint64_t count(const std::vector<ShapeId>& shapes, JobState state);
    std::vector<Entry> ready_jobs(const std::vector<ShapeId>& shapes, JobId before);
    Streams streams_for(const JobFilter& filter, const std::vector<ShapeId>& shapes);
    static std::optional<Entry> newest(const Streams& streams);
    JobLine line(const JobRow& job);
    // Nothing: it is not wanted.
    std::optional<JobLine> wanted_line(JobId id, const JobFilter& filter);
    std::optional<SessionRow> readable_session(SessionId id);
    std::optional<std::string> worker_in_doubt(const JobRow& job);

    void add_queues(const std::string& tenant, Overview& overview);
    void add_limits(const std::string& tenant, Overview& overview);
    void add_workers(const std::string& tenant, Overview& overview);

    Connection& connection_;
    Timing timing_;
    DamageBook& book_;
    Loader load_;
    Statement shapes_, tally_, ready_;
    Statement queues_, paused_, limits_, workers_;
};

}  // namespace perdure::store::sqlite
