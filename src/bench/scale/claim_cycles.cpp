// Claims and ends one after another, by one worker: with ever more running under one limit, and of
// one job that has been tried ever more often.
#include <fmt/format.h>

#include "bench/job_bodies.h"
#include "bench/measures/submitting.h"
#include "bench/scale/process_usage.h"
#include "bench/scale/scale_measures.h"
#include "bench/workers/claimant.h"
#include "bench/workers/fleet.h"

namespace perdure::bench {
namespace {

constexpr double between_heartbeats_s = 1.5;
constexpr std::size_t limit_cycles = 300;
constexpr std::size_t few_running = 10;
constexpr std::size_t many_running = 10'000;
constexpr std::size_t few_attempts = 10;
constexpr std::size_t many_attempts = 10'000;
constexpr std::size_t attempts_window = 100;  // figures are those of so many cycles
constexpr std::size_t young_jobs = attempts_window / few_attempts;

// Cycles a second, without the heartbeats in between.
class CycleClock {
public:
    explicit CycleClock(Claimant& worker) : worker_(worker) {}

    Result<void> stay_alive() {
        if (since_heartbeat_.seconds() < between_heartbeats_s) return {};
        since_heartbeat_ = Stopwatch();
        return worker_.heartbeat();
    }
    void add(double seconds) {
        seconds_ += seconds;
        ++cycles_;
    }
    std::size_t cycles() const { return cycles_; }
    double per_s() const { return seconds_ > 0 ? static_cast<double>(cycles_) / seconds_ : 0; }
    void forget() { seconds_ = 0, cycles_ = 0; }

private:
    Claimant& worker_;
    Stopwatch since_heartbeat_;
    double seconds_ = 0;
    std::size_t cycles_ = 0;
};

struct Cycles {
    Reading rate;
    std::size_t reached = 0;
    double processor_ms = 0;  // of the server, for each; a busy machine does not change it
};

// --- under a limit -----------------------------------------------------------------------------

// The limit is full: `running` less one with another worker, one with this one. Each end lets
// another job go on that waits for the limit.
Result<Cycles> time_under_limit(Claimant& worker, const Deadline& deadline) {
    auto current = worker.next();
    if (!current) return current.error();
    if (auto going = worker.start(*current); !going) return going.error();
    CycleClock clock(worker);
    while (clock.cycles() < limit_cycles && !deadline.is_over()) {
        if (auto alive = clock.stay_alive(); !alive) return alive.error();
        const Stopwatch watch;
        if (auto ended = worker.end(*current); !ended) return ended.error();
        auto next = worker.next();
        if (!next) return next.error();
        if (auto going = worker.start(*next); !going) return going.error();
        clock.add(watch.seconds());
        current = std::move(next);
    }
    return Cycles{{"", clock.per_s(), "/s"}, clock.cycles()};
}

Result<void> fill_limit(Instance& server, std::size_t running) {
    const auto body = fmt::format(R"({{"max":{}}})", running);
    if (auto set = server.put("/v1/limits/cap", body); !set) return set.error();
    const std::string job = R"({"kind":"perdure.noop","queue":"limited","limits":["cap"]})";
    const auto jobs = running < batch_size ? batch_size : running + batch_size;
    if (auto done = submit_many(server.port(), job, jobs); !done) return done.error();
    return {};
}

Result<Cycles> cycles_under_limit(const ScaleWorld& world, std::size_t running) {
    const auto what = fmt::format("{} running", running);
    const Deadline deadline(world.limit_s);
    const auto server = start_in(world, what, {.role = "server"});
    if (!server) return server.error();
    if (auto full = fill_limit(**server, running); !full) return full.error();
    const auto others = Fleet::open({.port = (*server)->port(), .slots = running - 1}, deadline);
    if (!others) return others.error();
    const auto taken = (*others)->take(running - 1, asks, deadline);
    if (!taken) return error(taken.error().code, what + ": " + taken.error().what);
    if (*taken < running - 1)
        return error(Errc::unavailable, fmt::format("gave up after {:.0f} s: only {} of {} run",
                                                    world.limit_s, *taken, running));
    // Its lease is a minute from here on.
    if (auto kept = (*others)->keep_alive(2.5); !kept) return kept.error();
    const auto worker = Claimant::open({.port = (*server)->port(), .directory = 1'000'000});
    if (!worker) return worker.error();
    const auto before = usage_of((*server)->server_process());
    auto cycles = time_under_limit(**worker, Deadline(std::min(world.limit_s, 30.0)));
    if (!cycles) return cycles;
    const auto used = usage_of((*server)->server_process()) - before;
    cycles->rate.what = what;
    cycles->processor_ms =
        static_cast<double>(used.processor_ns) / 1e6 / static_cast<double>(cycles->reached + 1);
    return cycles;
}

// --- one job's attempts ------------------------------------------------------------------------

constexpr std::string_view failing_job =
    R"({"kind":"perdure.noop","queue":"again","policy":{"rules":[{"causes":["exit"],)"
    R"("times":1000000}]}})";

Result<void> fail_once(Claimant& worker, Assigned& current, CycleClock& clock) {
    if (auto alive = clock.stay_alive(); !alive) return alive.error();
    const Stopwatch watch;
    if (auto failed = worker.fail(current); !failed) return failed.error();
    auto next = worker.next();
    if (!next) return next.error();
    clock.add(watch.seconds());
    current = std::move(*next);
    return {};
}

// From attempt to attempt up to `attempts`; the rate is that of the last ones, at most a window.
Result<Cycles> fail_up_to(Instance& server, Claimant& worker, std::size_t attempts,
                          const Deadline& deadline) {
    const auto submitted = server.post("/v1/jobs", failing_job);
    if (!submitted) return submitted.error();
    auto current = worker.next();
    if (!current) return current.error();
    CycleClock clock(worker);
    std::size_t attempt = 1;
    for (; attempt < attempts && !deadline.is_over(); ++attempt) {
        if (clock.cycles() >= attempts_window) clock.forget();
        if (auto done = fail_once(worker, *current, clock); !done) return done.error();
    }
    if (auto ended = worker.end(*current); !ended) return ended.error();
    return Cycles{{fmt::format("attempt {}", attempt), clock.per_s(), "/s"}, attempt};
}

// The mean over several jobs: ten attempts are too few for a figure.
Result<Reading> first_attempts(Instance& server, Claimant& worker, const Deadline& deadline) {
    double sum = 0;
    for (std::size_t i = 0; i < young_jobs; ++i) {
        const auto cycles = fail_up_to(server, worker, few_attempts, deadline);
        if (!cycles) return cycles.error();
        sum += cycles->rate.value;
    }
    return Reading{fmt::format("attempt {}", few_attempts), sum / young_jobs, "/s"};
}

}  // namespace

ScaleRows measure_wide_limit(const ScaleWorld& world) {
    const auto few = cycles_under_limit(world, few_running);
    if (!few) return few.error();
    const auto many = cycles_under_limit(world, many_running);
    if (!many) return many.error();
    return std::vector{ScaleRow{.name = "limit",
                                .measure = "end and claim under one full limit",
                                .by = "worker protocol",
                                .small = few->rate,
                                .large = many->rate,
                                .wanted = Wanted::ratio_at_least(0.8),
                                .note = fmt::format("server's processor time for each: {:.2f} ms, "
                                                    "{:.2f} ms in the small case",
                                                    many->processor_ms, few->processor_ms),
                                .gave_up = many->reached < limit_cycles}};
}

ScaleRows measure_many_attempts(const ScaleWorld& world) {
    const auto server = start_in(world, "attempts", {.role = "server"});
    if (!server) return server.error();
    const Deadline deadline(world.limit_s);
    const auto worker = Claimant::open({.port = (*server)->port()});
    if (!worker) return worker.error();
    const auto young = first_attempts(**server, **worker, deadline);
    if (!young) return young.error();
    const auto old = fail_up_to(**server, **worker, many_attempts, deadline);
    if (!old) return old.error();
    return std::vector{ScaleRow{.name = "attempts",
                                .measure = "failed attempt to the next of one job",
                                .by = "worker protocol",
                                .small = *young,
                                .large = old->rate,
                                .wanted = Wanted::ratio_at_least(0.8),
                                .note = "",
                                .gave_up = old->reached < many_attempts}};
}

}  // namespace perdure::bench
