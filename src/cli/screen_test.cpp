// What people see: tables, times, sizes, colours, errors.
#include <gtest/gtest.h>

#include <sstream>

#include "cli/answer.h"
#include "cli/human.h"
#include "cli/table.h"

namespace perdure::cli {
namespace {

struct Screen {
    std::ostringstream out;
    std::ostringstream err;
    Terminal term;

    explicit Screen(Terminal::Look look = {}) : term(out, err, look) {}
};

TEST(Relative, says_times_as_people_do) {
    const WallTime now{days(20'000).us};
    EXPECT_EQ(relative(now - milliseconds(300), now), "just now");
    EXPECT_EQ(relative(now - seconds(59), now), "59 s ago");
    EXPECT_EQ(relative(now - seconds(200), now), "3 min ago");
    EXPECT_EQ(relative(now - hours(49), now), "2 d ago");
    EXPECT_EQ(relative(now + minutes(61), now), "in 1 h");
}

TEST(Spoken, has_two_units_at_most) {
    EXPECT_EQ(spoken(milliseconds(250)), "250 ms");
    EXPECT_EQ(spoken(milliseconds(1500)), "1.5 s");
    EXPECT_EQ(spoken(seconds(200)), "3 min 20 s");
    EXPECT_EQ(spoken(hours(52)), "2 d 4 h");
    EXPECT_EQ(spoken(hours(1)), "1 h");
    EXPECT_EQ(spoken(days(2) + seconds(5)), "2 d");
}

TEST(SpokenSize, names_the_unit) {
    EXPECT_EQ(spoken_size(17), "17 bytes");
    EXPECT_EQ(spoken_size(1536), "1.5 KiB");
    EXPECT_EQ(spoken_size(std::uint64_t{16} << 20), "16.0 MiB");
}

TEST(Tables, align_by_characters_and_not_by_bytes) {
    Screen screen;
    Table table({"NAME", "WHAT"});
    table.add({"größe", "a"});
    table.add({"x", "b"});
    EXPECT_EQ(table.text(screen.term), "NAME   WHAT\ngröße  a\nx      b\n");
}

// Names are whole, and no line is longer than the terminal.
TEST(Tables, fit_a_narrow_terminal) {
    Table table({"ID", "STATE", "QUEUE", "SUBMITTED", "NOTE", "WHAT"});
    table.add({"06na5x0g00000", "quarantined", "a-queue-with-a-long-name", "25 min ago",
               "crash(signal)", "./do-something --with many --options"});
    for (const std::size_t width : {20, 40, 60, 80, 100}) {
        Screen screen({.width = width});
        const auto text = table.text(screen.term);
        EXPECT_NE(text.find("06na5x0g00000"), std::string::npos);
        for (std::size_t at = 0; at < text.size();) {
            const auto end = text.find('\n', at);
            EXPECT_LE(columns_of(text.substr(at, end - at)), width) << text;
            at = end + 1;
        }
    }
}

TEST(Tables, cut_the_last_column_on_a_terminal_and_nowhere_else) {
    Table table({"ID", "WHAT"});
    table.add({"1", std::string(100, 'w')});
    Screen piped;
    EXPECT_NE(table.text(piped.term).find(std::string(100, 'w')), std::string::npos);
    Screen narrow({.width = 40});
    const auto text = table.text(narrow.term);
    EXPECT_NE(text.find("www…\n"), std::string::npos);
    EXPECT_EQ(columns_of(text.substr(text.find('\n') + 1)), 40U + 1U);
}

TEST(Tables, colour_cells_without_moving_columns) {
    Table table({"S", "X"});
    table.add({Cell("failed", Colour::red), "1"});
    Screen coloured({.colour = true});
    EXPECT_NE(table.text(coloured.term).find("\x1b[31mfailed\x1b[0m  1\n"), std::string::npos);
    Screen plain;
    EXPECT_EQ(table.text(plain.term).find('\x1b'), std::string::npos);
}

// A job's name or command is somebody else's text.
TEST(Fitted, lets_nothing_play_with_the_terminal) {
    EXPECT_EQ(fitted("a\x1b[2Jb\n", 99), "a·[2Jb·");
    EXPECT_EQ(fitted("größe", 3), "gr…");
    EXPECT_EQ(fitted("abc", 3), "abc");
}

TEST(TerminalTest, keeps_data_and_talk_apart) {
    Screen screen;
    screen.term.out("data\n");
    screen.term.say("talk");
    EXPECT_EQ(screen.out.str(), "data\n");
    EXPECT_EQ(screen.err.str(), "perdure: talk\n");
}

TEST(TerminalTest, shows_passing_lines_only_where_somebody_looks) {
    Screen piped;
    piped.term.passing("working");
    EXPECT_EQ(piped.err.str(), "");
    Screen watched({.passing = true});
    watched.term.passing("working");
    watched.term.say("done");
    EXPECT_EQ(watched.err.str(), "working\r\x1b[Kperdure: done\n");
}

TEST(TerminalTest, errors_say_what_where_and_the_page) {
    Screen screen;
    EXPECT_EQ(screen.term.fail(error(Errc::conflict, "it has ended"), "$.id"), ExitCode::conflict);
    EXPECT_EQ(screen.err.str(),
              "perdure: it has ended (at $.id)\n"
              "perdure: more about `conflict`: perdure explain conflict\n");
}

TEST(WhatItDoes, can_be_pasted_into_a_shell) {
    const boost::json::value job = {{"argv", {"sh", "-c", "echo it's me"}}};
    EXPECT_EQ(what_it_does(job), "sh -c 'echo it'\\''s me'");
    EXPECT_EQ(what_it_does(boost::json::value{{"kind", "mail.send"}}), "mail.send");
}

// A newer server may say things in another form: nothing is shown then, and nothing breaks.
TEST(Answers, of_another_form_are_shown_as_nothing) {
    const boost::json::value odd = {{"id", 7}, {"jobs", "none"}, {"at", "soon"}, {"n", "x"}};
    EXPECT_EQ(text_of(odd, "id"), "7");
    EXPECT_TRUE(list_of(odd, "jobs").empty());
    EXPECT_EQ(time_of(odd, "at"), std::nullopt);
    EXPECT_EQ(number_of(odd, "n"), 0);
    EXPECT_FALSE(truth_of(odd, "id"));
    EXPECT_FALSE(has(boost::json::value(nullptr), "id"));
}

TEST(Escaped, leaves_nothing_that_could_change_the_target) {
    EXPECT_EQ(escaped("a b/c?d=é"), "a%20b%2Fc%3Fd%3D%C3%A9");
}

}  // namespace
}  // namespace perdure::cli
