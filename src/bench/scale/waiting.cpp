// Millions of jobs that wait: the server's memory, its start after a kill, and the time of a claim.
#include <fmt/format.h>

#include "bench/job_bodies.h"
#include "bench/measures/claim_times.h"
#include "bench/measures/submitting.h"
#include "bench/scale/scale_measures.h"

namespace perdure::bench {
namespace {

constexpr double memory_max_mib = 64;
constexpr double start_max_s = 1;
constexpr double claim_growth_max = 2;
// Enough for the claims of all cases.
constexpr std::size_t claimable = 4 * batch_size;

struct WaitingCase {
    std::string name;
    std::string batch;  // that fills
};

struct Observed {
    std::size_t waiting = 0;
    double memory_mib = 0;
    double restarted_mib = 0;
    double start_s = 0;
    Spread claim_ms;
};

// Each job of a batch waits for the one before it, the first one for an hour: as many that are
// waited for as wait.
std::string chain_batch() {
    std::vector<std::string> jobs = {R"({"kind":"perdure.noop","queue":"chain","delay":"1h"})"};
    for (std::size_t i = 1; i < batch_size; ++i)
        jobs.push_back(fmt::format(
            R"({{"kind":"perdure.noop","queue":"chain","after":[{{"index":{}}}]}})", i - 1));
    return batch_of(jobs);
}

// A server of its own with so many waiting, timed, killed, and started again.
Result<Observed> observe(const ScaleWorld& world, const WaitingCase& waiting, std::size_t count) {
    Observed seen;
    const auto folder = fmt::format("{} {}", waiting.name, count);
    auto server = start_in(world, folder, {.role = "server"});
    if (!server) return server.error();
    const auto port = (*server)->port();
    auto worker = Claimant::open({.port = port});
    if (!worker) return worker.error();
    const auto some = batch_of(noop_job("deep"), batch_size);
    if (auto few = fill(**worker, port, some, claimable); !few) return few.error();
    auto current = (*worker)->next();
    if (!current) return current.error();
    const Deadline deadline(world.limit_s);
    const auto filled =
        fill(**worker, port, waiting.batch, count, [&] { return deadline.is_over(); });
    if (!filled) return filled.error();
    seen.waiting = *filled;
    const auto claims = time_claims(**worker, *current);
    if (!claims) return claims.error();
    seen.claim_ms = *claims;
    seen.memory_mib = (*server)->memory().server;
    (*server)->kill();
    std::unique_ptr<Instance> restarted;
    const auto start = time_first_claim((*server)->options(), &restarted);
    if (!start) return error(start.error().code, "after the kill: " + start.error().what);
    seen.start_s = *start;
    seen.restarted_mib = restarted->memory().server;
    return seen;
}

std::vector<ScaleRow> waiting_rows(const std::string& name, std::size_t wanted, const Observed& few,
                                   const Observed& many) {
    const auto row = [&](std::string measure, double small, double large, std::string unit,
                         Wanted wish) {
        return ScaleRow{.name = name,
                        .measure = std::move(measure),
                        .by = "worker protocol",
                        .small = Reading{"", small, unit},
                        .large = Reading{fmt::format("{} more", many.waiting), large, unit},
                        .wanted = wish,
                        .note = "",
                        .gave_up = many.waiting < wanted};
    };
    std::vector rows = {row("server's memory", few.memory_mib, many.memory_mib, "MiB",
                            Wanted::at_most(memory_max_mib)),
                        row("killed: start to first claim", few.start_s, many.start_s, "s",
                            Wanted::at_most(start_max_s)),
                        row("claim, p99", few.claim_ms.p99, many.claim_ms.p99, "ms",
                            Wanted::ratio_at_most(claim_growth_max))};
    rows[0].note = fmt::format("{:.0f} MiB after the restart ({:.0f} in the small case)",
                               many.restarted_mib, few.restarted_mib);
    rows[2].note = fmt::format("p50 {:.2f} ms, {:.2f} ms in the small case", many.claim_ms.p50,
                               few.claim_ms.p50);
    return rows;
}

ScaleRows measure_waiting_case(const ScaleWorld& world, const WaitingCase& waiting) {
    const auto few = observe(world, waiting, batch_size);
    if (!few) return few.error();
    const auto many = observe(world, waiting, world.waiting);
    if (!many) return many.error();
    return waiting_rows(waiting.name, world.waiting, *few, *many);
}

}  // namespace

ScaleRows measure_many_ready(const ScaleWorld& world) {
    return measure_waiting_case(world, {"waiting", batch_of(noop_job("deep"), batch_size)});
}

ScaleRows measure_many_after(const ScaleWorld& world) {
    return measure_waiting_case(world, {"after", chain_batch()});
}

}  // namespace perdure::bench
