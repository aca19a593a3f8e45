// Every message of the worker protocol comes back as it was; and how fast the hot ones are.
#include "wire/worker_json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>

#include "wire/job_json.h"

namespace perdure {
namespace {

template <class Message>
Message back(const Message& message) {
    Message read;
    const auto parse_error = from_json(json_text(message), read);
    EXPECT_FALSE(parse_error) << parse_error->path << ": " << parse_error->what << " in "
                              << json_text(message);
    return read;
}

// A message is what its text says: two with the same text are the same.
template <class Message>
void expect_round_trip(const Message& message) {
    EXPECT_EQ(json_text(back(message)), json_text(message));
}

JobSpec full_spec() {
    JobSpec spec{.tenant = "t",
                 .queue = "q",
                 .kind = "k",
                 .share = "ann",
                 .argv = {"echo", "a b", "grün"},
                 .args = R"({"a":[1,2.5,"x"]})",
                 .env = {{"A", "1"}, {"B", "\"2\""}},
                 .cwd = "/tmp",
                 .output_max = 5,
                 .priority = 2,
                 .effects = Effects::resumable,
                 .key = "the key",
                 .limits = {"l1", "l2"},
                 .run_at = WallTime{1'794'735'000'250'000}};
    spec.policy = {.name = PolicyName::forever,
                   .retries = 3,
                   .retry_wait = seconds(7),
                   .growth = Growth::linear,
                   .retry_wait_max = minutes(3),
                   .jitter_percent = 20};
    spec.timeouts = {.queue = hours(1), .run = minutes(2), .idle = seconds(3), .total = days(4)};
    spec.hold = seconds(11);
    spec.idempotency_key = "order-17";
    spec.keep_key = hours(1);
    spec.retry_of = JobId{99};
    spec.resources = {.memory = 512U << 20, .cpu_percent = 150, .processes = 64};
    return spec;
}

Assignment assignment(JobSpec spec) {
    return {.attempt = {JobId{0x1234567890}, Epoch{7}},
            .number = 42,
            .terms = {.isolation = Isolation::exclusive,
                      .effects = Effects::resumable,
                      .asks = true,
                      .hold = minutes(5),
                      .release_after = seconds(1)},
            .spec = std::make_shared<const JobSpec>(std::move(spec)),
            .checkpoint = std::string("\0binary\xFF", 8)};
}

std::string spec_text(const JobSpec& spec, SpecFields fields) {
    std::string text;
    JsonWriter out(text);
    out.begin_object();
    write_spec(out, spec, fields, EnvValues::plain);
    out.end_object();
    return text;
}

TEST(WorkerJson, an_assignment_comes_back_whole) {
    const auto sent = assignment(full_spec());
    const auto read = std::get<Assignment>(back(StreamMessage(sent)));
    EXPECT_EQ(read.attempt, sent.attempt);
    EXPECT_EQ(read.number, sent.number);
    EXPECT_EQ(read.terms, sent.terms);
    EXPECT_EQ(read.checkpoint, sent.checkpoint);
    EXPECT_EQ(spec_text(*read.spec, SpecFields::all), spec_text(*sent.spec, SpecFields::all));
    EXPECT_EQ(read.spec->env, sent.spec->env);
    EXPECT_EQ(read.spec->policy, sent.spec->policy);
    EXPECT_EQ(read.spec->retry_of, sent.spec->retry_of);
    EXPECT_EQ(read.spec->share, sent.spec->share);
}

// S1: what a worker needs is not what people are shown.
TEST(WorkerJson, only_an_assignment_has_values_that_look_like_secrets) {
    JobSpec spec{.argv = {"true"},
                 .env = {{"DB_PASSWORD", "hunter2"}, {"MODE", "fast"}, {"TOKEN", "secret://t"}}};
    auto callback = spec;
    callback.env = {{"API_KEY", "hunter3"}};
    spec.callbacks = {{Trigger::end, std::make_shared<const JobSpec>(callback)}};
    const auto read = std::get<Assignment>(back(StreamMessage(assignment(spec))));
    EXPECT_EQ(read.spec->env, spec.env);
    std::string text;
    JsonWriter out(text);
    out.begin_object();
    write_spec(out, spec, SpecFields::all, EnvValues::masked);
    out.end_object();
    EXPECT_EQ(text.find("hunter"), std::string::npos) << text;
    EXPECT_NE(text.find(R"j("env":{"DB_PASSWORD":"(masked)","MODE":"fast",)j"
                        R"j("TOKEN":"secret://t"})j"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(R"j("env":{"API_KEY":"(masked)"})j"), std::string::npos) << text;
}

TEST(WorkerJson, an_assignment_says_whose_callback_it_is_and_how_that_has_ended) {
    auto spec = full_spec();
    spec.callback_of = CallbackOf{JobId{9}, 2, 1};
    auto sent = assignment(spec);
    sent.inputs = {{JobId{9}, 2, JobState::failed, Cause::exit, 3, "[1]", false}};
    const auto read = std::get<Assignment>(back(StreamMessage(sent)));
    EXPECT_EQ(read.inputs, sent.inputs);
    EXPECT_EQ(read.spec->callback_of, spec.callback_of);
}

TEST(WorkerJson, a_plain_assignment_is_short) {
    JobSpec spec{.kind = "perdure.noop"};
    Assignment plain{.attempt = {JobId{1}, Epoch{1}}, .number = 1};
    plain.spec = std::make_shared<const JobSpec>(spec);
    EXPECT_LT(json_text(StreamMessage(plain)).size(), 200U);
    EXPECT_EQ(spec_text(spec, SpecFields::changed), R"({"kind":"perdure.noop"})");
}

TEST(WorkerJson, orders_come_back) {
    const KillOrder kill{{JobId{3}, Epoch{2}}, Cause::timeout_total};
    const auto read = std::get<KillOrder>(back(StreamMessage(kill)));
    EXPECT_EQ(read.attempt, kill.attempt);
    EXPECT_EQ(read.cause, kill.cause);
    EXPECT_TRUE(std::holds_alternative<DrainOrder>(back(StreamMessage(DrainOrder{}))));
    const RecallOrder recall{{JobId{7}, Epoch{3}}};
    EXPECT_EQ(std::get<RecallOrder>(back(StreamMessage(recall))).attempt, recall.attempt);
}

TEST(WorkerJson, openings_and_heartbeats_come_back) {
    const std::vector<Listed> listed = {{{JobId{1}, Epoch{1}}, 5, Listed::Phase::unstarted},
                                        {{JobId{2}, Epoch{3}}, 6, Listed::Phase::ended}};
    const OpenRequest open{
        .directory = {"m", "b", 3, ~0ULL},
        .life = 9,
        .worker = "w",
        .slots = 4,
        .offer = {.tenant = "t",
                  .queues = {"q"},
                  .kinds = {"", "k2"},
                  .other_tenants = {"u", "v"},
                  .host = {.limits = Enforceable{.memory = true}, .uid = 1'000, .files = "mark"}},
        .on_disk = listed};
    EXPECT_EQ(back(open).offer, open.offer);
    EXPECT_EQ(back(open).directory, open.directory);
    EXPECT_EQ(back(open).on_disk, listed);
    expect_round_trip(open);
    expect_round_trip(OpenAnswer{SessionId{5}, seconds(10)});
    const HeartbeatRequest heartbeat{.session = SessionId{5},
                                     .number = 3,
                                     .seen = 2,
                                     .slots = 1,
                                     .draining = true,
                                     .lease = seconds(60),
                                     .attempts = listed,
                                     .tick_seen = 77,
                                     .progress = {{{JobId{1}, Epoch{2}}, 40, "half \"way\""}}};
    EXPECT_EQ(back(heartbeat).attempts, listed);
    EXPECT_EQ(back(heartbeat).progress.at(0).text, "half \"way\"");
    expect_round_trip(heartbeat);
    expect_round_trip(HeartbeatAnswerMessage{.answer = HeartbeatAnswer::cloned,
                                             .resent = {assignment(full_spec())},
                                             .stop = {{JobId{1}, Epoch{2}}},
                                             .kill = {{{JobId{4}, Epoch{5}}, Cause::cancelled}},
                                             .recall = {{JobId{6}, Epoch{1}}},
                                             .tick = 12});
}

TEST(WorkerJson, answers_come_back) {
    const std::vector<ItemAnswer> all = {ItemAnswer::ok, ItemAnswer::go, ItemAnswer::fenced,
                                         ItemAnswer::again, ItemAnswer::damaged};
    EXPECT_EQ(back(ReportResponse{all}).answers, all);
    EXPECT_EQ(back(LogResponse{all}).answers, all);
}

TEST(WorkerJson, every_cause_and_every_kind_come_back) {
    ReportRequest report{.session = SessionId{1}};
    for (std::size_t i = 0; i < cause_count; ++i) {
        ReportItem item{.attempt = {JobId{i + 1}, Epoch{1}}};
        item.end = {.cause = static_cast<Cause>(i),
                    .ran = static_cast<Ran>(i % 3),
                    .clean = i % 3 == 0,
                    .counted = i % 5 != 0,
                    .exit_code = static_cast<std::int32_t>(i) - 5};
        if (item.end.cause == Cause::timeout_queue) continue;  // no attempt ends by it
        if (item.end.cause == Cause::verdict_at) item.end.at = WallTime{1'000'000};
        if (item.end.cause == Cause::exit)
            item.end = {.cause = Cause::exit, .ran = Ran::yes, .succeeded = true};
        if (i % 2 == 0)
            item.evidence = std::make_shared<const Evidence>(
                Evidence{R"({"a":1})",
                         "why",
                         "last\nlines",
                         "host",
                         1 << 20,
                         seconds(3),
                         4711,
                         {seconds(2), milliseconds(3), 4096, 512}});
        report.items.push_back(item);
    }
    using Kind = ReportItem::Kind;
    for (const auto kind : {Kind::ask, Kind::started, Kind::begin, Kind::checkpoint}) {
        ReportItem item{.attempt = {JobId{1}, Epoch{2}}, .kind = kind};
        if (kind == Kind::begin || kind == Kind::checkpoint) item.number = 8;
        if (kind == Kind::checkpoint) item.checkpoint = std::string("\0\1", 2);
        report.items.push_back(item);
    }
    const auto read = back(report);
    ASSERT_EQ(read.items.size(), report.items.size());
    for (std::size_t i = 0; i < read.items.size(); ++i) {
        EXPECT_EQ(read.items[i].attempt, report.items[i].attempt);
        EXPECT_EQ(read.items[i].kind, report.items[i].kind);
        EXPECT_EQ(read.items[i].checkpoint, report.items[i].checkpoint);
        EXPECT_EQ(read.items[i].number, report.items[i].number);
        if (read.items[i].kind == ReportItem::Kind::ended) {
            EXPECT_EQ(read.items[i].end, report.items[i].end);
        }
        ASSERT_EQ(!read.items[i].evidence, !report.items[i].evidence);
        if (read.items[i].evidence) {
            EXPECT_EQ(*read.items[i].evidence, *report.items[i].evidence);
        }
    }
}

TEST(WorkerJson, unknown_fields_are_ignored) {
    ReportResponse read;
    EXPECT_FALSE(from_json(R"({"answers":["ok"],"colour":"red"})", read));
    EXPECT_EQ(read.answers.size(), 1U);
    StreamMessage message;
    EXPECT_TRUE(from_json(R"({"dance":true})", message));
}

RC_GTEST_PROP(WorkerJson, any_text_of_a_job_comes_back, (const std::vector<std::string>& words)) {
    JobSpec spec{.kind = "k"};
    for (const auto& word : words) {
        // What came in by JSON is UTF-8 without NUL; here ASCII will do.
        std::string plain;
        for (const char c : word)
            if (c > 0) plain += c;
        spec.argv.push_back(plain);
    }
    auto sent = assignment(spec);
    const auto read = std::get<Assignment>(back(StreamMessage(sent)));
    RC_ASSERT(read.spec->argv == spec.argv);
}

}  // namespace
}  // namespace perdure
