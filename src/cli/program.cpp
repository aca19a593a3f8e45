#include "cli/program.h"

#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/command_context.h"
#include "cli/command_line.h"
#include "cli/job/job_ids.h"

namespace perdure::cli {
namespace {

// What lies in the folder where a person happens to be may be anybody's.
constexpr std::string_view file_here = "perdure.toml";

// The file that is named must exist; those that are only looked for need not. They must be ours or
// root's (A1): one that is not is left out if it lies here, and refused elsewhere.
Result<std::optional<ConfigFile>> find_file(const Args& args, Terminal& term, System& system) {
    const auto& environment = system.environment();
    auto named = args.one("config");
    if (const auto variable = environment.find("PERDURE_CONFIG");
        !named && variable != environment.end())
        named = variable->second;
    if (named) {
        auto text = system.read_file(*named);
        if (!text) return text.error();
        return std::optional(ConfigFile{*named, std::move(*text)});
    }
    for (const auto& path : file_candidates(environment)) {
        auto text = system.read_trusted_file(path);
        if (text) return std::optional(ConfigFile{path, std::move(*text)});
        if (text.is(Errc::not_found)) continue;
        if (!text.is(Errc::forbidden) || path != file_here) return text.error();
        term.say("warning: " + text.error().what + "; to use it all the same: --config " + path);
    }
    return std::optional<ConfigFile>();
}

Result<std::vector<GivenFlag>> flags_of(const ParsedCommand& parsed) {
    std::vector<GivenFlag> flags;
    for (const auto& text : parsed.args.all("set")) {
        auto flag = parse_set(text);
        if (!flag) return flag.error();
        flags.push_back(std::move(*flag));
    }
    for (const auto name : parsed.command->settings) {
        const auto flag = std::string(find_setting(name)->flag);
        if (const auto value = parsed.args.one(flag.substr(2)))
            flags.push_back({std::string(name), *value, flag});
    }
    return flags;
}

Result<Configuration> configure(const ParsedCommand& parsed, Terminal& term, System& system) {
    ConfigSources sources{.environment = system.environment(), .host = system.host()};
    auto flags = flags_of(parsed);
    if (!flags) return flags.error();
    sources.flags = std::move(*flags);
    // A watchdog's child has every setting as a flag; a file that has changed must not stop it.
    if (!parsed.command->group.empty()) {
        auto file = find_file(parsed.args, term, system);
        if (!file) return file.error();
        sources.file = std::move(*file);
    }
    return resolve(sources);
}

}  // namespace

ExitCode run_program(const std::vector<std::string>& words, Terminal& term, System& system,
                     SubPrograms& backstage) {
    auto parsed = parse_command_line(words);
    if (!parsed) return term.usage(parsed.error().what);
    if (const auto* help = std::get_if<HelpText>(&*parsed)) {
        term.out(help->text);
        return ExitCode::ok;
    }
    auto& command = std::get<ParsedCommand>(*parsed);
    const auto configuration = configure(command, term, system);
    if (!configuration) {
        term.say(configuration.error().what);
        return exit_code_of(configuration.error().code);
    }
    for (const auto& warning : configuration->warnings) term.say("warning: " + warning);
    const auto api = backstage.connect(*configuration, system);
    Context context{command.args, term, system, backstage, *configuration, *api};
    if (auto completed = complete_ids(context, command.args); !completed)
        return completed.error().code == Errc::unavailable
                   ? unreachable(term, *api, completed.error())
                   : term.fail(completed.error());
    return command.command->run(context);
}

}  // namespace perdure::cli
