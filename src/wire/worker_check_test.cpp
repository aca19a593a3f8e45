// What a worker says is checked field by field: what is missing, out of its range, misspelt or
// contradicts itself is refused with its path; fields of a later version are ignored.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <random>

#include "wire/log_frames.h"
#include "wire/worker_json.h"

namespace perdure::worker_check_test {
namespace {

namespace json = boost::json;

enum class Form { open, heartbeat, report, open_answer, heartbeat_answer, report_answer, stream };

constexpr std::string_view open_text = R"({"protocol":1,
 "directory":{"machine":"m1","boot":"b1","device":1,"inode":2},"life":1,"worker":"w1","slots":2,
 "offer":{"tenant":"default","queues":["quick"],"kinds":["k"]},
 "on_disk":[{"job":"06na5x0g00020","epoch":1,"number":1,"phase":"running"}],"away_us":5})";
constexpr std::string_view heartbeat_text = R"({"session":"06na5x0g00010","number":1,"seen":0,
 "slots":2,"offer":{"tenant":"default"},"lease_us":10000000,
 "attempts":[{"job":"06na5x0g00020","epoch":1,"number":1,"phase":"ended"},
             {"job":"06na5x0g00020","epoch":2,"number":3,"phase":"unstarted"}],"tick_seen":0,
 "progress":[{"job":"06na5x0g00020","epoch":1,"percent":5,"text":"t"}]})";
constexpr std::string_view report_text = R"json({"session":"06na5x0g00010","items":[
 {"job":"06na5x0g00020","epoch":1,"kind":"ended",
  "end":{"cause":"exit","ran":"yes","succeeded":true,"clean":true,"exit_code":0},"age_us":3,
  "evidence":{"result":"{\"rows\": 3}","detail":"d","last_lines":"l","host":"h","peak_memory":1,
              "ran_for_us":1500}},
 {"job":"06na5x0g00021","epoch":1,"kind":"ended",
  "end":{"cause":"verdict(at)","ran":"yes","at":"2026-11-15T09:30:00Z","exit_code":1}},
 {"job":"06na5x0g00022","epoch":1,"kind":"ask"},
 {"job":"06na5x0g00023","epoch":1,"kind":"begin","number":1},
 {"job":"06na5x0g00023","epoch":1,"kind":"checkpoint","number":2,"checkpoint":"AAEC"}]})json";
constexpr std::string_view open_answer_text = R"({"session":"06na5x0g00010","lease_us":10000000})";
constexpr std::string_view heartbeat_answer_text = R"({"answer":"accept","resent":[
 {"job":"06na5x0g00020","epoch":1,"number":1,"terms":{"isolation":"fenced","effects":"repeatable",
  "hold_us":300000000,"release_after_us":1},"spec":{"argv":["true"]}}],
 "stop":[{"job":"06na5x0g00020","epoch":1}],
 "kill":[{"job":"06na5x0g00020","epoch":1,"cause":"cancelled"}],"tick":7})";
constexpr std::string_view report_answer_text = R"({"answers":["ok","go"]})";
constexpr std::string_view stream_text = R"({"assign":{"job":"06na5x0g00020","epoch":1,"number":1,
 "terms":{"isolation":"exclusive","effects":"once","asks":true,"hold_us":3,"release_after_us":1},
 "spec":{"argv":["true"]},"checkpoint":"AAEC"}})";

constexpr std::array valid = {
    std::pair{Form::open, open_text},
    std::pair{Form::heartbeat, heartbeat_text},
    std::pair{Form::report, report_text},
    std::pair{Form::open_answer, open_answer_text},
    std::pair{Form::heartbeat_answer, heartbeat_answer_text},
    std::pair{Form::report_answer, report_answer_text},
    std::pair{Form::stream, stream_text},
};

// Reads it. What was accepted is a whole message: written again, it is accepted again and is the
// same. Empty if that is so.
template <class Message>
std::optional<ParseError> read_as(const std::string& text) {
    Message message;
    if (auto parse_error = from_json(text, message)) return parse_error;
    const auto first = json_text(message);
    Message again;
    if (auto parse_error = from_json(first, again)) {
        ADD_FAILURE() << "half accepted: " << text << "\n"
                      << parse_error->path << " " << parse_error->what;
        return std::nullopt;
    }
    EXPECT_EQ(json_text(again), first);
    return std::nullopt;
}

std::optional<ParseError> read(Form form, const std::string& text) {
    switch (form) {
        case Form::open: return read_as<OpenRequest>(text);
        case Form::heartbeat: return read_as<HeartbeatRequest>(text);
        case Form::report: return read_as<ReportRequest>(text);
        case Form::open_answer: return read_as<OpenAnswer>(text);
        case Form::heartbeat_answer: return read_as<HeartbeatAnswerMessage>(text);
        case Form::report_answer: return read_as<ReportResponse>(text);
        case Form::stream: return read_as<StreamMessage>(text);
    }
    return std::nullopt;
}

std::string_view text_of(Form form) {
    for (const auto& [each, text] : valid)
        if (each == form) return text;
    return {};
}

std::string written(const json::value& value) { return json::serialize(value); }

// Where a member is: its object, by a JSON pointer.
struct Change {
    Form form;
    std::string pointer;  // "/items/0/end"
    std::string member;
    std::string value;  // JSON; empty: it is left out
    std::string path;   // of the refusal
};

std::string changed(const Change& change) {
    auto root = json::parse(text_of(change.form));
    auto& object = root.at_pointer(change.pointer).as_object();
    if (change.value.empty())
        object.erase(change.member);
    else
        object[change.member] = json::parse(change.value);
    return written(root);
}

std::vector<Change> required() {
    std::vector<Change> table;
    const auto add = [&](Form form, const std::string& pointer, const std::string& path,
                         std::initializer_list<const char*> members) {
        for (const auto* member : members)
            table.push_back({form, pointer, member, "", fmt::format("{}.{}", path, member)});
    };
    add(Form::open, "", "$",
        {"protocol", "directory", "life", "worker", "slots", "offer", "on_disk"});
    add(Form::open, "/directory", "$.directory", {"machine", "boot", "device", "inode"});
    add(Form::open, "/on_disk/0", "$.on_disk[0]", {"job", "epoch", "number", "phase"});
    add(Form::heartbeat, "", "$",
        {"session", "number", "seen", "slots", "offer", "lease_us", "attempts"});
    add(Form::heartbeat, "/attempts/0", "$.attempts[0]", {"job", "epoch", "number", "phase"});
    add(Form::heartbeat, "/progress/0", "$.progress[0]", {"job", "epoch", "percent"});
    add(Form::report, "", "$", {"session", "items"});
    add(Form::report, "/items/0", "$.items[0]", {"job", "epoch", "kind", "end"});
    add(Form::report, "/items/0/end", "$.items[0].end", {"cause", "ran"});
    add(Form::report, "/items/1/end", "$.items[1].end", {"at"});
    add(Form::report, "/items/3", "$.items[3]", {"number"});
    add(Form::open_answer, "", "$", {"session", "lease_us"});
    add(Form::heartbeat_answer, "", "$", {"answer", "resent", "stop", "kill", "tick"});
    add(Form::heartbeat_answer, "/resent/0", "$.resent[0]",
        {"job", "epoch", "number", "terms", "spec"});
    add(Form::heartbeat_answer, "/resent/0/terms", "$.resent[0].terms",
        {"isolation", "effects", "hold_us", "release_after_us"});
    add(Form::heartbeat_answer, "/stop/0", "$.stop[0]", {"job", "epoch"});
    add(Form::heartbeat_answer, "/kill/0", "$.kill[0]", {"job", "epoch", "cause"});
    add(Form::report_answer, "", "$", {"answers"});
    add(Form::stream, "/assign", "$.assign", {"job", "epoch", "number", "terms", "spec"});
    return table;
}

std::vector<Change> wrong_requests() {
    const auto o = Form::open;
    const auto h = Form::heartbeat;
    const std::string long_text = '"' + std::string(256, 'x') + '"';
    return {
        {o, "", "protocol", "2", "$.protocol"},
        {o, "", "life", "0", "$.life"},
        {o, "", "life", "9223372036854775808", "$.life"},
        {o, "", "life", "-1", "$.life"},
        {o, "", "worker", R"("a worker")", "$.worker"},
        {o, "", "worker", R"("")", "$.worker"},
        {o, "", "slots", "100001", "$.slots"},
        {o, "", "away_us", "-1", "$.away_us"},
        {o, "", "away_us", "9000000000000000000", "$.away_us"},
        {o, "/directory", "machine", R"("")", "$.directory.machine"},
        {o, "/directory", "boot", long_text, "$.directory.boot"},
        {o, "/directory", "device", "1.5", "$.directory.device"},
        {o, "/offer", "tenant", R"("A B")", "$.offer.tenant"},
        {o, "/offer", "tenant", R"("")", "$.offer.tenant"},
        {o, "/offer", "queues", R"(["a","b c"])", "$.offer.queues[1]"},
        {o, "/offer", "kinds", R"("k")", "$.offer.kinds"},
        {o, "/on_disk/0", "epoch", "0", "$.on_disk[0].epoch"},
        {o, "/on_disk/0", "epoch", "4294967296", "$.on_disk[0].epoch"},
        {o, "/on_disk/0", "job", R"("0000000000000")", "$.on_disk[0].job"},
        {o, "/on_disk/0", "phase", R"("Running")", "$.on_disk[0].phase"},
        {o, "/on_disk/0", "number", "18446744073709551615", "$.on_disk[0].number"},
        {h, "", "session", R"("0000000000000")", "$.session"},
        {h, "", "number", "9223372036854775808", "$.number"},
        {h, "", "seen", R"("1")", "$.seen"},
        {h, "", "slots", "-1", "$.slots"},
        {h, "", "lease_us", "0", "$.lease_us"},
        {h, "", "lease_us", "3600000001", "$.lease_us"},
        {h, "", "tick_seen", "18446744073709551615", "$.tick_seen"},
        {h, "", "attempts", "null", "$.attempts"},
        {h, "/attempts/1", "epoch", "1", "$.attempts"},  // the same twice
        {h, "/offer", "tenant", "null", "$.offer.tenant"},
        {h, "/progress/0", "percent", "101", "$.progress[0].percent"},
    };
}

std::vector<Change> wrong_reports() {
    const auto r = Form::report;
    const std::string end = "/items/0/end";
    const std::string at = "$.items[0].end";
    const std::string evidence = "/items/0/evidence";
    const std::string kept = "$.items[0].evidence";
    return {
        {r, "", "items", "{}", "$.items"},
        {r, "/items/0", "kind", R"("finished")", "$.items[0].kind"},
        {r, "/items/0", "age_us", "-1", "$.items[0].age_us"},
        {r, "/items/0", "age_us", "9000000000000000000", "$.items[0].age_us"},
        {r, "/items/0", "checkpoint", R"("AAEC")", "$.items[0].checkpoint"},
        {r, "/items/0", "number", "1", "$.items[0].number"},
        {r, "/items/2", "end", R"({"cause":"exit","ran":"yes"})", "$.items[2].end"},
        {r, "/items/2", "evidence", "{}", "$.items[2].evidence"},
        {r, "/items/2", "age_us", "0", "$.items[2].age_us"},
        {r, "/items/3", "number", "0", "$.items[3].number"},
        {r, "/items/4", "checkpoint", R"("*")", "$.items[4].checkpoint"},
        {r, end, "cause", R"("exited")", at + ".cause"},
        {r, end, "cause", R"json("timeout(queue)")json", at + ".cause"},
        {r, end, "cause", R"("oom")", at + ".cause"},  // and succeeded
        {r, end, "ran", R"("perhaps")", at + ".ran"},
        {r, end, "ran", R"("no")", at + ".ran"},  // and exited
        {r, end, "exit_code", "3", at + ".exit_code"},
        {r, end, "exit_code", "4294967296", at + ".exit_code"},
        {r, end, "succeeded", "1", at + ".succeeded"},
        {r, end, "at", R"("2026-11-15T09:30:00Z")", at + ".at"},
        {r, "/items/1/end", "at", R"("tomorrow")", "$.items[1].end.at"},
        {r, "/items/1/end", "at", R"("1969-11-15T09:30:00Z")", "$.items[1].end.at"},
        {r, evidence, "result", R"("rows: 3")", kept + ".result"},
        {r, evidence, "result", R"("{\"a\":1}x")", kept + ".result"},
        {r, evidence, "result", '"' + std::string(33, '[') + std::string(33, ']') + '"',
         kept + ".result"},
        {r, evidence, "result", "{}", kept + ".result"},
        {r, evidence, "detail", '"' + std::string(detail_max + 1, 'd') + '"', kept + ".detail"},
        {r, evidence, "last_lines", '"' + std::string(last_lines_max + 1, 'l') + '"',
         kept + ".last_lines"},
        {r, evidence, "host", '"' + std::string(256, 'h') + '"', kept + ".host"},
        {r, evidence, "peak_memory", "-1", kept + ".peak_memory"},
        {r, evidence, "ran_for_us", "-1", kept + ".ran_for_us"},
    };
}

void expect_refused(const std::vector<Change>& table) {
    for (const auto& change : table) {
        const auto text = changed(change);
        const auto parse_error = read(change.form, text);
        ASSERT_TRUE(parse_error) << change.path << " was accepted in " << text;
        EXPECT_EQ(parse_error->path, change.path) << parse_error->what << " in " << text;
        EXPECT_FALSE(parse_error->what.empty());
    }
}

TEST(WorkerChecks, accept_what_is_valid) {
    for (const auto& [form, text] : valid) {
        const auto parse_error = read(form, std::string(text));
        EXPECT_FALSE(parse_error) << parse_error->path << ": " << parse_error->what << " in "
                                  << text;
    }
}

TEST(WorkerChecks, name_what_is_missing) { expect_refused(required()); }

TEST(WorkerChecks, name_what_is_wrong_in_openings_and_heartbeats) {
    expect_refused(wrong_requests());
}

TEST(WorkerChecks, name_what_is_wrong_in_reports) { expect_refused(wrong_reports()); }

TEST(WorkerChecks, ignore_fields_of_a_later_version_everywhere) {
    for (const auto& [form, text] : valid) {
        auto root = json::parse(text);
        std::vector<json::value*> open = {&root};
        while (!open.empty()) {
            auto* value = open.back();
            open.pop_back();
            if (auto* list = value->if_array())
                for (auto& element : *list) open.push_back(&element);
            if (auto* object = value->if_object()) {
                (*object)["of_a_later_version"] = {{"a", json::array{1, nullptr}}};
                for (auto& member : *object)
                    if (member.key() != "of_a_later_version" && member.key() != "spec")
                        open.push_back(&member.value());
            }
        }
        const auto parse_error = read(form, written(root));
        EXPECT_FALSE(parse_error) << parse_error->path << ": " << parse_error->what;
    }
}

TEST(WorkerChecks, name_what_is_wrong_in_the_head_of_a_log_chunk) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {R"({"epoch":1,"offset":0,"size":1})", "$[0].job"},
        {R"({"job":"06na5x0g00020","offset":0,"size":1})", "$[0].epoch"},
        {R"({"job":"06na5x0g00020","epoch":1,"size":1})", "$[0].offset"},
        {R"({"job":"06na5x0g00020","epoch":1,"offset":0})", "$[0].size"},
        {R"({"job":"06na5x0g00020","epoch":1,"offset":0,"size":0})", "$[0].size"},
        {R"({"job":"06na5x0g00020","epoch":1,"offset":9223372036854775807,"size":1})",
         "$[0].offset"},
        {R"({"job":"06na5x0g00020","epoch":0,"offset":0,"size":1})", "$[0].epoch"},
    };
    for (const auto& [head, path] : table) {
        std::vector<LogChunk> chunks;
        const auto parse_error = read_log_frames(head + "\nx", chunks);
        ASSERT_TRUE(parse_error) << head;
        EXPECT_EQ(parse_error->path, path) << parse_error->what;
    }
}

// --- anything
// -------------------------------------------------------------------------------------

const std::array<std::string_view, 22> strange = {"null",
                                                  "true",
                                                  "0",
                                                  "-1",
                                                  "1.5",
                                                  "1e308",
                                                  "18446744073709551615",
                                                  "\"\"",
                                                  "\"x\"",
                                                  "[]",
                                                  "[[]]",
                                                  "{}",
                                                  "[null]",
                                                  "9223372036854775808",
                                                  "\"no\"",
                                                  "\"exit\"",
                                                  "\"yes\"",
                                                  "\"0000000000000\"",
                                                  "{\"job\":1}",
                                                  "\"06na5x0g00020\"",
                                                  "\"verdict(at)\"",
                                                  "4294967296"};

// Replaces, removes or doubles one value anywhere in the tree.
void mutate(json::value& root, std::mt19937& random) {
    auto* value = &root;
    while (true) {
        const bool deeper = random() % 4 != 0;
        auto* object = value->if_object();
        auto* list = value->if_array();
        if (object && !object->empty()) {
            auto member = object->begin() + random() % object->size();
            if (deeper) {
                value = &member->value();
                continue;
            }
            if (random() % 2 == 0) return void(object->erase(member));
        }
        if (list && !list->empty()) {
            if (deeper) {
                value = &(*list)[random() % list->size()];
                continue;
            }
            if (random() % 2 == 0) {
                json::value copy = (*list)[random() % list->size()];
                return void(list->push_back(std::move(copy)));
            }
        }
        *value = json::parse(strange[random() % strange.size()]);
        return;
    }
}

TEST(WorkerChecks, never_accept_half_of_a_message_that_was_damaged_at_random) {
    std::mt19937 random(20261116);
    std::size_t accepted = 0;
    std::size_t refused = 0;
    for (int round = 0; round < 20'000; ++round) {
        const auto& [form, text] = valid[random() % valid.size()];
        auto root = json::parse(text);
        for (auto times = 1 + random() % 3; times > 0; --times) mutate(root, random);
        auto damaged = written(root);
        if (round % 5 == 0) damaged[random() % damaged.size()] = static_cast<char>(random());
        if (round % 11 == 0) damaged.resize(random() % damaged.size());
        ++(read(form, damaged) ? refused : accepted);
    }
    // Otherwise nothing was tried.
    EXPECT_GT(accepted, 200U);
    EXPECT_GT(refused, 5'000U);
}

}  // namespace
}  // namespace perdure::worker_check_test
