// perdure-zoo: sets free one deliberate bug after the other and counts the seeds until the
// simulator catches it. A bug that gets away is a defect of the simulator.
//   perdure-zoo                      all of them
//   perdure-zoo --bug ack_before_commit --trace
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "app/sim/fleet.h"
#include "base/zoo.h"

namespace {

using namespace perdure;
using namespace perdure::sim;

struct Arguments {
    std::vector<std::string> bugs;
    std::uint64_t first = 1;
    std::uint64_t seeds_max = 4'000;
    unsigned jobs = 2;
    bool trace = false;
};

struct Catch {
    Bug bug = Bug::none;
    bool caught = false;
    std::uint64_t seeds = 0;
    std::string by;  // the promise, and how to see it
    double seconds = 0;
};

void hunt(Bug bug, const Arguments& arguments, std::FILE* out) {
    zoo_bug = bug;
    // The bugs of a store live in the engine, which is the same on all tables.
    Campaign campaign(memory_store, StoreKind::memory);
    for (std::uint64_t i = 0; i < arguments.seeds_max; ++i) {
        const auto mode = i % 2 == 0 ? Mode::safety : Mode::liveness;
        const auto seed = arguments.first + i / 2;
        fmt::print(out, "{} {} {}\n", i + 1, seed, to_string(mode));
        std::fflush(out);
        const auto verdict = campaign.run(seed, mode, {}, arguments.trace ? 60 : 0);
        if (!verdict.violation) continue;
        for (const auto& line : verdict.last_events) fmt::print("{}\n", line);
        fmt::print(out, "caught {}: {}\n", verdict.violation->promise, verdict.violation->what);
        std::fflush(out);
        return;
    }
    fmt::print(out, "free\n");
}

struct Hunt {
    Bug bug = Bug::none;
    std::FILE* notes = nullptr;
};

// In a process of its own: a bug may well run into an assertion, and that is caught, too. Its
// notes go into a file: a pipe that nobody reads before the end would fill up and stop the hunt.
std::pair<pid_t, Hunt> set_free(Bug bug, const Arguments& arguments) {
    auto* notes = std::tmpfile();
    if (!notes) std::abort();
    std::fflush(stdout);
    const auto pid = fork();
    if (pid == 0) {
        if (!arguments.trace && !std::freopen("/dev/null", "w", stderr)) std::_Exit(2);
        hunt(bug, arguments, notes);
        std::fflush(stdout);
        std::fflush(notes);
        std::_Exit(0);
    }
    return {pid, {bug, notes}};
}

Catch collect(Hunt hunt) {
    std::string text;
    char buffer[65536];
    std::rewind(hunt.notes);
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, hunt.notes)) > 0;)
        text.append(buffer, n);
    std::fclose(hunt.notes);
    const auto bug = hunt.bug;
    Catch result{.bug = bug, .caught = true, .by = "an assertion"};
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("caught "))
            result.by = line.substr(7);
        else if (line == "free")
            result.caught = false;
        else
            result.seeds = std::stoull(line);
    }
    if (!result.caught) result.by = "nobody";
    return result;
}

std::vector<Bug> bugs_wanted(const Arguments& arguments) {
    std::vector<Bug> bugs;
    for (const auto& name : arguments.bugs) bugs.push_back(*bug_named(name));
    if (!bugs.empty()) return bugs;
    for (std::size_t i = 1; static_cast<Bug>(i) < first_story_bug; ++i)
        bugs.push_back(static_cast<Bug>(i));
    return bugs;
}

int run(const Arguments& arguments) {
    const auto bugs = bugs_wanted(arguments);
    std::map<pid_t, Hunt> running;
    std::size_t next = 0;
    int caught = 0;
    fmt::print("{:<42} {:>6}  {}\n", "bug", "seeds", "caught by");
    while (next < bugs.size() || !running.empty()) {
        while (next < bugs.size() && running.size() < arguments.jobs) {
            running.insert(set_free(bugs[next++], arguments));
        }
        int status = 0;
        const auto pid = waitpid(-1, &status, 0);
        const auto result = collect(running.at(pid));
        running.erase(pid);
        caught += result.caught ? 1 : 0;
        fmt::print("{:<42} {:>6}  {}\n", to_string(result.bug), result.seeds, result.by);
        std::fflush(stdout);
    }
    const auto all = static_cast<int>(bugs.size());
    fmt::print("{} passed, {} failed\n", caught, all - caught);
    return caught == all ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Sets deliberate bugs free in the simulated world and counts seeds until caught.");
    Arguments arguments;
    const std::set<std::string> names(zoo_names.begin() + 1, zoo_names.end());
    app.add_option("--bug", arguments.bugs, "only this one")->check(CLI::IsMember(names));
    app.add_option("--first", arguments.first, "begin with this seed");
    app.add_option("--seeds", arguments.seeds_max, "give up after this many");
    app.add_option("--jobs", arguments.jobs, "processes at once");
    app.add_flag("--trace", arguments.trace, "print the last events before the catch");
    app.footer("Example: perdure-zoo --bug needed_wake_up --trace");
    CLI11_PARSE(app, argc, argv);
    return run(arguments);
}
