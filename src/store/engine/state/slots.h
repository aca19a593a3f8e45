// Slots: which jobs hold the slots of one key or limit, in O(log n): a limit may have ten thousand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/id.h"

namespace perdure::store {

class Slots {
public:
    using Number = std::uint32_t;
    // Those from here on are no numbers of rows.
    static constexpr Number odd_min = Number{1} << 31;

    bool empty() const { return jobs_.empty(); }
    std::size_t size() const { return jobs_.size(); }
    const std::map<Number, JobId>& jobs() const { return jobs_; }
    // The lowest one, if damage has given the job several.
    std::optional<Number> held_by(JobId job) const;
    Number lowest_free() const { return free_.begin()->first; }

    void take(Number slot, JobId job);
    void release(Number slot);

private:
    std::map<Number, JobId> jobs_;
    std::set<std::pair<JobId, Number>> by_job_;
    std::map<Number, Number> free_{{1, odd_min}};  // ranges [from, to)
};

}  // namespace perdure::store
