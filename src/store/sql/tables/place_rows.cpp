#include "store/sql/tables/place_rows.h"

#include <algorithm>

namespace perdure::store::sql {

std::vector<LineRange> stretches_of(std::vector<const JobRow*>& jobs) {
    const auto by_reading = [](const JobRow* a, const JobRow* b) {
        return a->read_as < b->read_as;
    };
    if (!std::is_sorted(jobs.begin(), jobs.end(), by_reading))
        std::sort(jobs.begin(), jobs.end(), by_reading);
    std::vector<LineRange> stretches;
    for (const auto* job : jobs) {
        const bool goes_on =
            !stretches.empty() && job->read_as == stretches.back().last->read_as + 1;
        if (!goes_on) stretches.push_back({.first = job});
        stretches.back().last = job;
        ++stretches.back().jobs;
    }
    return stretches;
}

}  // namespace perdure::store::sql
