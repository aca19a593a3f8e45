#include "sim/campaign.h"

#include <fmt/format.h>

#include <utility>

namespace perdure::sim {
namespace {

constexpr std::size_t events_shown = 60;
constexpr std::uint64_t repeat_one_in = 100;

}  // namespace

void Figures::add(const Figures& other) {
    seeds += other.seeds;
    faults += other.faults;
    events += other.events;
    accepted += other.accepted;
    quiet += other.quiet;
    repeated += other.repeated;
    simulated = simulated + other.simulated;
    failures.insert(failures.end(), other.failures.begin(), other.failures.end());
}

Verdict Campaign::run(std::uint64_t seed, Mode mode, const FaultSet& masked,
                      std::size_t trace_lines) {
    auto plan = draw_plan(seed, mode, masked);
    if (forced_) plan.store = *forced_;
    Simulation simulation(plan, make_store_(plan), trace_lines);
    return simulation.run();
}

void Campaign::add(std::uint64_t seed, Mode mode) {
    auto verdict = run(seed, mode, {}, 0);
    ++figures_.seeds;
    figures_.faults += verdict.faults;
    figures_.events += verdict.step;
    figures_.accepted += verdict.accepted;
    figures_.quiet += verdict.quiet ? 1 : 0;
    figures_.simulated = figures_.simulated + verdict.simulated;
    if (seed % repeat_one_in == 0) {
        ++figures_.repeated;
        const auto again = run(seed, mode, {}, 0);
        const bool same = again.trace_hash == verdict.trace_hash && again.step == verdict.step;
        if (!same && !verdict.violation)
            verdict.violation = Violation{"P12", "the same seed gave another trace"};
    }
    if (!verdict.violation) return;
    Failure failure{.verdict = verdict, .masked = {}, .command = {}};
    if (shrink && verdict.violation->promise != "P12") failure.masked = shrunk(verdict);
    failure.verdict = run(seed, mode, failure.masked, events_shown);
    if (!failure.verdict.violation) failure.verdict = verdict;
    failure.command = replay_command(seed, mode, failure.masked, forced_);
    figures_.failures.push_back(std::move(failure));
}

// Drops one fault class after the other, as long as the same promise is still broken.
FaultSet Campaign::shrunk(const Verdict& verdict) {
    FaultSet masked;
    for (std::size_t i = 0; i < fault_count; ++i) {
        auto tried = masked;
        tried.set(i);
        const auto again = run(verdict.seed, verdict.mode, tried, 0);
        if (again.violation && again.violation->promise == verdict.violation->promise)
            masked = tried;
    }
    return masked;
}

std::string replay_command(std::uint64_t seed, Mode mode, const FaultSet& masked,
                           std::optional<StoreKind> forced) {
    auto command = fmt::format("./dev sim --seed {} --mode {} --trace", seed, to_string(mode));
    if (forced) command += fmt::format(" --store {}", to_string(*forced));
    for (std::size_t i = 0; i < fault_count; ++i)
        if (masked.test(i)) command += fmt::format(" --without {}", fault_names[i]);
    return command;
}

std::string describe(const Failure& failure) {
    std::string text;
    const auto& verdict = failure.verdict;
    for (const auto& line : verdict.last_events) text += "  " + line + "\n";
    text += fmt::format("{}\nbroken promise {} at step {}: {}\nreplay: {}\n", verdict.plan,
                        verdict.violation->promise, verdict.step, verdict.violation->what,
                        failure.command);
    return text;
}

}  // namespace perdure::sim
