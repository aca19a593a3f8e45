// Where jobs run that are typed here, and ids and times as people give them.
#include <gtest/gtest.h>

#include "cli/testing/cli_stage.h"

namespace perdure::cli::callers_folder_test {
namespace {

const std::string id = "06na5x0g00000";
const auto accepted =
    json_answer(201, R"j({"id":"06na5x0g00000","state":"ready","created":true})j");

// What is submitted, as JSON.
boost::json::object sent(Stage& stage, std::vector<std::string> words) {
    stage.expect("POST /v1/jobs", accepted);
    EXPECT_EQ(stage.run(words), 0) << stage.err;
    boost::json::value body;
    if (stage.server.bodies.empty() || parse_quick(stage.server.bodies.back(), body)) return {};
    return body.as_object();
}

std::string worker(const std::string& fields) { return R"j({"worker":"w",)j" + fields + "}"; }
std::string list(const std::string& workers) { return R"j({"workers":[)j" + workers + "]}"; }
const auto mine = worker(R"j("host":{"uid":1000,"files":"mark"})j");
const auto of_root = worker(R"j("host":{"uid":0,"files":"mark"})j");
const auto elsewhere = worker(R"j("host":{"uid":1000,"files":"other"})j");

TEST(CallersFolder, is_passed_where_every_worker_that_takes_the_job_runs_it_as_the_caller_here) {
    Stage stage;
    EXPECT_EQ(sent(stage, {"submit", "--", "./x"}).at("cwd"), "/here");
    EXPECT_FALSE(contains(stage.err, "fresh folder")) << stage.err;
    // Those that do not take it do not count.
    const auto of_queue = worker(R"j("queues":["far"],"host":{"uid":0,"files":"other"})j");
    const auto of_kind = worker(R"j("kinds":["mail.send"],"host":{"uid":0,"files":"other"})j");
    const auto leaving = worker(R"j("draining":true,"host":{"uid":0,"files":"other"})j");
    stage.server.workers = list(mine + "," + of_queue + "," + of_kind + "," + leaving);
    EXPECT_EQ(sent(stage, {"submit", "--", "./x"}).at("cwd"), "/here");
    EXPECT_FALSE(sent(stage, {"submit", "--queue", "far", "--", "./x"}).contains("cwd"));
}

TEST(CallersFolder, is_fresh_elsewhere_and_that_is_said) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {list(mine + "," + of_root), "jobs run as another user"},
        {list(mine + "," + elsewhere), "it may run on another machine"},
        {list(""), "no worker is connected that takes it"},
        {list(worker(R"j("slots":1)j")), "where it will run is not known"},
        {R"j({"workers":[],"next":"0000000000001"})j", "where it will run is not known"},
    };
    for (const auto& [workers, why] : cases) {
        Stage stage;
        stage.server.workers = workers;
        EXPECT_FALSE(sent(stage, {"submit", "--", "./x"}).contains("cwd")) << why;
        EXPECT_TRUE(contains(stage.err, "it runs in a fresh folder: " + why)) << stage.err;
        EXPECT_FALSE(sent(stage, {"submit", "--quiet", "--", "./x"}).contains("cwd"));
        EXPECT_FALSE(contains(stage.err, "fresh folder")) << stage.err;
        EXPECT_EQ(sent(stage, {"submit", "--cwd", ".", "--", "./x"}).at("cwd"), "/here");
        EXPECT_FALSE(contains(stage.err, "fresh folder")) << stage.err;
    }
}

TEST(CallersFolder, is_not_passed_from_inside_a_job) {
    Stage stage;
    stage.system.variables["PERDURE_JOB"] = id;
    EXPECT_FALSE(sent(stage, {"submit", "--", "./x"}).contains("cwd"));
    EXPECT_FALSE(contains(stage.err, "fresh folder")) << stage.err;
}

TEST(CallersFolder, a_dash_asks_for_a_fresh_one_also_for_callbacks) {
    Stage stage;
    const auto job = sent(stage, {"submit", "--cwd", "-", "--on-end", "./y", "--", "./x"});
    EXPECT_FALSE(job.contains("cwd"));
    EXPECT_FALSE(job.at("on_end").as_array()[0].as_object().contains("cwd"));
    EXPECT_FALSE(contains(stage.err, "fresh folder")) << stage.err;
}

TEST(CallersFolder, callbacks_in_words_run_there_and_jobs_in_json_as_they_say) {
    Stage stage;
    const auto job = sent(
        stage, {"submit", "--on-end", "./y", "--on-failure", R"j({"argv":["z"]})j", "--", "x"});
    EXPECT_EQ(job.at("on_end").as_array()[0].as_object().at("cwd"), "/here");
    EXPECT_FALSE(job.at("on_failure").as_array()[0].as_object().contains("cwd"));
    EXPECT_FALSE(sent(stage, {"submit", "--kind", "mail.send"}).contains("cwd"));
}

TEST(PersonTimes, are_sent_in_utc_and_said_as_understood) {
    Stage stage;
    stage.system.ahead = hours(1);
    EXPECT_EQ(sent(stage, {"submit", "--at", "tomorrow 7:30", "--", "x"}).at("run_at"),
              "2026-11-16T06:30:00.000000Z");
    EXPECT_TRUE(contains(stage.err, "it starts at 2026-11-16T07:30:00.000+01:00, in 18 h"))
        << stage.err;
    EXPECT_EQ(sent(stage, {"submit", "--utc", "--at", "tomorrow 7:30", "--", "x"}).at("run_at"),
              "2026-11-16T07:30:00.000000Z");
    EXPECT_EQ(stage.run({"submit", "--at", "soon", "--", "x"}), 2);
    EXPECT_TRUE(contains(stage.err, "--at: \"soon\" is no time; try 09:00")) << stage.err;
}

TEST(PersonTimes, a_duration_without_a_unit_counts_seconds) {
    Stage stage;
    EXPECT_EQ(sent(stage, {"submit", "--delay", "5", "--", "x"}).at("delay"), "5s");
    EXPECT_EQ(sent(stage, {"submit", "-t", "90", "--", "x"}).at("timeouts").as_object().at("run"),
              "90s");
    EXPECT_EQ(sent(stage, {"submit", "--delay", "1h", "--", "x"}).at("delay"), "1h");
}

// --- ids -------------------------------------------------------------------------------------

std::string jobs(const std::vector<std::string>& ids) {
    std::string text;
    for (const auto& each : ids)
        text += (text.empty() ? "" : ",") + (R"j({"id":")j" + each + "\"}");
    return R"j({"jobs":[)j" + text + "]}";
}

TEST(JobIds, a_beginning_is_enough_if_only_one_job_begins_so) {
    Stage stage;
    stage.expect("GET /v1/jobs?limit=2&before=06na5x0h00000",
                 json_answer(200, jobs({id, "06na5w0000000"})));
    stage.expect("POST /v1/jobs/" + id + "/cancel", json_answer(200, R"j({"outcome":"ended"})j"));
    EXPECT_EQ(stage.run({"job", "cancel", "06NA5X0G"}), 0) << stage.err;
}

TEST(JobIds, of_several_none_is_taken) {
    Stage stage;
    stage.expect("GET /v1/jobs?limit=2&before=06na6",
                 json_answer(200, jobs({"06na5x0g00001", id})));
    EXPECT_EQ(stage.run({"job", "cancel", "06na5"}), 2);
    EXPECT_TRUE(contains(stage.err, "several jobs begin with 06na5, among them 06na5x0g00001"))
        << stage.err;
    stage.expect("GET /v1/jobs?limit=2&before=06na6", json_answer(200, jobs({"06na400000000"})));
    EXPECT_EQ(stage.run({"job", "cancel", "06na5"}), 3) << "none begins so";
    EXPECT_EQ(stage.run({"job", "cancel", "06n"}), 2) << "too short";
}

TEST(JobIds, a_whole_one_is_asked_for_as_it_is_and_read_as_it_was_meant) {
    Stage stage;
    for (const auto* given : {"06na5x0g00000", "06NA5X0G00000", "O6NA5XOGOOOOO"}) {
        stage.expect("POST /v1/jobs/" + id + "/hold", json_answer(200, "{}"));
        EXPECT_EQ(stage.run({"job", "hold", given}), 0) << stage.err;
    }
}

TEST(JobIds, the_last_one_is_that_which_was_submitted_from_here) {
    Stage stage;
    EXPECT_EQ(stage.run({"job", "cancel", "@last"}), 3);
    EXPECT_TRUE(contains(stage.err, "has submitted no job from here yet")) << stage.err;
    (void)sent(stage, {"submit", "--", "x"});
    stage.expect("POST /v1/jobs", accepted);
    EXPECT_EQ(stage.run({"submit", "--after", "@last:end", "--", "y"}), 0) << stage.err;
    EXPECT_TRUE(contains(stage.server.bodies.back(), R"j("after":[{"job":"06na5x0g00000")j"))
        << stage.server.bodies.back();
}

// --- other things that people meet -----------------------------------------------------------

TEST(States, a_wrong_one_is_answered_with_its_neighbour) {
    Stage stage;
    EXPECT_EQ(stage.run({"jobs", "--state", "ready,runing"}), 2);
    EXPECT_TRUE(contains(stage.err, "there is no state runing; did you mean running?"))
        << stage.err;
}

TEST(Explain, shows_the_page_of_an_error_without_a_server) {
    Stage stage;
    EXPECT_EQ(stage.run({"explain", "conflict"}), 0);
    EXPECT_TRUE(contains(stage.out, "# conflict\n\nSomebody else moved first")) << stage.out;
    EXPECT_EQ(stage.run({"explain"}), 0);
    EXPECT_TRUE(contains(stage.out, "conflict         Somebody else moved first")) << stage.out;
    EXPECT_EQ(stage.run({"explain", "conflit"}), 2);
    EXPECT_TRUE(contains(stage.err, "did you mean conflict?")) << stage.err;
}

}  // namespace
}  // namespace perdure::cli::callers_folder_test
