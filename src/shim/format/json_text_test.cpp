#include "shim/format/json_text.h"

#include <gtest/gtest.h>

#include "shim/format/attempt_files.h"

namespace perdure::json_text_test {
namespace {

using namespace std::string_view_literals;

std::string written(std::string_view bytes) {
    std::string text;
    append_json_string(text, bytes);
    return text;
}

TEST(JsonText, takes_what_is_json) {
    for (const auto text :
         {"{}"sv, "[]"sv, " null "sv, "true"sv, "-0.5e+10"sv, "0"sv, "\"\""sv, R"("\u00e9\n")"sv,
          R"("\ud83d\ude00")"sv, R"({"a": [1, {"b": "c"}], "d": false})"sv, "\"\xC3\xA9\""sv})
        EXPECT_TRUE(is_json(text)) << text;
}

TEST(JsonText, refuses_what_is_not) {
    for (const auto text : {""sv,
                            " "sv,
                            "{"sv,
                            "}"sv,
                            "[1,]"sv,
                            "{\"a\"}"sv,
                            "{\"a\":1,}"sv,
                            "{a:1}"sv,
                            "01"sv,
                            "1."sv,
                            "-"sv,
                            "1e"sv,
                            "nul"sv,
                            "1 2"sv,
                            "\"a"sv,
                            "\"\n\""sv,
                            "\"\\x\""sv,
                            R"("\ud83d")"sv,
                            R"("\ude00\ud83d")"sv,
                            R"("\u0000")"sv,
                            R"("\u12")"sv,
                            "\"\xFF\""sv,
                            "\"\xC0\x80\""sv,
                            "\"\xED\xA0\x80\""sv,
                            "\"\xF5\x80\x80\x80\""sv})
        EXPECT_FALSE(is_json(text)) << text;
}

std::string nested(std::size_t depth) {
    std::string text(depth, '[');
    text += '1';
    text.append(depth, ']');
    return text;
}

TEST(JsonText, refuses_what_is_nested_too_deeply) {
    // As deep as a server takes it, and no deeper: otherwise the result would be lost there.
    EXPECT_TRUE(is_json(nested(32)));
    EXPECT_FALSE(is_json(nested(33)));
    EXPECT_FALSE(is_json(nested(100'000)));
}

TEST(JsonText, writes_any_bytes_as_a_valid_string) {
    EXPECT_EQ(written("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
    EXPECT_EQ(written("\xC3\xA9"), "\"\xC3\xA9\"");
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    EXPECT_TRUE(is_json(written(all)));
    EXPECT_TRUE(is_json(written(std::string(all.rbegin(), all.rend()))));
}

TEST(ResultJson, is_json_whatever_the_evidence) {
    Evidence evidence{.result = "{\"a\": \"\\\"\"}", .detail = "\xFF\"", .last_lines = "a\0b"};
    const AttemptEnd end{.cause = Cause::verdict_at, .ran = Ran::yes, .at = WallTime{5}};
    EXPECT_TRUE(is_json(attempt_files::result_json(end, evidence)));
    EXPECT_TRUE(is_json(attempt_files::result_json({}, {})));
}

}  // namespace
}  // namespace perdure::json_text_test
