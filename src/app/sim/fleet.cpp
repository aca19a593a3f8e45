#include "app/sim/fleet.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <sstream>
#include <string_view>
#include <thread>

#include "base/probe.h"

namespace perdure::sim {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// One line for each fact; a failure is the only one with several lines, length first.
std::string figures_text(const Figures& f) {
    auto text = fmt::format("figures {} {} {} {} {} {} {}\n", f.seeds, f.faults, f.events,
                            f.accepted, f.quiet, f.repeated, f.simulated.us);
    for (const auto& failure : f.failures) {
        const auto told = describe(failure);
        text += fmt::format("failure {} {} {} {} {}\n{}", failure.verdict.seed,
                            static_cast<int>(failure.verdict.mode), failure.verdict.step,
                            failure.verdict.violation->promise, told.size(), told);
    }
    return text;
}

constexpr std::uint64_t seeds_that_reach_all = 2'000;
constexpr std::uint64_t quiet_one_in = 100;  // at most; a broken server would make all runs so
constexpr std::size_t rarest_shown = 6;

// What no run can reach, or hardly any, by what a simulation is. Stories and unit tests do.
constexpr std::string_view out_of_reach[] = {
    // Acknowledged commits are never lost here.
    "store_lost_commits",
    // No machine is ever copied: a session ends only with its worker.
    "cloned_session_ended",
    "worker_opening_fenced",
    "worker_session_reopened",
    "worker_answer_for_an_ended_session",
    // Once in two thousand runs: a stream keeps its order, and the worker closes it before it opens
    // the next.
    "worker_discarded_an_assignment",
};

std::vector<std::string> unreached(const FleetReport& report) {
    std::vector<std::string> names;
    for (const auto& [name, count] : report.probes)
        if (count == 0) names.push_back(name);
    return names;
}

// Those that a shorter campaign, or the next one, may miss.
std::string rarest(const FleetReport& report) {
    std::vector<std::pair<std::uint64_t, std::string>> counts;
    for (const auto& [name, count] : report.probes)
        if (count > 0) counts.emplace_back(count, name);
    const auto shown = std::min<std::size_t>(counts.size(), rarest_shown);
    std::partial_sort(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(shown),
                      counts.end());
    std::string text;
    for (std::size_t i = 0; i < shown; ++i)
        text += fmt::format("{}{} ({})", i > 0 ? ", " : "", counts[i].second, counts[i].first);
    return text;
}

std::string quoted_list(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "\"" : ", \"") + name + "\"";
    return text;
}

double speed(const FleetReport& report, double seconds) {
    return report.figures.simulated.seconds() / seconds / report.jobs;
}

}  // namespace

std::vector<std::string> missing_probes(const FleetReport& report) {
    if (report.figures.seeds < seeds_that_reach_all) return {};
    auto names = unreached(report);
    std::erase_if(names, [](const std::string& name) {
        return std::find(std::begin(out_of_reach), std::end(out_of_reach), name) !=
               std::end(out_of_reach);
    });
    return names;
}

bool is_too_quiet(const FleetReport& report) {
    const auto& f = report.figures;
    return f.seeds >= quiet_one_in && f.quiet * quiet_one_in > f.seeds;
}

std::unique_ptr<Store> memory_store(const Plan& plan) {
    auto store = std::make_unique<MemoryStore>(plan.timing, plan.weights);
    if (plan.loads_max > 0) store->be_far_away(plan.loads_max);
    return store;
}

Fleet::Fleet(FleetOptions options) : options_(std::move(options)) {
    if (options_.jobs == 0) options_.jobs = std::max(1U, std::thread::hardware_concurrency());
}

FleetReport Fleet::run() {
    FleetReport report{.first = options_.first, .jobs = options_.jobs};
    // Children write into files: a pipe that is not read yet would fill up and stop its child.
    std::vector<std::pair<pid_t, std::FILE*>> children;
    std::fflush(stdout);
    for (unsigned child = 0; child < options_.jobs; ++child) {
        auto* notes = std::tmpfile();
        if (!notes) std::abort();
        const auto pid = fork();
        if (pid == 0) {
            work(child, notes);
            std::_Exit(0);
        }
        children.emplace_back(pid, notes);
    }
    for (const auto& [pid, notes] : children) {
        int status = 0;
        waitpid(pid, &status, 0);
        collect(notes, report);
        if (status != 0) ++report.lost;
    }
    return report;
}

void Fleet::work(unsigned child, std::FILE* out) {
    Campaign campaign(options_.make_store, options_.store);
    const auto started = Clock::now();
    for (std::uint64_t i = child;; i += options_.jobs) {
        if (options_.seeds > 0 && i >= options_.seeds) break;
        if (options_.seconds_max > 0 && seconds_since(started) >= options_.seconds_max) break;
        for (const auto mode : options_.modes) {
            const auto seed = options_.first + i;
            fmt::print(out, "at {}\n", replay_command(seed, mode, {}, options_.store));
            std::fflush(out);
            campaign.add(seed, mode);
        }
        if (campaign.figures().failures.size() >= 3) break;
    }
    for (const auto* p = Probe::first(); p; p = p->next())
        fmt::print(out, "probe {} {}\n", p->count(), p->name());
    fmt::print(out, "{}done\n", figures_text(campaign.figures()));
    std::fclose(out);
}

void Fleet::collect(std::FILE* notes, FleetReport& report) {
    std::string text;
    char buffer[65536];
    std::rewind(notes);
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, notes)) > 0;)
        text.append(buffer, n);
    std::fclose(notes);
    std::istringstream in(text);
    std::string word;
    std::string at;
    while (in >> word) {
        if (word == "at") std::getline(in, at);
        if (word == "probe") {
            std::string name;
            std::uint64_t count = 0;
            in >> count >> std::ws;
            std::getline(in, name);
            report.probes[name] += count;
        }
        if (word == "figures") {
            Figures f;
            in >> f.seeds >> f.faults >> f.events >> f.accepted >> f.quiet >> f.repeated >>
                f.simulated.us;
            report.figures.add(f);
        }
        if (word == "failure") {
            Failure failure;
            int mode = 0;
            std::size_t length = 0;
            failure.verdict.violation.emplace();
            in >> failure.verdict.seed >> mode >> failure.verdict.step >>
                failure.verdict.violation->promise >> length;
            in.get();
            failure.command.resize(length);
            in.read(failure.command.data(), static_cast<std::streamsize>(length));
            report.figures.failures.push_back(std::move(failure));
        }
        if (word == "done") return;
    }
    report.last_words.push_back(at);
}

std::string to_json(const FleetReport& report, double seconds) {
    const auto& f = report.figures;
    std::vector<std::string> failed;
    for (const auto& failure : f.failures) failed.push_back(std::to_string(failure.verdict.seed));
    return fmt::format(
        "{{\"seeds\": {}, \"violations\": {}, \"simulated_hours\": {:.1f}, \"speed\": {:.0f}, "
        "\"faults\": {}, \"jobs_accepted\": {}, \"quiet\": {}, \"repeated\": {}, \"crashed\": {}, "
        "\"first_seed\": {}, \"seconds\": {:.1f}, \"failed_seeds\": [{}], "
        "\"probes_unreached\": [{}]}}",
        f.seeds, f.failures.size(), f.simulated.seconds() / 3600, speed(report, seconds), f.faults,
        f.accepted, f.quiet, f.repeated, report.lost, report.first, seconds, quoted_list(failed),
        quoted_list(unreached(report)));
}

std::string to_text(const FleetReport& report, double seconds) {
    std::string text;
    for (const auto& failure : report.figures.failures) text += failure.command + "\n";
    for (const auto& words : report.last_words)
        text += fmt::format("a process died; replay:{}\n", words);
    const auto& f = report.figures;
    text += fmt::format(
        "{} seeds from {} on, {:.1f} simulated hours, {} faults, {} jobs accepted, {} quiet "
        "runs, {} seeds repeated\n{:.0f} times real time on each of {} cores, {:.1f} s\n",
        f.seeds, report.first, f.simulated.seconds() / 3600, f.faults, f.accepted, f.quiet,
        f.repeated, speed(report, seconds), report.jobs, seconds);
    const auto missing = unreached(report);
    text +=
        missing.empty() ? "all probes reached\n" : "never reached: " + quoted_list(missing) + "\n";
    text += fmt::format("rarest: {}\n", rarest(report));
    const auto blind = missing_probes(report);
    if (!blind.empty())
        text += fmt::format("blind: no run of {} has reached {}\n", f.seeds, quoted_list(blind));
    if (is_too_quiet(report)) text += "too little happened in too many runs\n";
    text += fmt::format("violations: {}", f.failures.size() + report.lost);
    return text;
}

}  // namespace perdure::sim
