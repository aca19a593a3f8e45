#include <fmt/format.h>
#include <sys/wait.h>

#include <deque>

#include "bench/ceilings/ceilings.h"
#include "testbed/child.h"
#include "testbed/stopwatch.h"

namespace perdure::bench {
namespace {

// Keeps `slots` of them running; the oldest is waited for first, as all take the same time.
Result<double> run_shims(const std::string& folder, std::size_t runs, std::size_t slots) {
    const auto program = program_beside("perdure-bare-shim");
    std::deque<std::unique_ptr<Child>> running;
    const Stopwatch watch;
    for (std::size_t i = 0; i < runs + slots; ++i) {
        const bool full = running.size() == slots || i >= runs;
        if (full && !running.empty()) {
            if (running.front()->wait() != 0) return error(Errc::unavailable, program + " failed");
            running.pop_front();
        }
        if (i >= runs) continue;
        auto child = Child::start({program, fmt::format("{}/{}-{}", folder, slots, i)}, "");
        if (!child) return child.error();
        running.push_back(std::move(*child));
    }
    return watch.rate(runs);
}

}  // namespace

Result<ShimCeiling> measure_bare_shims(const std::string& folder, std::size_t runs,
                                       std::size_t slots) {
    const auto alone = run_shims(folder, runs, 1);
    if (!alone) return alone.error();
    const auto together = run_shims(folder, runs, slots);
    if (!together) return together.error();
    return ShimCeiling{*alone, *together};
}

}  // namespace perdure::bench
