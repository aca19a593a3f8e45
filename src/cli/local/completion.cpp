// perdure completion bash|zsh|fish
// Scripts made from the table of commands. They complete commands and options; words are names that
// only a server knows.
#include <fmt/format.h>

#include <map>
#include <set>

#include "cli/local/local_commands.h"
#include "config/settings.h"

namespace perdure::cli {
namespace {

// "job" -> what may follow: subcommands and long options, with what they mean.
using Follow = std::map<std::string, std::map<std::string, std::string>>;

std::string parent_of(std::string_view path) {
    const auto space = path.rfind(' ');
    return std::string(space == std::string_view::npos ? "" : path.substr(0, space));
}

std::string name_of(std::string_view path) {
    return std::string(path.substr(path.rfind(' ') + 1));  // npos + 1 is the beginning
}

Follow everything() {
    Follow follow;
    for (const auto& command : commands()) {
        if (command.group.empty()) continue;
        follow[parent_of(command.path)][name_of(command.path)] = command.summary;
        if (!command.run) continue;
        auto& own = follow[std::string(command.path)];
        const auto add = [&](const Option& option) {
            own["--" + std::string(option.key())] = option.help;
        };
        for (const auto& option : command.options) add(option);
        for (const auto& option : common_options()) add(option);
        for (const auto name : command.settings)
            own[std::string(find_setting(name)->flag)] = find_setting(name)->about;
        own["--help"] = "what there is to say";
    }
    return follow;
}

std::string words_of(const std::map<std::string, std::string>& follow) {
    std::string words;
    for (const auto& [word, meaning] : follow) words += (words.empty() ? "" : " ") + word;
    return words;
}

// The longest known path at the start of the line decides. zsh reads this one, too.
std::string bash_script() {
    std::string cases;
    for (const auto& [path, follow] : everything())
        cases += fmt::format("        \"{}\") words=\"{}\" ;;\n", path, words_of(follow));
    return fmt::format(R"(# bash completion of perdure; use: source <(perdure completion bash)
_perdure_words() {{
    case "$1" in
{}        *) return 1 ;;
    esac
}}
_perdure() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} path="" words="" word i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${{COMP_WORDS[i]}}
        if [ "$word" = -- ]; then
            COMPREPLY=($(compgen -c -f -- "$current"))
            return
        fi
        if _perdure_words "${{path:+$path }}$word"; then path="${{path:+$path }}$word"; fi
    done
    _perdure_words "$path"
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _perdure perdure
)",
                       cases);
}

std::string zsh_script() {
    return "#compdef perdure\n# zsh completion of perdure; use: source <(perdure completion zsh)\n"
           "autoload -U +X bashcompinit && bashcompinit\n" +
           bash_script();
}

std::string fish_quoted(std::string_view text) {
    std::string made = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') made += '\\';
        made += c;
    }
    return made + "'";
}

std::string fish_script() {
    std::string made = "# fish completion of perdure; use: perdure completion fish | source\n";
    for (const auto& [path, follow] : everything()) {
        std::string seen;
        for (std::string_view rest = path; !rest.empty();) {
            const auto space = std::min(rest.find(' '), rest.size());
            seen += fmt::format("; and __fish_seen_subcommand_from {}", rest.substr(0, space));
            rest.remove_prefix(std::min(space + 1, rest.size()));
        }
        const auto condition = path.empty() ? std::string("__fish_use_subcommand") : seen.substr(6);
        for (const auto& [word, meaning] : follow) {
            const bool is_option = word.starts_with("--");
            made += fmt::format("complete -c perdure -n '{}' {} {} -d {}\n", condition,
                                is_option ? "-l" : "-f -a", is_option ? word.substr(2) : word,
                                fish_quoted(meaning));
        }
    }
    return made;
}

}  // namespace

ExitCode print_completion(Context& context) {
    const auto shell = context.args.text("shell");
    if (shell == "bash")
        context.term.out(bash_script());
    else if (shell == "zsh")
        context.term.out(zsh_script());
    else if (shell == "fish")
        context.term.out(fish_script());
    else
        return context.term.usage("there is completion for bash, zsh and fish");
    return ExitCode::ok;
}

}  // namespace perdure::cli
