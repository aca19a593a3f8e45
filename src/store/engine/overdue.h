// What a sweep must look at besides attempts: jobs whose time has come, and things that are freer
// than they are offered (E5, C4). Made here for every kind of tables.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ports/views.h"
#include "store/engine/rows/rows.h"

namespace perdure::store {

class OverdueReader {
public:
    virtual ~OverdueReader() = default;

    using Wake = std::pair<ServiceTime, JobId>;
    // Instants of jobs that have come, in order; at most so many.
    virtual std::vector<Wake> wakes(ServiceTime now, std::uint32_t max) = 0;
    virtual std::vector<JobId> dates(WallTime wall, std::uint32_t max) = 0;

    // The first thing behind one that a job is blocked on; and the first shape of such jobs.
    virtual std::optional<Thing> blocked_thing(const std::optional<Thing>& behind) = 0;
    virtual std::optional<ShapeId> blocked_shape(const Thing& thing, ShapeId behind) = 0;
    virtual std::uint32_t free_of(const Thing& thing) = 0;
    virtual std::uint32_t wanting(const Thing& thing, ShapeId shape, std::uint32_t enough) = 0;
};

class OverdueViews {
public:
    OverdueView show(OverdueReader& reader, const ServiceTick& clock, WallTime wall,
                     std::uint32_t limit);

private:
    void add_free_things(OverdueReader& reader, std::uint32_t limit, OverdueView& view);
    // Whether one that is free is found among the shapes that are left of the thing.
    bool is_overlooked(OverdueReader& reader, const Thing& thing);

    // Where the last view has stopped.
    std::optional<Thing> at_;
    ShapeId behind_ = 0;
    bool goes_on_ = false;  // with this very thing
    int looks_left_ = 0;
};

}  // namespace perdure::store
