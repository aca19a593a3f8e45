#include "shim/format/records.h"

#include <gtest/gtest.h>

#include "shim/format/order.h"
#include "shim/protocol.h"

namespace perdure::records_test {
namespace {

Order some_order() {
    Order order;
    order.attempt = {JobId{12345}, {6}};
    order.assignment = 78;
    order.terms = decide_terms({.effects = Effects::once, .holds_key_or_limit = true}, Timing{});
    order.timing.kill_grace = milliseconds(1);
    order.boot = "boot";
    order.host = "host";
    order.directory = "/state/attempts/x.6";
    order.argv = {"echo", "", "a\nb", std::string(10'000, 'x')};
    order.env = {{"PATH", "/bin"}, {"EMPTY", ""}, {"EQUALS", "a=b"}};
    order.cwd = "/tmp";
    order.output_max = 1'000;
    order.run_timeout = seconds(3);
    order.idle_timeout = seconds(2);
    return order;
}

TEST(Records, are_read_as_they_were_written) {
    std::string text;
    append_record(text, "name", "a\n b");
    append_record(text, "empty", "");
    append_record(text, "number", std::int64_t{-5});
    RecordReader reader(text);
    EXPECT_EQ(reader.next()->bytes, "a\n b");
    EXPECT_EQ(reader.next()->name, "empty");
    EXPECT_EQ(reader.next()->bytes, "-5");
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.corrupt());
    EXPECT_EQ(reader.consumed(), text.size());
}

TEST(Records, wait_for_the_rest_of_what_is_cut_short) {
    std::string text;
    append_record(text, "name", "bytes");
    for (std::size_t size = 0; size < text.size(); ++size) {
        RecordReader reader(std::string_view(text).substr(0, size));
        EXPECT_FALSE(reader.next()) << size;
        EXPECT_FALSE(reader.corrupt()) << size;
    }
}

TEST(Records, know_nonsense_when_they_see_it) {
    for (const std::string_view text :
         {"Name 1\nx\n", "name -1\nx\n", "name x\nx\n", "name\nx\n", " 1\nx\n", "name 1\nxy\n",
          "name 99999999\nx", "name 18446744073709551615\nx",
          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
        RecordReader reader(text);
        EXPECT_FALSE(reader.next()) << text;
        EXPECT_TRUE(reader.corrupt()) << text;
    }
}

TEST(OrderText, is_read_as_it_was_written) {
    const auto order = some_order();
    const auto read = parse_order(to_text(order));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->attempt, order.attempt);
    EXPECT_EQ(read->assignment, order.assignment);
    EXPECT_EQ(read->terms, order.terms);
    EXPECT_EQ(read->timing.kill_grace, order.timing.kill_grace);
    EXPECT_EQ(read->directory, order.directory);
    EXPECT_EQ(read->argv, order.argv);
    EXPECT_EQ(read->env, order.env);
    EXPECT_EQ(read->cwd, order.cwd);
    EXPECT_EQ(read->output_max, order.output_max);
    EXPECT_EQ(read->run_timeout, order.run_timeout);
    EXPECT_EQ(read->idle_timeout, order.idle_timeout);
    EXPECT_EQ(to_text(*read), to_text(order));
}

TEST(OrderText, is_corrupt_wherever_it_is_cut) {
    const auto text = to_text(some_order());
    for (std::size_t size = 0; size < text.size(); ++size)
        EXPECT_TRUE(parse_order(std::string_view(text).substr(0, size)).is(Errc::corrupt)) << size;
    EXPECT_TRUE(parse_order(text + "x").is(Errc::corrupt));
}

TEST(OrderText, of_a_later_version_may_say_more) {
    auto order = some_order();
    std::string text;
    append_record(text, "unheard_of", "news");
    text = to_text(order).insert(0, text);
    EXPECT_TRUE(parse_order(text));
}

TEST(OrderText, with_impossible_values_is_corrupt) {
    const auto text = to_text(some_order());
    const auto with = [&](std::string_view name, std::string_view bytes) {
        std::string more;
        append_record(more, name, bytes);
        return parse_order(more + text);
    };
    EXPECT_TRUE(with("effects", "twice").is(Errc::corrupt));
    EXPECT_TRUE(with("isolation", "").is(Errc::corrupt));
    EXPECT_TRUE(with("job", "short").is(Errc::corrupt));
    EXPECT_TRUE(with("epoch", "-1").is(Errc::corrupt));
    EXPECT_TRUE(with("env", "no_equals_sign").is(Errc::corrupt));
    EXPECT_TRUE(with("hold", "soon").is(Errc::corrupt));
}

TEST(Talk, says_when_a_start_is_allowed) {
    const auto with_go = parse_start(to_text(StartTalk{BootTime{5}, BootTime{7}}));
    EXPECT_EQ(with_go->go_until, BootTime{5});
    EXPECT_EQ(with_go->lease_until, BootTime{7});
    EXPECT_FALSE(parse_start(to_text(StartTalk{std::nullopt, BootTime{7}}))->go_until);
    for (const std::string_view text : {"", "5", "5 ", " 7", "x 7", "5 7 9"})
        EXPECT_FALSE(parse_start(text)) << text;
}

TEST(Talk, knows_every_cause_by_its_name) {
    for (std::size_t i = 0; i < cause_count; ++i)
        EXPECT_EQ(cause_named(cause_names[i]), static_cast<Cause>(i));
    EXPECT_FALSE(cause_named("bad luck"));
}

}  // namespace
}  // namespace perdure::records_test
