#include "cli/command_line.h"

#include <gtest/gtest.h>

#include <set>

#include "config/settings.h"

namespace perdure::cli {
namespace {

ParsedCommand parsed(std::vector<std::string> words) {
    auto result = parse_command_line(std::move(words));
    EXPECT_TRUE(result) << (result ? "" : result.error().what);
    if (!result || !std::holds_alternative<ParsedCommand>(*result)) return {};
    return std::get<ParsedCommand>(*result);
}

std::string refused(std::vector<std::string> words) {
    const auto result = parse_command_line(std::move(words));
    if (result) return "accepted";
    EXPECT_EQ(result.error().code, Errc::invalid);
    return result.error().what;
}

std::string help(std::vector<std::string> words) {
    const auto result = parse_command_line(std::move(words));
    if (!result || !std::holds_alternative<HelpText>(*result)) return "";
    return std::get<HelpText>(*result).text;
}

TEST(CommandLine, finds_the_command_its_words_and_options) {
    const auto command = parsed({"job", "cancel", "a", "b", "--json"});
    ASSERT_NE(command.command, nullptr);
    EXPECT_EQ(command.command->path, "job cancel");
    EXPECT_EQ(command.args.all("id"), (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(command.args.flag("json"));
    EXPECT_FALSE(command.args.flag("server"));
}

TEST(CommandLine, leaves_everything_after_two_dashes_to_the_job) {
    const auto command =
        parsed({"run", "-q", "slow", "--env", "A=1", "--env", "B=2", "--", "ls", "--json", "--"});
    EXPECT_EQ(command.args.rest, (std::vector<std::string>{"ls", "--json", "--"}));
    EXPECT_EQ(command.args.text("queue"), "slow");
    EXPECT_EQ(command.args.all("env"), (std::vector<std::string>{"A=1", "B=2"}));
    EXPECT_FALSE(command.args.flag("json"));
}

TEST(CommandLine, a_family_can_be_a_command_itself) {
    EXPECT_EQ(parsed({"queues"}).command->path, "queues");
    EXPECT_EQ(parsed({"queues", "pause", "slow"}).command->path, "queues pause");
    EXPECT_EQ(parsed({"worker", "--slots", "3"}).command->path, "worker");
    EXPECT_EQ(parsed({"worker", "drain", "anvil"}).command->path, "worker drain");
}

TEST(CommandLine, the_last_of_an_option_counts) {
    EXPECT_EQ(parsed({"jobs", "--queue", "a", "--queue", "b"}).args.text("queue"), "b");
}

TEST(CommandLine, an_empty_value_is_a_value) {
    const auto command = parsed({"up", "--queues", ""});
    EXPECT_TRUE(command.args.flag("queues"));
    EXPECT_EQ(command.args.text("queues"), "");
}

TEST(CommandLine, suggests_what_was_probably_meant) {
    EXPECT_TRUE(refused({"jbos"}).starts_with("there is no command jbos; did you mean jobs?"));
    EXPECT_TRUE(refused({"job", "shwo", "x"}).starts_with("there is no command shwo"));
    EXPECT_TRUE(refused({"jobs", "--quee", "x"})
                    .starts_with("there is no option --quee; did you mean --queue?"));
}

TEST(CommandLine, says_where_a_command_belongs) {
    EXPECT_NE(refused({"run", "echo", "hello"}).find("perdure run -- echo hello"),
              std::string::npos);
    EXPECT_NE(refused({"jobs", "--", "ls"}).find("takes no command"), std::string::npos);
}

TEST(CommandLine, refuses_what_is_missing) {
    EXPECT_NE(refused({"job", "show"}), "accepted");
    EXPECT_NE(refused({"job"}), "accepted");
    EXPECT_NE(refused({"jobs", "--queue"}), "accepted");
    EXPECT_NE(refused({"logs", "a", "b"}), "accepted");
}

TEST(Help, is_data_and_has_an_example_for_every_command) {
    for (const auto& command : commands()) {
        if (command.group.empty()) continue;
        std::vector<std::string> words;
        for (std::string_view rest = command.path; !rest.empty();) {
            const auto space = std::min(rest.find(' '), rest.size());
            words.emplace_back(rest.substr(0, space));
            rest.remove_prefix(std::min(space + 1, rest.size()));
        }
        words.push_back("--help");
        const auto text = help(words);
        EXPECT_NE(text.find("Example:\n  "), std::string::npos) << command.path;
        EXPECT_NE(text.find(command.summary), std::string::npos) << command.path;
        EXPECT_NE(command.example.find(command.path), std::string::npos) << command.path;
    }
}

TEST(Help, is_what_people_get_who_say_nothing) {
    EXPECT_NE(help({}).find("perdure run -- echo hello"), std::string::npos);
    EXPECT_EQ(help({}).find("child-server"), std::string::npos);
    EXPECT_EQ(help({"help", "job", "show"}), help({"job", "show", "--help"}));
    EXPECT_EQ(parsed({"--version"}).command->path, "version");
}

TEST(Commands, are_described_without_contradiction) {
    std::set<std::string_view> paths;
    for (const auto& command : commands()) {
        EXPECT_TRUE(paths.insert(command.path).second) << command.path;
        std::set<std::string_view> keys;
        for (const auto& option : command.options)
            EXPECT_TRUE(keys.insert(option.key()).second) << command.path << option.name;
        for (const auto name : command.settings) {
            ASSERT_NE(find_setting(name), nullptr) << name;
            EXPECT_FALSE(find_setting(name)->flag.empty()) << name;
            EXPECT_TRUE(keys.insert(find_setting(name)->flag.substr(2)).second) << name;
        }
        if (command.run) {
            for (const auto& option : common_options())
                EXPECT_TRUE(keys.insert(option.key()).second) << command.path << option.name;
        }
    }
}

}  // namespace
}  // namespace perdure::cli
