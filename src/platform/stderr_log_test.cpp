#include "platform/stderr_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

namespace perdure {
namespace {

std::string line_of(const std::vector<Field>& fields) {
    return logfmt({{0}, Level::info, "server", "claimed", fields});
}

TEST(Logfmt, a_line_has_time_level_component_event_and_fields) {
    const std::vector<Field> fields{{"job", "0abc"}, {"epoch", "3"}};
    const LogEvent event{{1'794'734'999'000'250}, Level::warn, "server", "attempt lost", fields};
    EXPECT_EQ(logfmt(event),
              "time=2026-11-15T09:29:59.000250Z level=warn component=server "
              "event=\"attempt lost\" job=0abc epoch=3\n");
}

TEST(Logfmt, times_are_dates_of_the_calendar) {
    const std::vector<Field> none;
    const auto time_of = [&none](std::int64_t us) {
        return logfmt({{us}, Level::info, "a", "b", none}).substr(5, 27);
    };
    EXPECT_EQ(time_of(0), "1970-01-01T00:00:00.000000Z");
    EXPECT_EQ(time_of(-1), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(time_of(951'868'799'999'999), "2000-02-29T23:59:59.999999Z");
}

TEST(Logfmt, values_are_quoted_where_they_must_be) {
    const auto value_of = [](std::string value) {
        const auto line = line_of({{"v", std::move(value)}});
        const auto begin = line.find(" v=") + 3;
        return line.substr(begin, line.size() - begin - 1);
    };
    EXPECT_EQ(value_of("plain-1.5/x"), "plain-1.5/x");
    EXPECT_EQ(value_of("müde"), "müde");
    EXPECT_EQ(value_of(""), R"("")");
    EXPECT_EQ(value_of("two words"), R"("two words")");
    EXPECT_EQ(value_of("a=b"), R"("a=b")");
    EXPECT_EQ(value_of(R"(say "hi")"), R"("say \"hi\"")");
    EXPECT_EQ(value_of("a\nb\tc"), R"("a\nb\tc")");
    EXPECT_EQ(value_of(R"(C:\temp)"), R"("C:\\temp")");
}

TEST(Logfmt, no_value_can_forge_a_line) {
    const auto line = line_of({{"v", std::string("a\nlevel=error\r\x1b[31m\x7f\0", 21)}});
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_NE(line.find(R"(v="a\nlevel=error\u000d\u001b[31m\u007f\u0000")"), std::string::npos)
        << line;
}

TEST(StderrLog, writes_what_it_wants_and_nothing_else) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    StderrLog sink(Level::warn, pipe[1]);
    const Log log(sink, "worker");
    log.write(Level::info, "too quiet");
    log.write(Level::error, "heard", "n", 7);
    ::close(pipe[1]);
    std::array<char, 512> buffer{};
    const auto got = ::read(pipe[0], buffer.data(), buffer.size());
    ::close(pipe[0]);
    ASSERT_GT(got, 0);
    const std::string text(buffer.data(), static_cast<std::size_t>(got));
    EXPECT_NE(text.find(" level=error component=worker event=heard n=7\n"), std::string::npos);
    EXPECT_EQ(text.find("too quiet"), std::string::npos);
    EXPECT_EQ(text.rfind("time=20", 0), 0u);
}

TEST(LogJson, is_one_object_on_one_line_whatever_is_said) {
    const std::vector<Field> fields = {{"job", "a\"b\nc"}};
    EXPECT_EQ(
        log_json({WallTime{1}, Level::warn, "server", "attempt lost", fields}),
        "{\"time\":\"1970-01-01T00:00:00.000001Z\",\"level\":\"warn\",\"component\":\"server\","
        "\"event\":\"attempt lost\",\"job\":\"a\\\"b\\nc\"}\n");
}

}  // namespace
}  // namespace perdure
