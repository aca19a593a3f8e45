#include "store/engine/apply/line_parts.h"

#include <utility>

namespace perdure::store {
namespace {

// A job that is not in memory is loaded with its row. One that cannot be understood is left where
// it is: it must not stop those behind it.
bool take_row(State& state, JobId id, std::uint64_t read_as, const LineReader::LoadRow& load_row) {
    const auto load = [&] {
        JobRow* known = state.loaded(id);
        JobRow& job = known ? *known : state.add_ready(id, load_row);
        state.lines_are_in_memory = known != nullptr;
        if (!job.in<Ready>()) fail_corrupt("job " + id.text() + " is listed as ready");
        job.read_as = read_as;
        return true;
    };
    return state.book.unless_damaged(load, [&] { return damaged_job(id); }).value_or(false);
}

}  // namespace

std::vector<LinePart> read_lines(State& state, std::vector<LineQuery> queries,
                                 std::uint32_t loaded_max) {
    std::vector<LinePart> parts(queries.size());
    for (std::size_t i = 0; i < queries.size(); ++i) {
        parts[i].jobs.reserve(queries[i].max);
        // Lines mostly go on as they were: what was in memory, or was not, will be so next time.
        queries[i].jobs_are_loaded = state.lines_are_in_memory;
    }
    const auto take = [&](std::size_t part, const QueuePosition& order, std::uint64_t read_as,
                          const LineReader::LoadRow& load) {
        auto& jobs = parts[part].jobs;
        if (jobs.size() >= loaded_max || take_row(state, order.job, read_as, load))
            jobs.push_back(order);
    };
    const auto read = state.lines().read(queries, take);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].is_all = read[i].is_all;
        parts[i].is_damaged = parts[i].jobs.size() < read[i].rows;
    }
    return parts;
}

LinePart read_line(State& state, ShapeId shape, const std::optional<QueuePosition>& behind,
                   std::uint32_t max) {
    return std::move(read_lines(state, {{.shape = shape, .behind = behind, .max = max}}).front());
}

}  // namespace perdure::store
