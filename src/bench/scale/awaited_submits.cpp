// One client that awaits each durable submit, against a raw SQLite commit of as many rows.
#include <fmt/format.h>

#include <cmath>

#include "bench/ceilings/ceilings.h"
#include "bench/measures/measures.h"
#include "bench/rounds.h"
#include "bench/scale/scale_measures.h"

namespace perdure::bench {
namespace {

constexpr std::size_t submits_once = 1000;
constexpr std::size_t submit_rounds = 5;
constexpr double submit_ratio_min = 0.5;
constexpr double submit_ratio_goal = 0.6;

// Rows that one submit adds to the database. Those that it only changes are not seen.
Result<std::size_t> rows_of_a_submit(Instance& server, const std::string& database) {
    const auto before = count_rows(database);
    if (!before) return before.error();
    const auto done = measure_single_submits(server, "counted", submits_once, 1);
    if (!done) return done.error();
    const auto after = count_rows(database);
    if (!after) return after.error();
    const auto added = static_cast<double>(*after - *before) / static_cast<double>(submits_once);
    return std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(added)));
}

}  // namespace

ScaleRows measure_awaited_submits(const ScaleWorld& world) {
    const auto server = start_in(world, "submit", {.role = "server"});
    if (!server) return server.error();
    const auto& folder = (*server)->options().folder;
    const auto rows = rows_of_a_submit(**server, folder + "/data/perdure.db");
    if (!rows) return rows.error();
    std::size_t taken = 0;
    const Deadline deadline(world.limit_s);
    const auto once = [&](std::size_t round) -> Result<Compared> {
        taken = round + 1;
        const auto raw = measure_raw_commits(folder, submits_once, *rows);
        if (!raw) return raw.error();
        const auto queue = fmt::format("submit-{}", round);
        const auto reached = measure_single_submits(**server, queue, submits_once, 1);
        if (!reached) return reached.error();
        return Compared{.reached = *reached, .ceiling = *raw};
    };
    const auto rounds = compare(submit_rounds, once, [&] { return deadline.is_over(); });
    if (!rounds) return rounds.error();
    return std::vector{ScaleRow{
        .name = "submit",
        .measure = "one client awaits each durable submit",
        .by = "HTTP, paused queue",
        .small = Reading{fmt::format("raw commit of {} rows", *rows), rounds->middle.ceiling, "/s"},
        .large = Reading{"submit", rounds->middle.reached, "/s"},
        .wanted = Wanted::ratio_at_least(submit_ratio_min, submit_ratio_goal),
        .note = fmt::format("the median of {} rounds; {:.2f} to {:.2f}", taken, rounds->least,
                            rounds->most)}};
}

}  // namespace perdure::bench
