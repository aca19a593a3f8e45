// docs/cli.md is written by hand, and its tables must be those of the program: every setting, every
// command with its options, every exit code. A line that is missing is printed as it should be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/exit_code.h"
#include "base/fault.h"
#include "cli/command.h"
#include "cli/exit_codes.h"
#include "config/settings.h"

namespace perdure::cli {
namespace {

std::string page(const std::string& name = "cli.md") {
    std::ifstream file(PERDURE_SOURCE_DIR "/docs/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void expect_line(const std::string& text, const std::string& line) {
    EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << "missing:\n" << line;
}

std::string code(std::string_view text) { return text.empty() ? "" : fmt::format("`{}`", text); }

std::string default_text(const Setting& setting) {
    if (setting.standard.empty()) return "";
    if (setting.standard.starts_with("("))
        return std::string(setting.standard.substr(1, setting.standard.size() - 2));
    auto text = code(setting.standard);
    if (!setting.production.empty()) text += fmt::format("; production: `{}`", setting.production);
    return text;
}

TEST(Docs, list_every_setting) {
    const auto text = page();
    for (const auto& setting : settings())
        expect_line(text,
                    fmt::format("| `{}` | {} | {} | {} | {} |", setting.name, default_text(setting),
                                code(setting.environment), code(setting.flag), setting.about));
}

TEST(Docs, list_every_command) {
    const auto text = page();
    for (const auto& command : commands()) {
        if (command.group.empty() || !command.run) continue;
        std::string words;
        for (const auto& word : command.words) {
            const bool optional = word.how == Word::How::optional || word.how == Word::How::any;
            const bool many = word.how == Word::How::many || word.how == Word::How::any;
            words += fmt::format(" {}{}{}{}", optional ? "[" : "", word.name, many ? "..." : "",
                                 optional ? "]" : "");
        }
        if (command.takes_command) words += " -- COMMAND...";
        expect_line(text,
                    fmt::format("| `perdure {}{}` | {} |", command.path, words, command.summary));
    }
}

TEST(Docs, list_every_option_of_a_job) {
    const auto text = page();
    for (const auto& option : find_command("submit")->options)
        expect_line(text, fmt::format("| `{}{}{}` | {} |", option.name,
                                      option.value.empty() ? "" : " ", option.value, option.help));
}

TEST(Docs, list_every_fault_point) {
    const auto text = page("faults.md");
    for (const auto& point : fault_points)
        expect_line(text, fmt::format("| `{}` | {} |", point.name, point.sentence));
}

TEST(Docs, list_every_exit_code) {
    const auto text = page();
    for (const auto& each : exit_code_meanings)
        expect_line(text, fmt::format("| {} | {} |", each.code, each.meaning));
    for (const auto each :
         {ExitCode::ok, ExitCode::failed, ExitCode::usage, ExitCode::not_found, ExitCode::conflict,
          ExitCode::unreachable, ExitCode::outcome_unknown, ExitCode::forbidden, ExitCode::corrupt,
          ExitCode::temporary, ExitCode::detached, ExitCode::cancelled, ExitCode::expired,
          ExitCode::quarantined, ExitCode::timed_out, ExitCode::lost, ExitCode::command_unusable})
        EXPECT_NE(text.find(fmt::format("\n| {} |", static_cast<int>(each))), std::string::npos)
            << static_cast<int>(each);
}

}  // namespace
}  // namespace perdure::cli
