#include <gtest/gtest.h>

#include <algorithm>

#include "cli/exit_codes.h"
#include "cli/local/man_page.h"
#include "cli/testing/cli_stage.h"
#include "config/settings.h"

namespace perdure::cli {
namespace {

const BuildFacts build{"0123456789ab", "2026-11-15"};

std::string with_roff_dashes(std::string_view text) {
    std::string made;
    for (const char c : text) made += c == '-' ? std::string("\\-") : std::string(1, c);
    return made;
}

TEST(ManPage, there_is_one_for_each_command_that_people_see) {
    const auto names = man_page_names();
    for (const auto& command : commands()) {
        auto name = "perdure-" + std::string(command.path);
        std::replace(name.begin(), name.end(), ' ', '-');
        const bool listed = std::find(names.begin(), names.end(), name) != names.end();
        EXPECT_EQ(listed, !command.group.empty() && command.run != nullptr) << name;
        EXPECT_EQ(man_page(name, build).empty(), !listed) << name;
    }
}

TEST(ManPage, has_every_word_option_and_example_of_its_command) {
    for (const auto& command : commands()) {
        auto name = "perdure-" + std::string(command.path);
        std::replace(name.begin(), name.end(), ' ', '-');
        const auto page = man_page(name, build);
        if (page.empty()) continue;
        for (const auto& word : command.words)
            EXPECT_TRUE(contains(page, "\\fI" + with_roff_dashes(word.name))) << name;
        for (const auto& option : command.options)
            EXPECT_TRUE(contains(page, with_roff_dashes("--" + std::string(option.key())))) << name;
        for (const auto setting : command.settings)
            EXPECT_TRUE(contains(page, with_roff_dashes(find_setting(setting)->flag))) << name;
        const auto example = command.example.substr(command.example.find_first_not_of(' '));
        const auto first_line = example.substr(0, example.find('\n'));
        EXPECT_TRUE(contains(page, ".EX\n" + with_roff_dashes(first_line) + "\n")) << name;
    }
}

TEST(ManPage, of_the_whole_lists_commands_settings_and_exit_codes) {
    const auto page = man_page("perdure", build);
    for (const auto& name : man_page_names())
        EXPECT_TRUE(contains(page, with_roff_dashes(name))) << name;
    for (const auto& setting : settings())
        EXPECT_TRUE(contains(page, "\\fB" + with_roff_dashes(setting.name) + "\\fR"))
            << setting.name;
    for (const auto& each : exit_code_meanings)
        EXPECT_TRUE(contains(page, "\\fB" + std::string(each.code) + "\\fR")) << each.code;
}

TEST(ManPage, takes_no_text_for_an_order_to_the_formatter) {
    for (const auto& name : man_page_names()) {
        const auto page = man_page(name, build);
        for (std::size_t at = 0; (at = page.find("\n.", at)) != std::string::npos; ++at) {
            const auto order = page.substr(at + 2, 2);
            EXPECT_TRUE(order == "TH" || order == "SH" || order == "SS" || order == "TP" ||
                        order == "EX" || order == "EE" || order == "BR" || order == "B ")
                << name << ": " << page.substr(at, 40);
        }
        EXPECT_EQ(page.find("\n'"), std::string::npos) << name;
        EXPECT_EQ(page.find('`'), std::string::npos) << name;
    }
}

TEST(ManPage, is_printed_by_a_command_for_packagers) {
    Stage stage;
    EXPECT_EQ(stage.run({"man-page", "perdure-job-show"}), 0);
    EXPECT_TRUE(contains(stage.out, ".TH PERDURE\\-JOB\\-SHOW 1 \"2026-11-15\"")) << stage.out;
    EXPECT_EQ(stage.run({"man-page", "--list"}), 0);
    EXPECT_TRUE(contains(stage.out, "perdure\nperdure-up\n")) << stage.out;
    EXPECT_EQ(stage.run({"man-page", "perdure-nonsense"}), 2);
}

TEST(Version, says_what_it_was_built_from) {
    Stage stage;
    EXPECT_EQ(stage.run({"version"}), 0);
    EXPECT_TRUE(contains(stage.out, "(commit 0123456789ab, 2026-11-15)")) << stage.out;
    EXPECT_EQ(stage.run({"version", "--json"}), 0);
    EXPECT_TRUE(contains(stage.out, "\"commit\":\"0123456789ab\"")) << stage.out;
    stage.backstage.facts = {};
    EXPECT_EQ(stage.run({"version"}), 0);
    EXPECT_FALSE(contains(stage.out, "commit")) << stage.out;
}

}  // namespace
}  // namespace perdure::cli
