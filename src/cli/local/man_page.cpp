// perdure man-page [NAME] [--list]: for packagers, therefore hidden.
#include "cli/local/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/version.h"
#include "cli/exit_codes.h"
#include "cli/local/local_commands.h"
#include "config/settings.h"

namespace perdure::cli {
namespace {

// Text of ours as roff: nothing in it is taken for an order, and `quoted` is bold. A dash stays one
// that can be copied into a shell.
std::string roff(std::string_view text) {
    std::string made;
    bool bold = false;
    bool line_begins = true;
    for (const char c : text) {
        if (line_begins && (c == '.' || c == '\'')) made += "\\&";
        line_begins = c == '\n';
        switch (c) {
            case '\\': made += "\\e"; break;
            case '-': made += "\\-"; break;
            case '`':
                bold = !bold;
                made += bold ? "\\fB" : "\\fR";
                break;
            default: made += c;
        }
    }
    return bold ? made + "\\fR" : made;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    });
    return text;
}

// Summaries begin small, for lists.
std::string sentence(std::string_view summary) {
    return upper(std::string(summary.substr(0, 1))) + std::string(summary.substr(1)) + ".";
}

std::string page_name(std::string_view path) {
    auto name = "perdure-" + std::string(path);
    std::ranges::replace(name, ' ', '-');
    return name;
}

bool has_page(const Command& command) { return !command.group.empty() && command.run; }

std::string heading(const std::string& name, std::string_view summary, const BuildFacts& build) {
    return fmt::format(
        ".TH {} 1 \"{}\" \"perdure {}\" \"Perdure\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
        roff(upper(name)), build.date, roff(version), roff(name), roff(summary));
}

std::string item(const std::string& tag, std::string_view text) {
    return fmt::format(".TP\n{}\n{}\n", tag, roff(text));
}

// "-f,--follow" is shown as "-f, --follow".
std::string option_tag(const Option& option) {
    std::string tag;
    std::string_view rest = option.name;
    while (!rest.empty()) {
        const auto comma = std::min(rest.find(','), rest.size());
        tag += (tag.empty() ? "" : ", ") + bold(rest.substr(0, comma));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return option.value.empty() ? tag : tag + " " + italic(option.value);
}

std::string word_tag(const Word& word) {
    const bool optional = word.how == Word::How::optional || word.how == Word::How::any;
    const bool many = word.how == Word::How::many || word.how == Word::How::any;
    return fmt::format("{}{}{}{}", optional ? "[" : "", italic(word.name), many ? "..." : "",
                       optional ? "]" : "");
}

std::string synopsis(const Command& command) {
    auto line = bold("perdure " + std::string(command.path)) + " [" + italic("OPTION") + "]...";
    for (const auto& word : command.words) line += " " + word_tag(word);
    if (command.takes_command) line += " \\-\\- " + italic("COMMAND") + "...";
    return line + "\n";
}

std::string options_of(const Command& command) {
    std::string text = ".SH OPTIONS\n";
    for (const auto& option : command.options) text += item(option_tag(option), option.help);
    for (const auto name : command.settings) {
        const auto& setting = *find_setting(name);
        text += item(option_tag({.name = setting.flag, .value = "VALUE"}), setting.about);
    }
    for (const auto& option : common_options()) text += item(option_tag(option), option.help);
    return text + item(bold("-h") + ", " + bold("--help"), "what there is to say, with an example");
}

// The examples of the tables are indented for a terminal.
std::string examples_of(const Command& command) {
    std::string text = ".SH EXAMPLES\n.EX\n";
    std::string_view rest = command.example;
    while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        auto line = rest.substr(0, end);
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        text += roff(line) + "\n";
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return text + ".EE\n";
}

std::string see_also(const std::vector<std::string>& names) {
    std::string text = ".SH SEE ALSO\n";
    for (std::size_t i = 0; i < names.size(); ++i)
        text += fmt::format(".BR {} (1){}\n", roff(names[i]), i + 1 < names.size() ? "," : "");
    return text;
}

std::string page_of(const Command& command, const BuildFacts& build) {
    auto text = heading(page_name(command.path), command.summary, build) + synopsis(command);
    text += fmt::format(".SH DESCRIPTION\n{}\n", roff(sentence(command.summary)));
    for (const auto& word : command.words) text += item(italic(word.name), word.help);
    if (command.takes_command) text += item(italic("COMMAND"), "stands after two dashes");
    return text + options_of(command) + examples_of(command) +
           ".SH EXIT STATUS\nThe codes are those of\n.BR perdure (1).\n" + see_also({"perdure"});
}

std::string list_of_commands() {
    std::string text = ".SH COMMANDS\n";
    std::vector<std::string_view> groups;
    for (const auto& command : commands())
        if (has_page(command) && std::ranges::find(groups, command.group) == groups.end())
            groups.push_back(command.group);
    for (const auto group : groups) {
        text += fmt::format(".SS {}\n", roff(group));
        for (const auto& command : commands())
            if (has_page(command) && command.group == group)
                text += item(fmt::format("\\fB{}\\fR(1)", roff(page_name(command.path))),
                             command.summary);
    }
    return text;
}

std::string list_of_settings() {
    std::string text =
        ".SH SETTINGS\nA setting comes from its default, a file, the environment or a flag; the "
        "later ones win.\n.B perdure config\nshows each with its origin,\n.B perdure config "
        "\\-\\-example\nprints a file of all of them.\n";
    for (const auto& setting : settings()) {
        std::string about(setting.about);
        if (!setting.standard.empty()) about += fmt::format("; default: {}", setting.standard);
        if (!setting.production.empty())
            about += fmt::format("; in production: {}", setting.production);
        about += fmt::format("; {}", setting.environment);
        text += item(bold(setting.name), about);
    }
    return text;
}

std::string list_of_exit_codes() {
    std::string text = ".SH EXIT STATUS\n";
    for (const auto& each : exit_code_meanings) text += item(bold(each.code), each.meaning);
    return text;
}

std::string overview(const BuildFacts& build) {
    auto text = heading("perdure", "runs work that must not get lost", build);
    text += bold("perdure") + " " + italic("COMMAND") + " [" + italic("OPTION") + "]...\n";
    text +=
        ".SH DESCRIPTION\nA durable job queue, a supervisor of real processes and a recovery "
        "engine "
        "in one program.\nData goes to standard output, whatever is said to a person to standard "
        "error.\n";
    text += list_of_commands() + ".SH OPTIONS\n";
    for (const auto& option : common_options()) text += item(option_tag(option), option.help);
    text += list_of_settings();
    text += ".SH FILES\n";
    text += item(
        "\\fIperdure.toml\\fR, \\fI~/.config/perdure/perdure.toml\\fR, "
        "\\fI/etc/perdure/perdure.toml\\fR",
        "settings; the first one that exists");
    text += list_of_exit_codes();
    return text + see_also({"perdure-up", "perdure-run", "perdure-submit", "perdure-why"});
}

}  // namespace

std::vector<std::string> man_page_names() {
    std::vector<std::string> names = {"perdure"};
    for (const auto& command : commands())
        if (has_page(command)) names.push_back(page_name(command.path));
    return names;
}

std::string man_page(std::string_view name, const BuildFacts& build) {
    if (name == "perdure") return overview(build);
    for (const auto& command : commands())
        if (has_page(command) && page_name(command.path) == name) return page_of(command, build);
    return {};
}

ExitCode print_man_page(Context& context) {
    const auto names = man_page_names();
    if (context.args.flag("list")) {
        if (context.json()) {
            boost::json::array all(names.begin(), names.end());
            context.term.print(boost::json::object{{"pages", std::move(all)}});
        } else {
            context.term.out(fmt::format("{}\n", fmt::join(names, "\n")));
        }
        return ExitCode::ok;
    }
    const auto name = context.args.one("name").value_or("perdure");
    const auto page = man_page(name, context.backstage.build());
    if (page.empty())
        return context.term.usage(
            fmt::format("there is no page {}; `perdure man-page --list` has all names", name));
    context.term.out(page);
    return ExitCode::ok;
}

}  // namespace perdure::cli
