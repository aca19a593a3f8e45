#include "bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "bench/bench_options.h"
#include "bench/figures.h"
#include "bench/scale/scale.h"
#include "bench/scale/scale_measures.h"
#include "testbed/scratch.h"
#include "testbed/stopwatch.h"

namespace perdure::bench {
namespace {

constexpr std::size_t connections = 64;
constexpr std::size_t command_slots = 8;
constexpr std::size_t noop_slots = 4000;
constexpr std::size_t million = 1'000'000;

struct Sizes {
    std::size_t rounds;  // of each measure that has a ceiling; the sizes are one round's
    std::size_t syncs, lives, drain, requests, shims, latency, commands;
};
constexpr Sizes usual{5, 2000, 100'000, 100'000, 50'000, 400, 1000, 800};
constexpr Sizes small{1, 300, 20'000, 10'000, 20'000, 200, 200, 200};

template <class Figure>
Result<std::optional<Figure>> optional_of(Result<Figure> figure) {
    if (!figure) return figure.error();
    return std::optional(std::move(*figure));
}

class Bench {
public:
    Bench(const Options& options, const Scratch& scratch)
        : options_(options), scratch_(scratch), sizes_(options.quick ? small : usual) {
        if (options.backlog) sizes_.drain = 300'000;
    }

    // One measure that fails, or one program that does not start, costs no other its figure.
    Figures run() {
        note("disk", disk());
        note("throughput", throughput());
        note("commands", commands());
        if (options_.backlog) note("backlog", backlog());
        return std::move(figures_);
    }

private:
    void note(const std::string& what, const Result<void>& done) {
        if (!done) figures_.failures.push_back(what + ": " + done.error().what);
    }

    // Says what is being measured, measures it, keeps the figure.
    template <class Figure>
    void measure(const std::string& what, Figure& into,
                 const std::function<Result<Figure>()>& how) {
        const Stopwatch watch;
        fmt::print(stderr, "bench: {}…", what);
        auto figure = how();
        fmt::print(stderr, " {:.1f} s{}\n", watch.seconds(), figure ? "" : ", failed");
        if (!figure) return note(what, figure.error());
        into = std::move(*figure);
    }

    Result<void> disk() {
        const auto folder = scratch_.folder("disk");
        if (!folder) return folder.error();
        measure<DiskSpeed>("bare fdatasync", figures_.disk,
                           [&] { return measure_disk(*folder, sizes_.syncs); });
        return {};
    }

    // A measure with its ceiling right before it, round after round.
    void measure_rounds(const std::string& what, Rounds& into,
                        const std::function<Result<Compared>(std::size_t)>& once) {
        measure<Rounds>(what, into, [&] { return compare(sizes_.rounds, once); });
    }

    Result<void> throughput() {
        const auto folder = scratch_.folder("throughput");
        if (!folder) return folder.error();
        auto up = Instance::start({.folder = *folder, .slots = noop_slots});
        if (!up) return up.error();
        auto& instance = **up;
        figures_.idle = instance.memory();
        figures_.rounds = sizes_.rounds;
        figures_.drained = sizes_.drain;
        measure<Spread>("submit to start", figures_.latency_ms,
                        [&] { return measure_latency(instance, sizes_.latency); });
        if (auto warm = warm_up(instance); !warm) return warm.error();
        measure_rounds("whole lives, and raw SQLite", figures_.lives,
                       [&](std::size_t round) { return lives(instance, *folder, round); });
        measure_rounds("draining a backlog, and raw SQLite", figures_.drain,
                       [&](std::size_t round) { return drain(instance, *folder, round); });
        measure_rounds("single submits, and bare Beast", figures_.submits,
                       [&](std::size_t round) { return submits(instance, round); });
        figures_.after_load = instance.memory();
        return {};
    }

    Result<Compared> lives(Instance& instance, const std::string& folder, std::size_t round) {
        const auto raw = measure_raw_lives(folder, sizes_.lives);
        if (!raw) return raw.error();
        const auto reached = measure_lives(instance, fmt::format("lives-{}", round), sizes_.lives);
        if (!reached) return reached.error();
        return Compared{*reached, raw->per_s, raw->blind_per_s};
    }

    Result<Compared> drain(Instance& instance, const std::string& folder, std::size_t round) {
        const auto raw = measure_raw_drain(folder, sizes_.drain);
        if (!raw) return raw.error();
        const auto reached = measure_drain(instance, fmt::format("drain-{}", round), sizes_.drain);
        if (!reached) return reached.error();
        figures_.submit_batch_per_s =
            std::max(figures_.submit_batch_per_s, reached->submit_batch_per_s);
        return Compared{reached->per_s, raw->per_s, raw->blind_per_s};
    }

    Result<Compared> submits(Instance& instance, std::size_t round) {
        const auto bare = measure_bare_http(sizes_.requests, connections);
        if (!bare) return bare.error();
        const auto reached = measure_single_submits(instance, fmt::format("single-{}", round),
                                                    sizes_.requests, connections);
        if (!reached) return reached.error();
        return Compared{.reached = *reached, .ceiling = *bare};
    }

    Result<void> commands() {
        const auto folder = scratch_.folder("commands");
        if (!folder) return folder.error();
        auto up = Instance::start({.folder = *folder, .slots = command_slots});
        if (!up) return up.error();
        figures_.containment = (*up)->containment();
        measure_rounds("supervised commands, and bare shims", figures_.commands,
                       [&](std::size_t round) { return commands(**up, *folder, round); });
        return {};
    }

    Result<Compared> commands(Instance& instance, const std::string& folder, std::size_t round) {
        const auto bare = measure_bare_shims(folder, sizes_.shims, command_slots);
        if (!bare) return bare.error();
        const auto reached =
            measure_commands(instance, fmt::format("commands-{}", round), sizes_.commands);
        if (!reached) return reached.error();
        return Compared{*reached, bare->at_once_per_s, bare->one_by_one_per_s};
    }

    Result<void> backlog() {
        const auto waiting = scratch_.folder("waiting");
        if (!waiting) return waiting.error();
        const auto behind_key = scratch_.folder("behind-key");
        if (!behind_key) return behind_key.error();
        figures_.waited = options_.quick ? million / 20 : million;
        measure<std::optional<Waiting>>("many waiting", figures_.waiting, [&] {
            return optional_of(measure_waiting(*waiting, figures_.waited));
        });
        measure<std::optional<Spread>>("many behind a key", figures_.behind_key, [&] {
            return optional_of(measure_behind_key(*behind_key, figures_.waited));
        });
        return {};
    }

    const Options& options_;
    const Scratch& scratch_;
    Sizes sizes_;
    Figures figures_;
};

ExitCode refuse(const Error& why) {
    fmt::print(stderr, "perdure: bench: {}\n", why.what);
    return why.code == Errc::invalid ? ExitCode::usage : ExitCode::failed;
}

ExitCode print_results(const Figures& figures, const Options& options) {
    fmt::print("{}", options.json ? as_json(figures) : as_table(figures));
    for (const auto& failure : figures.failures)
        fmt::print(stderr, "perdure: bench: not measured: {}\n", failure);
    return figures.failures.empty() ? ExitCode::ok : ExitCode::failed;
}

ExitCode print_results(const std::vector<ScaleRow>& rows, const Options& options) {
    fmt::print("{}", options.json ? as_json(rows) : as_table(rows));
    const bool all = std::all_of(rows.begin(), rows.end(), [](const ScaleRow& row) {
        return verdict_of(row) != Verdict::not_measured;
    });
    return all ? ExitCode::ok : ExitCode::failed;
}

std::vector<std::string> names_of_measures() {
    std::vector<std::string> names;
    for (const auto& measure : scale_measures()) names.push_back(measure.name);
    return names;
}

}  // namespace

ExitCode run_bench(const std::vector<std::string>& words) {
    const auto options = read_options(words, names_of_measures());
    if (!options) return refuse(options.error());
    if (options->help) {
        fmt::print("{}", help_text());
        return ExitCode::ok;
    }
    const auto scratch = Scratch::make({.parent = options->directory,
                                        .name = "perdure-bench",
                                        .keep = options->keep,
                                        .on_disk = true});
    if (!scratch) return refuse(scratch.error());
    if (options->keep) fmt::print(stderr, "bench: keeps {}\n", (*scratch)->path());
    if (options->scale) return print_results(run_scale(*options, **scratch), *options);
    return print_results(Bench(*options, **scratch).run(), *options);
}

}  // namespace perdure::bench
