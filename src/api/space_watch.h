// SpaceWatch: whether there is room for new jobs. It looks at most five times a second.
#pragma once

#include <optional>

#include "base/error.h"
#include "base/metrics_text.h"
#include "base/time.h"
#include "core/storage/storage.h"
#include "ports/space.h"

namespace perdure {

class SpaceWatch {
public:
    // `space` may be null: then there is always room.
    SpaceWatch(const Space* space, std::uint64_t reserve) : space_(space), reserve_(reserve) {}

    std::optional<Error> why_no_submits(BootTime now);
    void append(MetricsText& out) const;

private:
    SpaceFacts facts_of(const SpaceView& view) const {
        return {view.free_bytes, view.disk_bytes, reserve_};
    }

    const Space* space_;
    std::uint64_t reserve_;
    BootTime next_poll_at_;
    std::optional<Error> refusal_;
};

}  // namespace perdure
