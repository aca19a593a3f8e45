#include "cli/job/chosen_jobs.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/array.hpp>

#include "cli/answer.h"

namespace perdure::cli {
namespace {

// So many are acted on by one command; what is left is said.
constexpr std::size_t chosen_max = 10'000;
constexpr std::array<const char*, 4> filters = {"state", "queue", "kind", "key"};

std::string filter_target(const Args& args, std::string_view states) {
    std::string target = "/v1/jobs?limit=1000";
    for (const auto* name : {"state", "queue", "kind", "key", "tenant"}) {
        std::string words;
        for (const auto& word : args.all(name)) words += (words.empty() ? "" : ",") + word;
        if (words.empty() && std::string_view(name) == "state") words = states;
        if (!words.empty()) target += fmt::format("&{}={}", name, escaped(words));
    }
    return target;
}

}  // namespace

std::vector<Option> filter_options() {
    return {{"-s,--state", "STATES", "instead of ids: all in these states", true},
            {"-q,--queue", "NAME", "instead of ids: all of this queue"},
            {"--kind", "NAME", "instead of ids: all of this kind"},
            {"-k,--key", "KEY", "instead of ids: all with this key"},
            {"--all", "", "instead of ids: all for which this is possible"},
            {"--tenant", "NAME", "tenant of those; `default` if left out"},
            {"-y,--yes", "", "do not ask"}};
}

bool has_job_filter(const Args& args) {
    for (const auto* name : filters)
        if (args.flag(name)) return true;
    return args.flag("all");
}

ChosenJobs jobs_that_fit(Context& context, std::string_view states) {
    const auto target = filter_target(context.args, states);
    ChosenJobs chosen;
    std::string before;
    while (true) {
        const auto asked = ask(context.api, context.term, {.target = target + before});
        if (!asked) return {{}, asked.code};
        for (const auto& job : list_of(*asked.body, "jobs")) {
            if (chosen.ids.size() == chosen_max) {
                context.term.say(
                    fmt::format("the newest {} are taken; repeat it for the others", chosen_max));
                return chosen;
            }
            chosen.ids.push_back(text_of(job, "id"));
        }
        if (!has(*asked.body, "next")) return chosen;
        before = "&before=" + escaped(text_of(*asked.body, "next"));
    }
}

bool is_confirmed(Context& context, std::string_view verb, std::size_t jobs, ExitCode& code) {
    if (context.args.flag("yes")) return true;
    const auto count = fmt::format("{} job{}", jobs, jobs == 1 ? "" : "s");
    if (!context.term.look().interactive) {
        code = context.term.usage(fmt::format("{} fit{}, and nobody can be asked: say --yes", count,
                                              jobs == 1 ? "s" : ""));
        return false;
    }
    context.term.ask(fmt::format("{} {}? [y/N]", verb, count));
    const auto answer = context.system.read_answer();
    if (answer && (*answer == "y" || *answer == "yes")) return true;
    context.term.say("nothing was changed");
    return false;
}

ChosenJobs choose_jobs(Context& context, std::string_view verb, std::string_view states) {
    const auto& named = context.args.all("id");
    const bool filtered = has_job_filter(context.args);
    if (!named.empty() && filtered)
        return {{}, context.term.usage("either ids or a filter, not both")};
    if (!named.empty()) return {named, ExitCode::ok};
    if (!filtered)
        return {{},
                context.term.usage(fmt::format(
                    "which jobs? name them, or choose them by --state, --queue, --kind, --key or "
                    "--all: perdure job {} --queue slow",
                    verb))};
    auto chosen = jobs_that_fit(context, states);
    if (chosen.code != ExitCode::ok) return chosen;
    if (chosen.ids.empty()) {
        context.term.say("no job fits");
        return chosen;
    }
    if (!is_confirmed(context, verb, chosen.ids.size(), chosen.code)) chosen.ids.clear();
    return chosen;
}

}  // namespace perdure::cli
