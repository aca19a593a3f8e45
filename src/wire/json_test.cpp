#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <set>

#include "core/job/body_hash.h"
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
    EXPECT_EQ(in_quotes(std::string_view("a\0z", 3)), "\"a\xEF\xBF\xBDz\"");
    EXPECT_EQ(in_quotes("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
    EXPECT_EQ(in_quotes("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    EXPECT_EQ(in_quotes("\xC0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

RC_GTEST_PROP(JsonWriter, writes_text_that_every_reader_takes, (const std::string& bytes)) {
    boost::json::value value;
    const auto text = in_quotes(bytes);
    RC_ASSERT(!parse_strict(text, value));
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
    const auto parse_error = parse_strict(R"({"a":[{"x":1},{"b":1,"c":{"d":1,"d":2}}]})", value);
    ASSERT_TRUE(parse_error);
    EXPECT_EQ(parse_error->path, "$.a[1].c.d");
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
    EXPECT_EQ(value.at(0), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(value.at(1), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(value.at(2), 0.1);
    EXPECT_TRUE(parse_strict("18446744073709551616", value));
}

// A tenth of all numbers between 0 and 1 came out one off in their last digit.
RC_GTEST_PROP(StrictJson, keeps_every_digit_of_a_number, (std::uint64_t bits)) {
    const auto number = std::bit_cast<double>(bits);
    RC_PRE(std::isfinite(number));
    boost::json::value value;
    // As a text that is no whole number, whatever the number is.
    RC_ASSERT(!parse_strict(fmt::format("{:.17e}", number), value));
    RC_ASSERT(value.get_double() == number);
}

std::string canonical_of(std::string_view text) {
    JsonTree tree;
    EXPECT_FALSE(parse_strict(text, tree)) << text;
    return canonical(tree.root());
}

TEST(Canonical, is_the_same_for_equal_values) {
    const std::string text = R"({"a":{"c":true,"d":null},"b":[1,1.5,"x"],"":{},"z":[]})";
    const std::string sorted = R"({"":{},"a":{"c":true,"d":null},"b":[1,1.5,"x"],"z":[]})";
    EXPECT_EQ(canonical_of(text), sorted);
    EXPECT_EQ(canonical_of(sorted), sorted);
    EXPECT_EQ(canonical_of(R"({ "z": [ ], "b": [1.0, 15e-1, "\u0078"], "" : { },)"
                           R"("a": {"d": null, "c": true} })"),
              sorted);
}

// It is stored, hashed and given to the job: the same in every release.
TEST(Canonical, writes_each_value_in_one_way) {
    const std::pair<const char*, const char*> table[] = {
        {"-0", "0"},
        {"-0.0", "0"},
        {"0e5", "0"},
        {"0e400", "0"},
        {"1.0", "1"},
        {"1E3", "1000"},
        {"1e16", "1e+16"},
        {"10000000000000000", "10000000000000000"},
        {"18446744073709551615", "18446744073709551615"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"12345678901234567890.5", "1.2345678901234567e+19"},
        {"1e-400", "0"},
        {"0.11935319286735585", "0.11935319286735585"},
        {"5e-324", "5e-324"},
        {"1.7976931348623157e308", "1.7976931348623157e+308"},
        {R"("\u00e9\/\b")", R"("é/\u0008")"},
        {"[[],{},null,true,false]", "[[],{},null,true,false]"},
    };
    for (const auto& [text, expected] : table) {
        EXPECT_EQ(canonical_of(text), expected) << text;
        EXPECT_EQ(canonical_of(expected), expected) << "a worker reads it once more";
    }
}

// Between our own programs a number may not fit, and a name may come twice.
TEST(Canonical, leaves_a_number_as_it_is_that_does_not_fit) {
    JsonTree tree;
    const std::string text = R"({"b":1e999,"a":1,"b":18446744073709551616,"c":-1e999})";
    ASSERT_FALSE(parse_quick(text, tree));
    EXPECT_EQ(canonical(tree.root()), R"({"a":1,"b":18446744073709551616,"c":-1e999})");
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
    const auto parse_error = read_log_frames(
        "{\"job\":\"0000000000007\",\"epoch\":1,\"offset\":0,\"size\":9}\nabc", read);
    ASSERT_TRUE(parse_error);
    EXPECT_EQ(parse_error->path, "$[0]");
}

std::optional<ParseError> read_request(std::string_view text, JobRequest& into) {
    JsonTree value;
    if (auto parse_error = parse_strict(text, value)) return parse_error;
    Reading reading;
    read_job(JsonCursor(value, reading), into);
    return reading.parse_error;
}

BodyHash hash_of(std::string_view text) {
    JobRequest request;
    const auto parse_error = read_request(text, request);
    EXPECT_FALSE(parse_error) << text << ": " << parse_error->what;
    return body_hash(AskedBody{request.spec, request.delay, request.after_earlier});
}

// B2: what a person means counts, not how it is written.
TEST(BodyHash, is_the_same_for_equal_bodies_however_they_are_written) {
    const auto hash = hash_of(
        R"({"kind":"k","env":{"A":"1","B":"é"},"timeouts":{"run":"90s","idle":"1s"},"delay":"1m",)"
        R"("args":{"a":[1,2.5,0.1,1000,-3,"é/"],"b":{"c":null,"d":true}}})");
    for (const auto* text : {
             // Other order of names, spaces.
             R"({ "args" : {"b":{"d":true,"c":null},"a":[1, 2.5, 0.1, 1000, -3, "é/"]},)"
             R"("timeouts":{"idle":"1s","run":"90s"},"env":{"B":"é","A":"1"},)"
             R"("delay":"1m","kind":"k"})",
             // Other spelling of numbers and durations.
             R"({"kind":"k","env":{"A":"1","B":"é"},"timeouts":{"run":"1m30s","idle":1.0},)"
             R"("delay":60,"args":{"a":[1.0,25e-1,1E-1,1e3,-3.00,"é/"],)"
             R"("b":{"c":null,"d":true}}})",
             // Other spelling of texts; what is usual is left out or not.
             R"({"kind":"\u006b","env":{"A":"1","B":"\u00e9"},"timeouts":{"run":"90s",)"
             R"("idle":"1s"},"delay":"60s","priority":5,"queue":"default",)"
             R"("args":{"a":[1,2.5,0.1,1000,-3,"\u00e9\/"],"b":{"c":null,"d":true}}})",
         })
        EXPECT_EQ(hash_of(text), hash) << text;
}

TEST(BodyHash, differs_for_bodies_that_mean_something_else) {
    std::set<BodyHash> hashes;
    for (const auto* text :
         {R"({"kind":"k"})", R"({"kind":"k","args":null})", R"({"kind":"k","args":1})",
          R"({"kind":"k","args":"1"})", R"({"kind":"k","args":[1]})", R"({"kind":"k","args":{}})",
          R"({"kind":"k","args":1.5})", R"({"kind":"k","args":[1,2]})",
          R"({"kind":"k","args":[2,1]})", R"({"kind":"k","args":9007199254740993})",
          R"({"kind":"k","args":9007199254740992})", R"({"kind":"k","delay":0})",
          R"({"kind":"k","after":[{"index":0}]})", R"({"kind":"k","after":[{"index":1}]})",
          R"({"kind":"k","after":["0000000000001"]})"})
        EXPECT_TRUE(hashes.insert(hash_of(text)).second) << text;
}

TEST(PolicyJson, reads_every_field_of_a_rule) {
    JobRequest request;
    const auto parse_error = read_request(
        R"({"policy":{"base":"never","rules":[{"causes":["exit","crash"],"exit_codes":[75],)"
        R"("text":"quota","times":3,"wait":"5s","growth":"linear","wait_max":"1m","jitter":20,)"
        R"("another_worker":true,"then":"quarantine"},{"times":"always","wait":1}]}})",
        request);
    ASSERT_FALSE(parse_error) << parse_error->what;
    EXPECT_EQ(request.policy, PolicyOrigin::chosen);
    EXPECT_EQ(request.spec.policy.name, PolicyName::never);
    const CustomRule first{.causes = {Cause::exit, Cause::crash_signal, Cause::crash_worker},
                           .exit_codes = {75},
                           .text = "quota",
                           .times = 3,
                           .wait = seconds(5),
                           .wait_max = minutes(1),
                           .growth = Growth::linear,
                           .jitter_percent = 20,
                           .another_worker = true,
                           .then = LastResort::quarantine};
    const CustomRule second{.times = CustomRule::always, .wait = seconds(1)};
    EXPECT_EQ(request.spec.policy.rules, (std::vector<CustomRule>{first, second}));
}

TEST(PolicyJson, writes_what_it_reads) {
    JobRequest request;
    ASSERT_FALSE(read_request(
        R"({"policy":{"base":"forever","rules":[{"causes":["oom"],"times":2}]}})", request));
    std::string text;
    JsonWriter out(text);
    out.begin_object();
    write_spec(out, request.spec, SpecFields::changed, EnvValues::plain);
    out.end_object();
    JobRequest again;
    ASSERT_FALSE(read_request(text, again)) << text;
    EXPECT_EQ(again.spec.policy, request.spec.policy);
}

TEST(PolicyJson, a_name_is_built_in_or_left_to_the_server) {
    JobRequest request;
    ASSERT_FALSE(read_request(R"({"policy":"forever"})", request));
    EXPECT_EQ(request.spec.policy.name, PolicyName::forever);
    ASSERT_FALSE(read_request(R"({"policy":"patient"})", request));
    EXPECT_EQ(request.spec.policy.custom, "patient");
    EXPECT_EQ(request.spec.policy.name, PolicyName::default_);
    JobRequest silent;
    ASSERT_FALSE(read_request("{}", silent));
    EXPECT_EQ(silent.policy, PolicyOrigin::inherited);
}

TEST(PolicyJson, names_the_place_of_what_it_does_not_understand) {
    const std::pair<const char*, const char*> table[] = {
        {R"({"policy":7})", "$.policy"},
        {R"({"policy":"No Name"})", "$.policy"},
        {R"({"policy":{"bsae":"default"}})", "$.policy.bsae"},
        {R"({"policy":{"base":"patient"}})", "$.policy.base"},
        {R"({"policy":{"name":"patient"}})", "$.policy.name"},
        {R"({"policy":{"rules":{}}})", "$.policy.rules"},
        {R"({"policy":{"rules":[{},{"causes":[]}]}})", "$.policy.rules[1].causes"},
        {R"({"policy":{"rules":[{"causes":["exit","exot"]}]}})", "$.policy.rules[0].causes[1]"},
        {R"({"policy":{"rules":[{"exit_codes":["1"]}]}})", "$.policy.rules[0].exit_codes[0]"},
        {R"({"policy":{"rules":[{"times":"often"}]}})", "$.policy.rules[0].times"},
        {R"({"policy":{"rules":[{"then":"expire"}]}})", "$.policy.rules[0].then"},
        {R"({"policy":{"rules":[{"wiat":"1s"}]}})", "$.policy.rules[0].wiat"},
    };
    for (const auto& [text, path] : table) {
        JobRequest request;
        const auto parse_error = read_request(text, request);
        ASSERT_TRUE(parse_error) << text;
        EXPECT_EQ(parse_error->path, path);
    }
}

TEST(PolicyJson, suggests_the_cause_that_was_probably_meant) {
    JobRequest request;
    const auto parse_error =
        read_request(R"j({"policy":{"rules":[{"causes":["crash(sginal)"]}]}})j", request);
    ASSERT_TRUE(parse_error);
    EXPECT_EQ(parse_error->what,
              "there is no cause \"crash(sginal)\"; did you mean crash(signal)?");
}

}  // namespace
}  // namespace perdure
