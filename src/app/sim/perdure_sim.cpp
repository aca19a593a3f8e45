// perdure-sim: runs seeds of the simulator, in as many processes as there are cores.
//   perdure-sim --seeds 2000 --mode safety --json
//   perdure-sim --seed 42 --mode liveness --trace      one seed, with its last events
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "app/sim/fleet.h"
#include "store/sqlite/sqlite_store.h"

namespace {

using namespace perdure;
using namespace perdure::sim;

struct Arguments {
    std::uint64_t seeds = 0;
    std::uint64_t first = 0;
    double seconds_max = 0;
    unsigned jobs = 0;
    std::string mode = "both";
    std::string store = "drawn";
    std::string regressions;
    std::vector<std::string> without;
    bool one = false;
    bool json = false;
    bool trace = false;
};

FaultSet masked_by(const std::vector<std::string>& names) {
    FaultSet masked;
    for (const auto& name : names)
        for (std::size_t i = 0; i < fault_count; ++i)
            if (fault_names[i] == name) masked.set(i);
    return masked;
}

std::vector<Mode> modes_of(const Arguments& arguments) {
    if (arguments.mode == "safety") return {Mode::safety};
    if (arguments.mode == "liveness") return {Mode::liveness};
    return {Mode::safety, Mode::liveness};
}

// A fresh one for each seed, in memory and without threads: the simulator owns the time.
std::unique_ptr<Store> make_store(const Plan& plan) {
    if (plan.store == StoreKind::memory) return memory_store(plan);
    auto store = SqliteStore::open({.threads = false, .durable = false, .weights = plan.weights},
                                   plan.timing);
    PERDURE_ASSERT(store.has_value());
    return std::move(*store);
}

std::optional<StoreKind> forced_store(const Arguments& arguments) {
    if (arguments.store == "drawn") return std::nullopt;
    return arguments.store == "sqlite" ? StoreKind::sqlite : StoreKind::memory;
}

int replay(const Arguments& arguments) {
    Campaign campaign(make_store, forced_store(arguments));
    int failed = 0;
    for (const auto mode : modes_of(arguments)) {
        constexpr std::size_t all = 1'000'000;
        const auto verdict = campaign.run(arguments.first, mode, masked_by(arguments.without),
                                          arguments.trace ? all : 0);
        for (const auto& line : verdict.last_events) fmt::print("{}\n", line);
        fmt::print("{}\n", verdict.plan);
        if (verdict.violation) {
            fmt::print("broken promise {} at step {}: {}\n", verdict.violation->promise,
                       verdict.step, verdict.violation->what);
            ++failed;
        } else {
            fmt::print("{} events, {} faults, {} jobs accepted, trace {:016x}: no violation\n",
                       verdict.step, verdict.faults, verdict.accepted, verdict.trace_hash);
        }
    }
    return failed == 0 ? 0 : 1;
}

// Replays every case of a file; a line is a seed, a mode and what is left out.
int replay_all(const Arguments& arguments) {
    const auto& path = arguments.regressions;
    std::ifstream file(path);
    if (!file) {
        fmt::print(stderr, "perdure-sim: cannot read {}\n", path);
        return 2;
    }
    Campaign campaign(make_store, forced_store(arguments));
    int passed = 0;
    int failed = 0;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::uint64_t seed = 0;
        std::string mode;
        if (line.starts_with('#') || !(words >> seed >> mode)) continue;
        const std::vector<std::string> without{std::istream_iterator<std::string>(words), {}};
        const auto which = mode == "liveness" ? Mode::liveness : Mode::safety;
        const auto verdict = campaign.run(seed, which, masked_by(without), 0);
        ++(verdict.violation ? failed : passed);
        if (verdict.violation)
            fmt::print("{}: broken promise {}: {}\n", line, verdict.violation->promise,
                       verdict.violation->what);
    }
    fmt::print("{} passed, {} failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}

int run(const Arguments& arguments) {
    const auto started = std::chrono::steady_clock::now();
    Fleet fleet({.first = arguments.first,
                 .seeds = arguments.seeds,
                 .seconds_max = arguments.seconds_max,
                 .jobs = arguments.jobs,
                 .modes = modes_of(arguments),
                 .make_store = make_store,
                 .store = forced_store(arguments)});
    const auto report = fleet.run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    const auto text =
        arguments.json ? to_json(report, took.count()) : to_text(report, took.count());
    fmt::print("{}\n", text);
    const bool good = report.figures.failures.empty() && report.lost == 0;
    // A run for a time reaches as much as the machine allows: it is no campaign.
    const bool is_campaign = arguments.seconds_max == 0;
    const bool saw_enough = missing_probes(report).empty() && !is_too_quiet(report);
    return good && (!is_campaign || saw_enough) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Runs Perdure's servers and workers in a simulated world full of accidents.");
    Arguments arguments;
    app.add_option("--seeds", arguments.seeds, "how many seeds, in each mode");
    auto* seed = app.add_option("--seed", arguments.first, "replay this one seed");
    auto* first = app.add_option("--first", arguments.first, "begin with this seed; else drawn");
    app.add_option("--for", arguments.seconds_max, "run fresh seeds for this many seconds");
    app.add_option("--jobs", arguments.jobs, "processes at once; default: one for each core");
    app.add_option("--mode", arguments.mode, "safety, liveness or both")
        ->check(CLI::IsMember({"safety", "liveness", "both"}));
    app.add_option("--store", arguments.store, "which store; else each seed draws one")
        ->check(CLI::IsMember({"drawn", "memory", "sqlite"}));
    app.add_option("--without", arguments.without, "replay without this class of faults")
        ->check(CLI::IsMember(std::vector<std::string>(fault_names.begin(), fault_names.end())));
    app.add_option("--regressions", arguments.regressions, "replay every case of this file");
    app.add_flag("--json", arguments.json, "print one object");
    app.add_flag("--trace", arguments.trace, "print every event of a replayed seed");
    app.footer(
        "Example: perdure-sim --seeds 2000 --mode safety\n"
        "A failure prints its seed, its last events and the command that replays it.");
    CLI11_PARSE(app, argc, argv);
    if (!arguments.regressions.empty()) return replay_all(arguments);
    if (seed->count() > 0) return replay(arguments);
    if (first->count() == 0) arguments.first = std::random_device{}() % 1'000'000'000ULL * 1'000;
    if (arguments.seeds == 0 && arguments.seconds_max == 0) arguments.seeds = 100;
    return run(arguments);
}
