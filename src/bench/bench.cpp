#include "bench/bench.h"

#include <fmt/format.h>

#include <cstdio>
#include <functional>

#include "bench/figures.h"
#include "bench/options.h"
#include "stage/scratch.h"
#include "stage/stopwatch.h"

namespace perdure::bench {
namespace {

constexpr std::size_t connections = 64;
constexpr std::size_t command_slots = 8;
constexpr std::size_t noop_slots = 4000;
constexpr std::size_t million = 1'000'000;

struct Sizes {
    std::size_t syncs, lives, drain, requests, shims, latency, commands;
};
constexpr Sizes usual{2000, 200'000, 30'000, 100'000, 1000, 1000, 2000};
constexpr Sizes small{300, 20'000, 10'000, 20'000, 200, 200, 200};

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
        note("ceilings", ceilings());
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

    Result<void> ceilings() {
        const auto folder = scratch_.folder("ceilings");
        if (!folder) return folder.error();
        measure<DiskSpeed>("bare fdatasync", figures_.disk,
                           [&] { return measure_disk(*folder, sizes_.syncs); });
        measure<StoreCeiling>("raw SQLite", figures_.raw, [&] {
            return measure_raw_store(*folder, sizes_.lives, sizes_.drain);
        });
        measure<double>("bare Beast", figures_.bare_http_per_s,
                        [&] { return measure_bare_http(sizes_.requests, connections); });
        measure<ShimCeiling>("bare shims", figures_.shims, [&] {
            return measure_bare_shims(*folder, sizes_.shims, command_slots);
        });
        return {};
    }

    Result<void> throughput() {
        const auto folder = scratch_.folder("throughput");
        if (!folder) return folder.error();
        auto up = Instance::start({.folder = *folder, .slots = noop_slots});
        if (!up) return up.error();
        auto& instance = **up;
        figures_.idle = instance.memory();
        figures_.drained = sizes_.drain;
        measure<Spread>("submit to start", figures_.latency_ms,
                        [&] { return measure_latency(instance, sizes_.latency); });
        measure<double>("whole lives", figures_.lives_per_s,
                        [&] { return measure_lives(instance, sizes_.lives); });
        measure<Drain>("draining a backlog", figures_.drain,
                       [&] { return measure_drain(instance, sizes_.drain); });
        measure<double>("single submits", figures_.submit_single_per_s, [&] {
            return measure_single_submits(instance, sizes_.requests, connections);
        });
        figures_.after_load = instance.memory();
        return {};
    }

    Result<void> commands() {
        const auto folder = scratch_.folder("commands");
        if (!folder) return folder.error();
        auto up = Instance::start({.folder = *folder, .slots = command_slots});
        if (!up) return up.error();
        figures_.containment = "process tree by subreaper";
        measure<double>("supervised commands", figures_.commands_per_s,
                        [&] { return measure_commands(**up, sizes_.commands); });
        return {};
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

}  // namespace

ExitCode run_bench(const std::vector<std::string>& words) {
    const auto options = read_options(words);
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
    const auto figures = Bench(*options, **scratch).run();
    if (options->keep) fmt::print(stderr, "bench: kept {}\n", (*scratch)->path());
    fmt::print("{}", options->json ? as_json(figures) : as_table(figures));
    for (const auto& failure : figures.failures)
        fmt::print(stderr, "perdure: bench: not measured: {}\n", failure);
    return figures.failures.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace perdure::bench
