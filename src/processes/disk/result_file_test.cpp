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

}  // namespace
}  // namespace perdure
