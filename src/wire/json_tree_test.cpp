#include "wire/json_tree.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "wire/testing/json_agreement.h"

namespace perdure {
namespace {

using json_testing::agrees;

TEST(JsonTree, takes_and_understands_what_json_is) {
    for (const auto* text : {"null",
                             " true ",
                             "false",
                             "0",
                             "-0",
                             "-12",
                             "1.5",
                             "1e3",
                             "1E+3",
                             "1.25e-3",
                             "9223372036854775807",
                             "9223372036854775808",
                             "18446744073709551615",
                             "-9223372036854775808",
                             "\"\"",
                             "\"a\"",
                             R"("\"\\\/\b\f\n\r\t")",
                             R"("a\u0041\u00e9\u20ac")",
                             R"("\ud83d\ude00")",
                             "\"gr\xC3\xBCn \xE2\x82\xAC \xF0\x9F\x98\x80\"",
                             "[]",
                             "{}",
                             "[ ]",
                             "{ }",
                             " [ 1 , [ 2 ] , { } ] ",
                             R"({"a":{"b":[1,{"c":null}]},"d":"e"})",
                             "\"\x7F\""})
        EXPECT_TRUE(agrees(text));
}

TEST(JsonTree, refuses_what_json_is_not) {
    for (const auto* text : {"",
                             " ",
                             "nul",
                             "nullx",
                             "truefalse",
                             "01",
                             "-",
                             "+1",
                             "1.",
                             ".5",
                             "1e",
                             "1e+",
                             "- 1",
                             "0x1",
                             "\"",
                             "\"a",
                             "\"\\\"",
                             "\"\\x\"",
                             R"("\u12")",
                             R"("\u12g4")",
                             R"("\ud800")",
                             R"("\ud800\u0041")",
                             R"("\udc00")",
                             "\"\n\"",
                             "\"\x01\"",
                             "\"\xFF\"",
                             "\"\xC0\x80\"",
                             "\"\xED\xA0\x80\"",
                             "\"\xE2\x82\"",
                             "[",
                             "]",
                             "[1",
                             "[1,",
                             "[1,]",
                             "[,1]",
                             "[1 2]",
                             "{",
                             "}",
                             "{\"a\"}",
                             "{\"a\":}",
                             "{\"a\":1,}",
                             "{\"a\" 1}",
                             "{a:1}",
                             "{1:1}",
                             "{,}",
                             "[}",
                             "{]",
                             "1 2",
                             "[] x",
                             "\xEF\xBB\xBF{}",
                             "NaN",
                             "Infinity"}) {
        JsonTree tree;
        EXPECT_FALSE(tree.read(text, JsonTree::Manner::quick)) << text;
        EXPECT_TRUE(agrees(text));
    }
}

TEST(JsonTree, is_as_strict_as_it_is_told_to_be) {
    for (const auto* text :
         {"18446744073709551616", "-9223372036854775809", "1e999", R"("\u0000")", R"({"\u0000":1})",
          R"({"a":1,"b":2,"a":3})", R"([{"a":[],"a":[1]}])"}) {
        JsonTree tree;
        EXPECT_TRUE(tree.read(text, JsonTree::Manner::quick)) << text;
        EXPECT_FALSE(tree.read(text, JsonTree::Manner::strict)) << text;
        EXPECT_TRUE(agrees(text));
    }
}

TEST(JsonTree, finds_equal_names_among_many) {
    std::string many = "{";
    for (int i = 0; i < 100; ++i) many += "\"k" + std::to_string(i * 37 % 100) + "\":[1],";
    EXPECT_TRUE(agrees(many + "\"last\":1}"));
    EXPECT_TRUE(agrees(many + "\"k17\":2}"));
    EXPECT_TRUE(agrees(many + "\"k17\":2,\"k17\":3}"));
}

TEST(JsonTree, goes_as_deep_as_it_may) {
    const auto nested = [](std::size_t levels) {
        return std::string(levels, '[') + std::string(levels, ']');
    };
    EXPECT_TRUE(agrees(nested(json_depth_max)));
    EXPECT_TRUE(agrees(nested(json_depth_max + 1)));
    EXPECT_TRUE(agrees(nested(100'000)));
}

TEST(JsonTree, keeps_texts_apart_that_had_to_be_copied) {
    std::string text = "[";
    for (int i = 0; i < 50; ++i) text += R"("\n\u00e9)" + std::to_string(i) + "\",";
    EXPECT_TRUE(agrees(text + "\"end\"]"));
}

RC_GTEST_PROP(JsonTree, agrees_with_another_parser_about_any_bytes, (const std::string& bytes)) {
    RC_ASSERT(agrees(bytes));
    std::string quoted = "[\"" + bytes + "\"]";
    RC_ASSERT(agrees(quoted));
}

// What is nearly right reaches further than noise.
RC_GTEST_PROP(JsonTree, agrees_with_another_parser_about_damaged_text,
              (std::size_t at, char byte, std::size_t from, std::size_t count)) {
    std::string text = R"({"a":["x\n\u00e9",-1.5e3,0,{"b":true,"c":{}},[null]],"d":"plain","a":12,)"
                       R"("e":"\ud83d\ude00","f":-70} )";
    const auto bytes = std::string_view("{}[]\",:\\u0e-.tn x\xC3\xA9");
    text[at % text.size()] = bytes[static_cast<unsigned char>(byte) % bytes.size()];
    RC_ASSERT(agrees(text));
    text.erase(from % text.size(), count % 8);
    RC_ASSERT(agrees(text));
}

}  // namespace
}  // namespace perdure
