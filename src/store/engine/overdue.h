// What a sweep must look at besides attempts: jobs whose time has come, and permits that are freer
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

    // The first permit behind one that a job is blocked on; and the first shape of such jobs.
    virtual std::optional<Permit> blocked_permit(const std::optional<Permit>& behind) = 0;
    virtual std::optional<ShapeId> blocked_shape(const Permit& permit, ShapeId behind) = 0;
    virtual std::uint32_t free_of(const Permit& permit) = 0;
    virtual std::uint32_t wanting(const Permit& permit, ShapeId shape, std::uint32_t enough) = 0;
};

class OverdueViews {
public:
    OverdueView show(OverdueReader& reader, const ServiceTick& clock, WallTime wall,
                     std::uint32_t limit);

private:
    void add_free_permits(OverdueReader& reader, std::uint32_t limit, OverdueView& view);
    // Whether one that is free is found among the shapes that are left of the permit.
    bool is_overlooked(OverdueReader& reader, const Permit& permit);

    // Where the last view has stopped.
    std::optional<Permit> at_;
    ShapeId behind_ = 0;
    bool goes_on_ = false;  // with this very permit
    int looks_left_ = 0;
};

}  // namespace perdure::store
