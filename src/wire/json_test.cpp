#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/base64.h"
#include "wire/job_json.h"
#include "wire/json_reader.h"
#include "wire/json_writer.h"
#include "wire/log_frames.h"
#include "wire/worker_json.h"

namespace perdure {
namespace {

std::string in_quotes(std::string_view text) {
    std::string out;
    JsonWriter(out).value(text);
    return out;
}

TEST(JsonWriter, escapes_what_must_be_and_nothing_else) {
    EXPECT_EQ(in_quotes("plain / text"), "\"plain / text\"");
    EXPECT_EQ(in_quotes("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
    EXPECT_EQ(in_quotes("grün €"), "\"grün €\"");
}

TEST(JsonWriter, makes_valid_utf8_of_anything) {
    EXPECT_EQ(in_quotes("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
    EXPECT_EQ(in_quotes("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    EXPECT_EQ(in_quotes("\xC0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

RC_GTEST_PROP(JsonWriter, writes_text_that_every_reader_takes, (const std::string& bytes)) {
    boost::json::value value;
    const auto text = in_quotes(bytes);
    if (bytes.find('\0') == std::string::npos) RC_ASSERT(!parse_strict(text, value));
    RC_ASSERT(!parse_quick(text, value));
}

RC_GTEST_PROP(JsonReader, survives_any_bytes, (const std::string& bytes)) {
    boost::json::value value;
    OpenRequest open;
    ReportRequest report;
    StreamMessage message;
    std::vector<LogChunk> chunks;
    (void)parse_strict(bytes, value);
    (void)from_json(bytes, open);
    (void)from_json(bytes, report);
    (void)from_json(bytes, message);
    (void)read_log_frames(bytes, chunks);
}

// Bytes that are nearly right reach further than noise.
RC_GTEST_PROP(JsonReader, survives_damaged_messages, (std::size_t at, char byte)) {
    std::string text = R"({"session":"0000000000001","items":[{"job":"0000000000002","epoch":1,)"
                       R"("kind":"ended","end":{"cause":"exit","ran":"yes"},"evidence":{)"
                       R"("result":"{}","last_lines":"x"},"checkpoint":"aGVsbG8="}]})";
    text[at % text.size()] = byte;
    ReportRequest report;
    HeartbeatRequest heartbeat;
    (void)from_json(text, report);
    (void)from_json(text, heartbeat);
    boost::json::value value;
    (void)parse_strict(text, value);
}

TEST(StrictJson, names_the_place_of_what_is_given_twice) {
    boost::json::value value;
    const auto misfit = parse_strict(R"({"a":[{"x":1},{"b":1,"c":{"d":1,"d":2}}]})", value);
    ASSERT_TRUE(misfit);
    EXPECT_EQ(misfit->path, "$.a[1].c.d");
}

TEST(StrictJson, finds_a_duplicate_among_thousands_of_names) {
    std::string text = "{";
    for (int i = 0; i < 5000; ++i) text += "\"k" + std::to_string(i) + "\":1,";
    boost::json::value value;
    EXPECT_FALSE(parse_strict(text + "\"last\":1}", value));
    EXPECT_TRUE(parse_strict(text + "\"k17\":1}", value));
}

TEST(StrictJson, takes_exactly_32_levels) {
    boost::json::value value;
    const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
    EXPECT_FALSE(parse_strict(nested(json_depth_max), value));
    EXPECT_TRUE(parse_strict(nested(json_depth_max + 1), value));
    EXPECT_TRUE(parse_quick(nested(json_depth_max + 1), value));
}

TEST(StrictJson, keeps_the_largest_numbers_that_fit) {
    boost::json::value value;
    ASSERT_FALSE(parse_strict("[18446744073709551615,-9223372036854775808,0.1]", value));
    EXPECT_EQ(canonical(value), "[18446744073709551615,-9223372036854775808,0.1]");
    EXPECT_TRUE(parse_strict("18446744073709551616", value));
}

TEST(Canonical, is_the_same_for_equal_values) {
    boost::json::value a;
    boost::json::value b;
    ASSERT_FALSE(parse_strict(R"({ "b": [1, 1.5, "x"], "a": {"d": null, "c": true} })", a));
    ASSERT_FALSE(parse_strict(R"({"a":{"c":true,"d":null},"b":[1,1.5,"x"]})", b));
    EXPECT_EQ(canonical(a), canonical(b));
    EXPECT_EQ(canonical(b), R"({"a":{"c":true,"d":null},"b":[1,1.5,"x"]})");
}

RC_GTEST_PROP(Base64, gives_back_what_went_in, (const std::string& bytes)) {
    RC_ASSERT(base64_bytes(base64_text(bytes)) == bytes);
}

TEST(Base64, refuses_what_it_would_not_write) {
    EXPECT_EQ(base64_text("hello"), "aGVsbG8=");
    for (const auto* text :
         {"a", "ab", "abc", "a===", "aGVsbG9=", "aGV=bG8=", "aGVs bG8", "====", "aGVsbG8=\n"})
        EXPECT_FALSE(base64_bytes(text)) << text;
}

RC_GTEST_PROP(LogFrames, give_back_what_went_in, (const std::vector<std::string>& texts)) {
    std::vector<LogChunk> chunks;
    for (const auto& text : texts)
        if (!text.empty()) chunks.push_back({{JobId{7}, Epoch{1}}, chunks.size(), text});
    std::vector<LogChunk> read;
    RC_ASSERT(!read_log_frames(log_frames(chunks), read));
    RC_ASSERT(read.size() == chunks.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
        RC_ASSERT(read[i].bytes == chunks[i].bytes);
        RC_ASSERT(read[i].offset == chunks[i].offset);
    }
}

TEST(LogFrames, refuse_a_chunk_that_is_cut_off) {
    std::vector<LogChunk> read;
    const auto misfit = read_log_frames(
        "{\"job\":\"0000000000007\",\"epoch\":1,\"offset\":0,\"size\":9}\nabc", read);
    ASSERT_TRUE(misfit);
    EXPECT_EQ(misfit->path, "$[0]");
}

}  // namespace
}  // namespace perdure
