#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <map>
#include <memory>

#include "base/words.h"
#include "config/settings.h"

namespace perdure::cli {
namespace {

constexpr const char* about =
    "Perdure runs work that must not get lost.\n\n"
    "  perdure up                   a server and a worker, here and now\n"
    "  perdure run -- echo hello    submit a job, watch it, end as it ends\n\n"
    "`perdure COMMAND --help` has an example of each command.";

// One option of one command, and where the library puts what was given.
struct Slot {
    std::string key;
    CLI::Option* option = nullptr;
    std::vector<std::string> given;
    bool is_flag = false;
};

struct Branch {
    CLI::App* app = nullptr;
    const Command* command = nullptr;
    std::deque<Slot> slots;  // their addresses must not change
};

using Branches = std::map<std::string, Branch, std::less<>>;

// The library's, which knows nothing of the command behind two dashes.
class HelpFormatter : public CLI::Formatter {
public:
    explicit HelpFormatter(const Branches& branches) : branches_(branches) {}

    std::string make_usage(const CLI::App* app, std::string name) const override {
        auto text = CLI::Formatter::make_usage(app, std::move(name));
        for (const auto& [path, branch] : branches_) {
            if (branch.app != app || !branch.command || !branch.command->takes_command) continue;
            const auto end = text.find_last_not_of('\n');
            text.insert(end == std::string::npos ? text.size() : end + 1, " -- COMMAND...");
        }
        return text;
    }

private:
    const Branches& branches_;
};

class Parser {
public:
    Parser();
    Result<std::variant<ParsedCommand, HelpText>> parse(std::vector<std::string> words);

private:
    void add_command(const Command& command);
    CLI::App& app_at(std::string_view path);
    void add_word(Branch& branch, const Word& word);
    void add_option(Branch& branch, const Option& option);
    void add_setting(Branch& branch, std::string_view name);
    ParsedCommand collect(std::vector<std::string> rest);
    Error explained(const CLI::ParseError& refused, const std::vector<std::string>& words);
    Branch* chosen();
    std::vector<std::string> known_here();

    CLI::App root_{about, "perdure"};
    Branches branches_;
};

Parser::Parser() {
    root_.require_subcommand(1);
    root_.formatter(std::make_shared<HelpFormatter>(branches_));
    root_.set_help_flag("-h,--help", "what there is to say, with an example");
    for (const auto& command : commands()) add_command(command);
}

CLI::App& Parser::app_at(std::string_view path) {
    if (path.empty()) return root_;
    auto& branch = branches_[std::string(path)];
    if (!branch.app) {
        const auto space = path.rfind(' ');
        const auto parent = space == std::string_view::npos ? "" : path.substr(0, space);
        const auto name = space == std::string_view::npos ? path : path.substr(space + 1);
        branch.app = app_at(parent).add_subcommand(std::string(name));
    }
    return *branch.app;
}

void Parser::add_command(const Command& command) {
    auto& app = app_at(command.path);
    auto& branch = branches_[std::string(command.path)];
    branch.command = &command;
    app.description(std::string(command.summary));
    app.group(std::string(command.group));
    app.require_subcommand(command.run ? 0 : 1, command.run ? 1 : 1);
    app.footer(fmt::format("{}Example:\n{}",
                           command.takes_command ? "The command stands after two dashes.\n" : "",
                           command.example));
    for (const auto& word : command.words) add_word(branch, word);
    for (const auto& option : command.options) add_option(branch, option);
    for (const auto setting : command.settings) add_setting(branch, setting);
    if (command.run)
        for (const auto& option : common_options()) add_option(branch, option);
}

void Parser::add_word(Branch& branch, const Word& word) {
    auto& slot = branch.slots.emplace_back();
    slot.key = word.name;
    slot.option = branch.app->add_option(slot.key, slot.given, std::string(word.help));
    if (word.how == Word::How::many || word.how == Word::How::any)
        slot.option->expected(1, 100'000)->required(word.how == Word::How::many);
    else
        slot.option->expected(1)->allow_extra_args(false)->required(word.how == Word::How::one);
}

void Parser::add_option(Branch& branch, const Option& option) {
    auto& slot = branch.slots.emplace_back();
    slot.key = option.key();
    slot.is_flag = option.value.empty();
    const std::string name(option.name);
    if (slot.is_flag) {
        slot.option = branch.app->add_flag(name)->description(std::string(option.help));
        return;
    }
    slot.option = branch.app->add_option(name, slot.given, std::string(option.help));
    slot.option->type_name(std::string(option.value))->allow_extra_args(false);
    slot.option->expected(1);
    slot.option->multi_option_policy(option.repeated ? CLI::MultiOptionPolicy::TakeAll
                                                     : CLI::MultiOptionPolicy::TakeLast);
}

void Parser::add_setting(Branch& branch, std::string_view name) {
    const auto* setting = find_setting(name);
    const auto value = setting->choices.empty() ? std::string_view("VALUE") : setting->choices;
    add_option(branch, {.name = setting->flag, .value = value, .help = setting->about});
}

Branch* Parser::chosen() {
    const CLI::App* app = &root_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    for (auto& [path, branch] : branches_)
        if (branch.app == app) return &branch;
    return nullptr;
}

ParsedCommand Parser::collect(std::vector<std::string> rest) {
    auto& branch = *chosen();
    ParsedCommand parsed{branch.command, {}};
    parsed.args.rest = std::move(rest);
    for (auto& slot : branch.slots) {
        if (slot.option->count() == 0) continue;
        parsed.args.values[slot.key] =
            slot.is_flag ? std::vector<std::string>{} : std::move(slot.given);
    }
    return parsed;
}

// What could have been meant at this place: subcommands and long options.
std::vector<std::string> Parser::known_here() {
    const auto* branch = chosen();
    const CLI::App* app = branch ? branch->app : &root_;
    std::vector<std::string> known;
    for (const auto* command : app->get_subcommands([](const CLI::App*) { return true; }))
        if (!command->get_group().empty()) known.push_back(command->get_name());
    for (const auto* option : app->get_options())
        for (const auto& name : option->get_lnames()) known.push_back("--" + name);
    return known;
}

Error Parser::explained(const CLI::ParseError& refused, const std::vector<std::string>& words) {
    const auto* branch = chosen();
    const auto* command = branch ? branch->command : nullptr;
    const auto own = known_here();
    const std::vector<std::string_view> known(own.begin(), own.end());

    std::string what = refused.what();
    const bool unexpected = what.starts_with("The following argument");
    for (const auto& word : words) {
        if (std::find(known.begin(), known.end(), word) != known.end()) continue;
        if (what.find(word) == std::string::npos && !what.starts_with("A subcommand")) continue;
        const auto meant = nearest(word, known);
        if (meant.empty()) continue;
        what = fmt::format("there is no {} {}; did you mean {}?",
                           word.starts_with("-") ? "option" : "command", word, meant);
        break;
    }
    if (command && command->takes_command && unexpected)
        what += fmt::format("; a command stands after two dashes: perdure {} -- echo hello",
                            command->path);
    const auto path = command ? std::string(command->path) + " " : "";
    return error(Errc::invalid, fmt::format("{}\nperdure: see `perdure {}--help`", what, path));
}

Result<std::variant<ParsedCommand, HelpText>> Parser::parse(std::vector<std::string> words) {
    // What stands after `--` is the job's, whatever it looks like.
    const auto dashes = std::find(words.begin(), words.end(), "--");
    std::vector<std::string> rest(dashes == words.end() ? dashes : dashes + 1, words.end());
    words.erase(dashes, words.end());
    const auto in_order = words;
    std::reverse(words.begin(), words.end());
    try {
        root_.parse(words);
    } catch (const CLI::CallForHelp&) {
        return std::variant<ParsedCommand, HelpText>(HelpText{root_.help()});
    } catch (const CLI::ParseError& refused) {
        return explained(refused, in_order);
    }
    auto parsed = collect(std::move(rest));
    if (!parsed.args.rest.empty() && !parsed.command->takes_command)
        return error(Errc::invalid,
                     fmt::format("`perdure {}` takes no command after --", parsed.command->path));
    return std::variant<ParsedCommand, HelpText>(std::move(parsed));
}

}  // namespace

Result<std::variant<ParsedCommand, HelpText>> parse_command_line(std::vector<std::string> words) {
    Parser parser;
    if (words.empty()) words.push_back("--help");
    if (words.front() == "--version") words.front() = "version";
    // `help job show` is what people try as well.
    if (words.front() == "help") {
        words.erase(words.begin());
        words.push_back("--help");
    }
    return parser.parse(std::move(words));
}

}  // namespace perdure::cli
