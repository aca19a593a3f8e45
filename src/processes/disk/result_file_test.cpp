#include "processes/disk/result_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace perdure {
namespace {

TEST(ResultFile, keeps_the_end_of_a_text_that_is_too_long_for_a_server) {
    for (const std::size_t characters : {0U, 1U, 5461U, 5462U, 16384U}) {
        std::string text;
        for (std::size_t i = 0; i < characters; ++i) text += "\xEF\xBF\xBD";
        const auto read = parse_result(R"({"version":1,"cause":"exit","ran":"yes","last_lines":")" +
                                       text + R"("})");
        ASSERT_TRUE(read.has_value()) << read.error().what;
        const auto& kept = read->evidence->last_lines;
        EXPECT_LE(kept.size(), last_lines_max);
        EXPECT_EQ(kept.size() % 3, 0U) << "whole characters";
        EXPECT_EQ(kept.size(), std::min<std::size_t>(characters, 5461) * 3);
    }
}

TEST(ResultFile, that_contradicts_itself_is_damaged) {
    const std::string begin = R"({"version":1,"cause":")";
    const std::string dated = R"json(verdict(at)","ran":"yes")json";
    for (const auto& rest : {std::string(R"(exit","ran":"no"})"),
                             std::string(R"(exit","ran":"yes","succeeded":true,"exit_code":1})"),
                             std::string(R"(oom","ran":"yes","succeeded":true})"), dated + "}",
                             dated + R"(,"at_us":9223372036854775807})"})
        EXPECT_TRUE(parse_result(begin + rest).is(Errc::corrupt)) << rest;
    EXPECT_TRUE(parse_result(begin + dated + R"(,"at_us":5})").has_value());
}

TEST(ResultFile, gives_only_evidence_that_a_server_takes) {
    const auto read = parse_result(R"({"version":1,"cause":"oom","ran":"yes","peak_memory":-1,)"
                                   R"("ran_for_us":-1,"detail":")" +
                                   std::string(20'000, 'd') + R"("})");
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->evidence->detail.size(), detail_max);
    EXPECT_EQ(read->evidence->peak_memory, 0U);
    EXPECT_EQ(read->evidence->ran_for, Duration{});
}

}  // namespace
}  // namespace perdure
