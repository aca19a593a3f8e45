#include "drill/drill.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "drill/drill_options.h"
#include "drill/play_lane.h"
#include "drill/screen.h"
#include "drill/verdict.h"
#include "drill/world/processes.h"
#include "testbed/scratch.h"
#include "testbed/stopwatch.h"

namespace perdure::drill {
namespace {

ExitCode refuse(const Error& why) {
    fmt::print(stderr, "perdure: drill: {}\n", why.what);
    return why.code == Errc::invalid ? ExitCode::usage : ExitCode::failed;
}

using Lanes = std::array<std::vector<const Row*>, lane_count>;
using Results = std::array<LaneResult, lane_count>;

// All lanes at once; meanwhile whatever loses its parent is waited for, as init would.
Results play_all(const Lanes& lanes, const std::string& folder, const Options& options,
                 Screen& screen) {
    const StallWatch stalls;
    Results results;
    std::vector<std::thread> threads;
    std::atomic<std::size_t> under_way = 0;
    for (std::size_t i = 0; i < lane_count; ++i) {
        if (lanes[i].empty()) continue;
        ++under_way;
        threads.emplace_back([&, i] {
            const auto own = fmt::format("{}/lane{}", folder, i);
            results[i] = play_lane({static_cast<Lane>(i), own, options, screen, stalls}, lanes[i]);
            --under_way;
        });
    }
    while (under_way > 0) {
        reap_orphans();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    for (auto& thread : threads) thread.join();
    return results;
}

std::vector<Verdict> in_order(Results& results) {
    std::vector<Verdict> verdicts;
    for (auto& result : results)
        for (auto& verdict : result.verdicts) verdicts.push_back(std::move(verdict));
    std::sort(verdicts.begin(), verdicts.end(),
              [](const Verdict& a, const Verdict& b) { return a.row < b.row; });
    return verdicts;
}

ExitCode play(const Options& options, const std::vector<const Row*>& chosen,
              const Scratch& scratch) {
    Lanes lanes;
    for (const auto* row : chosen) lanes[static_cast<std::size_t>(row->lane)].push_back(row);
    Screen screen(options);
    const Stopwatch watch;
    screen.open(chosen.size(), scratch.path());
    auto results = play_all(lanes, scratch.path(), options, screen);
    end_all_descendants();
    if (interrupted()) {
        screen.close("Stopped. Everything that the drill had started is gone.\n");
        return ExitCode::failed;
    }
    std::size_t neighbours = 0;
    for (const auto& result : results) neighbours += result.neighbours;
    const auto verdicts = in_order(results);
    screen.close(summary_of(verdicts, neighbours, watch.seconds()));
    if (options.json) fmt::print("{}", as_json(verdicts));
    const bool good = std::all_of(verdicts.begin(), verdicts.end(),
                                  [](const Verdict& v) { return v.pace() != Pace::late; });
    return good ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

ExitCode run_drill(const std::vector<std::string>& words) {
    const auto options = read_options(words);
    if (!options) return refuse(options.error());
    const auto chosen = options->chosen();
    if (options->list) {
        fmt::print("{}", options->json ? list_as_json(chosen) : list_of(chosen));
        return ExitCode::ok;
    }
    const auto scratch = Scratch::make(
        {.parent = options->directory, .name = "perdure-drill", .keep = options->keep});
    if (!scratch) return refuse(scratch.error());
    catch_interrupts();
    adopt_orphans();
    const auto code = play(*options, chosen, **scratch);
    if (options->keep) fmt::print(stderr, "drill: kept {}\n", (*scratch)->path());
    return code;
}

}  // namespace perdure::drill
