// Commands about jobs, from words to exit code, against a server that answers as it is told.
#include <gtest/gtest.h>

#include "cli/job/follow.h"
#include "cli/testing/cli_stage.h"

namespace perdure::cli {
namespace {

const std::string id = "06na5x0g00000";
const auto accepted =
    json_answer(201, R"j({"id":"06na5x0g00000","state":"ready","created":true})j");
const auto ok = json_answer(200, "");
const Error lost = error(Errc::unavailable, "connection refused");
const Error unknown = error(Errc::outcome_unknown, "the connection broke");

ApiAnswer job(const std::string& fields) {
    return json_answer(200, R"j({"id":"06na5x0g00000",)j" + fields + "}");
}
const auto succeeded = job(R"j("state":"succeeded","cause":"exit","exit_code":0,
    "ended_at":"2026-11-15T11:59:00Z","attempts":[{"epoch":1,"cause":"exit"}])j");

// --- run -------------------------------------------------------------------------------------

TEST(Run, shows_the_output_and_ends_as_the_job_ends) {
    Stage stage;
    stage.expect("POST /v1/jobs", accepted);
    stage.expect_stream("/v1/jobs/" + id + "/logs?follow=attempt&epoch=1&offset=0", "hello\n", ok);
    stage.expect("GET /v1/jobs/" + id, succeeded);
    EXPECT_EQ(stage.run({"run", "--", "echo", "hello"}), 0) << stage.err;
    EXPECT_EQ(stage.out, "hello\n");
    EXPECT_EQ(stage.err, "perdure: job " + id + "\n");
    EXPECT_EQ(stage.server.bodies[0],
              R"j({"argv":["echo","hello"],"cwd":"/here","idempotency_key":)j"
              R"j("cli-00000000000000010000000000000002",)j"
              R"j("keep_key":"1h"})j");
}

TEST(Run, goes_on_at_the_byte_where_the_connection_was_lost) {
    Stage stage;
    stage.expect("POST /v1/jobs", accepted);
    stage.expect_stream("/v1/jobs/" + id + "/logs?follow=attempt&epoch=1&offset=0", "12345", lost);
    stage.expect_stream("/v1/jobs/" + id + "/logs?follow=attempt&epoch=1&offset=5", "", lost);
    stage.expect_stream("/v1/jobs/" + id + "/logs?follow=attempt&epoch=1&offset=5", "67", ok);
    stage.expect("GET /v1/jobs/" + id, succeeded);
    EXPECT_EQ(stage.run({"run", "--quiet", "--", "x"}), 0) << stage.err;
    EXPECT_EQ(stage.out, "1234567");
    EXPECT_EQ(stage.err,
              "perdure: connection lost (connection refused); the job goes on, trying again\n"
              "perdure: connected again; going on at byte 5 of attempt 1\n");
}

TEST(Run, follows_the_next_attempt_from_its_beginning) {
    Stage stage;
    stage.expect("POST /v1/jobs", accepted);
    stage.expect_stream("/v1/jobs/" + id + "/logs?follow=attempt&epoch=1&offset=0", "one\n", ok);
    stage.expect("GET /v1/jobs/" + id,
                 job(R"j("state":"ready","attempts":[{"epoch":1,"cause":"crash(signal)"}])j"));
    stage.expect_stream("/v1/jobs/" + id + "/logs?follow=attempt&epoch=2&offset=0", "two\n", ok);
    stage.expect("GET /v1/jobs/" + id, succeeded);
    EXPECT_EQ(stage.run({"run", "--quiet", "--", "x"}), 0) << stage.err;
    EXPECT_EQ(stage.out, "one\ntwo\n");
    EXPECT_EQ(stage.err, "perdure: attempt 1 ended (crash(signal)); the job is ready\n");
}

TEST(Run, repeats_a_submit_whose_answer_was_lost_with_the_same_key) {
    Stage stage;
    stage.expect("POST /v1/jobs", unknown);
    stage.expect("POST /v1/jobs", lost);
    stage.expect("POST /v1/jobs", json_answer(200, accepted.text));
    stage.expect_stream("/v1/jobs/", "", ok);
    stage.expect("GET /v1/jobs/" + id, succeeded);
    EXPECT_EQ(stage.run({"run", "--", "x"}), 0) << stage.err;
    EXPECT_EQ(stage.server.bodies[0], stage.server.bodies[1]);
    EXPECT_EQ(stage.server.bodies[0], stage.server.bodies[2]);
}

TEST(Run, says_at_once_that_there_is_no_server) {
    Stage stage;
    stage.expect("POST /v1/jobs", lost);
    EXPECT_EQ(stage.run({"run", "--", "x"}), 5);
    EXPECT_TRUE(contains(stage.err, "perdure up")) << stage.err;
    EXPECT_EQ(stage.system.pauses, 0);
}

TEST(Run, gives_up_after_a_while_and_says_how_to_repeat_safely) {
    Stage stage;
    for (int i = 0; i < 200; ++i) stage.expect("POST /v1/jobs", unknown);
    EXPECT_EQ(stage.run({"run", "--idempotency-key", "mine", "--", "x"}), 6);
    EXPECT_TRUE(contains(stage.err, "--idempotency-key mine is safe")) << stage.err;
}

TEST(Run, does_not_repeat_what_the_server_refuses) {
    Stage stage;
    stage.expect("POST /v1/jobs",
                 refusal_answer(400, Errc::invalid, "priority must be 0 to 9", "$.priority"));
    EXPECT_EQ(stage.run({"run", "--priority", "12", "--", "x"}), 2);
    EXPECT_TRUE(contains(stage.err, "--priority: priority must be 0 to 9\n")) << stage.err;
}

class CtrlC : public testing::Test {
protected:
    void SetUp() override {
        stage_.look.interactive = true;
        stage_.expect("POST /v1/jobs", accepted);
        press();
    }
    void press() {
        stage_.server.steps.push_back({"STREAM /v1/jobs/", error(Errc::unavailable, "interrupted"),
                                       "", [this] { stage_.system.ctrl_c = true; }});
    }
    Stage stage_;
};

TEST_F(CtrlC, cancels_if_the_person_says_so_and_waits_for_the_end) {
    stage_.system.person = {"c"};
    stage_.expect("POST /v1/jobs/" + id + "/cancel", json_answer(200, R"j({"outcome":"ended"})j"));
    stage_.expect_stream("/v1/jobs/", "", ok);
    stage_.expect("GET /v1/jobs/" + id,
                  job(R"j("state":"cancelled","cause":"cancelled","ended_at":"x")j"));
    EXPECT_EQ(stage_.run({"run", "--", "x"}), 121) << stage_.err;
}

TEST_F(CtrlC, detaches_if_the_person_says_so) {
    stage_.system.person = {"d"};
    EXPECT_EQ(stage_.run({"run", "--", "x"}), 120);
    EXPECT_TRUE(contains(stage_.err, "perdure logs -f " + id)) << stage_.err;
    EXPECT_FALSE(contains(stage_.err, "connection lost")) << stage_.err;
}

TEST_F(CtrlC, goes_on_if_the_person_only_presses_enter) {
    stage_.system.person = {""};
    stage_.expect_stream("/v1/jobs/", "more", ok);
    stage_.expect("GET /v1/jobs/" + id, succeeded);
    EXPECT_EQ(stage_.run({"run", "--", "x"}), 0) << stage_.err;
    EXPECT_EQ(stage_.out, "more");
}

TEST_F(CtrlC, detaches_where_nobody_can_be_asked) {
    stage_.look.interactive = false;
    stage_.system.person = {"c"};
    EXPECT_EQ(stage_.run({"run", "--", "x"}), 120);
    EXPECT_EQ(stage_.server.calls.size(), 2U) << "no cancel was sent";
}

TEST_F(CtrlC, the_question_ends_when_the_job_does) {
    stage_.expect("GET /v1/jobs/" + id, succeeded);  // while the question is open
    stage_.expect_stream("/v1/jobs/", "the end", ok);
    stage_.expect("GET /v1/jobs/" + id, succeeded);
    EXPECT_EQ(stage_.run({"run", "--", "x"}), 0) << stage_.err;
    EXPECT_EQ(stage_.out, "the end");
}

TEST(Run, asks_nobody_when_it_is_told_to_end) {
    Stage stage;
    stage.look.interactive = true;
    stage.system.person = {"c"};
    stage.expect("POST /v1/jobs", accepted);
    stage.server.steps.push_back({"STREAM /v1/jobs/", error(Errc::unavailable, "interrupted"), "",
                                  [&] { stage.system.sigterm = true; }});
    EXPECT_EQ(stage.run({"run", "--", "x"}), 120) << stage.err;
    EXPECT_FALSE(contains(stage.err, "[c]ancel")) << stage.err;
}

// What a stream answers on which nothing came for a while.
ApiAnswer quiet() {
    ApiAnswer answer;
    answer.went_quiet = true;
    return answer;
}

TEST(Run, says_once_why_nothing_moves_and_again_when_that_has_changed) {
    Stage stage;
    const auto why = [&](const std::string& what, const std::string& state = "ready") {
        stage.expect_stream("/v1/jobs/", "", quiet());
        stage.expect("GET /v1/jobs/" + id + "/why",
                     json_answer(200, R"j({"state":")j" + state + R"j(","blockers":[{"what":")j" +
                                          what + R"j(","removed_by":"a person"}]})j"));
    };
    stage.expect("POST /v1/jobs", accepted);
    why("queue `q` is paused");
    why("queue `q` is paused");
    why("no worker is connected");
    why("it runs on worker `w`", "running");
    stage.expect_stream("/v1/jobs/", "out", ok);
    stage.expect("GET /v1/jobs/" + id, succeeded);
    EXPECT_EQ(stage.run({"run", "--", "x"}), 0) << stage.err;
    EXPECT_EQ(stage.err, "perdure: job " + id +
                             "\n"
                             "perdure: job " +
                             id +
                             " is ready:\n  - queue `q` is paused\n    removed by: a person\n"
                             "perdure: job " +
                             id +
                             " is ready:\n  - no worker is connected\n    removed by: a person\n");
}

// A part of a file with exit code 0 is a damaged file that nobody notices.
TEST(Run, says_that_output_is_missing_and_ends_so_where_a_program_reads_it) {
    const auto cut = [](const std::string& fields) {
        return job(fields + R"j(,"ended_at":"x","attempts":[
            {"epoch":1,"evidence":{"output_cut":4711}}])j");
    };
    const auto good = cut(R"j("state":"succeeded","cause":"exit","exit_code":0)j");
    const auto bad = cut(R"j("state":"failed","cause":"exit","exit_code":3)j");
    for (const auto& [end, width, code] :
         {std::tuple(good, 0, 74), {good, 80, 0}, {bad, 0, 3}, {bad, 80, 3}}) {
        Stage stage;
        stage.look.width = static_cast<std::size_t>(width);
        stage.expect("POST /v1/jobs", accepted);
        stage.expect_stream("/v1/jobs/", "part", ok);
        stage.expect("GET /v1/jobs/" + id, end);
        EXPECT_EQ(stage.run({"run", "--", "x"}), code) << stage.err;
        EXPECT_TRUE(contains(stage.err, "output of attempt 1 is incomplete: 4711 bytes not kept"))
            << stage.err;
    }
}

TEST(Run, says_that_piped_input_is_not_passed_on) {
    for (const bool told : {true, false}) {
        Stage stage;
        stage.system.input = true;
        stage.expect("POST /v1/jobs", accepted);
        stage.expect_stream("/v1/jobs/", "", ok);
        stage.expect("GET /v1/jobs/" + id, succeeded);
        const auto option = told ? "--quiet" : "-n";
        EXPECT_EQ(stage.run({"run", option, "--", "cat"}), 0) << stage.err;
        EXPECT_EQ(contains(stage.err, "standard input is not given to the job"), told);
    }
}

TEST(Run, remembers_its_job_as_the_last_one) {
    Stage stage;
    stage.expect("POST /v1/jobs", accepted);
    stage.expect_stream("/v1/jobs/", "", ok);
    stage.expect("GET /v1/jobs/" + id, succeeded);
    EXPECT_EQ(stage.run({"run", "--quiet", "--", "x"}), 0) << stage.err;
    stage.expect("GET /v1/jobs/" + id, succeeded);
    EXPECT_EQ(stage.run({"job", "show", "@last"}), 0) << stage.err;
}

TEST(ExitCodes, are_the_jobs_own_where_it_has_one) {
    const auto code = [](const std::string& fields) {
        return static_cast<int>(exit_code_of_job(job(fields).body));
    };
    EXPECT_EQ(code(R"j("state":"succeeded")j"), 0);
    EXPECT_EQ(code(R"j("state":"failed","cause":"exit","exit_code":3)j"), 3);
    EXPECT_EQ(code(R"j("state":"failed","cause":"verdict(permanent)","exit_code":9)j"), 9);
    EXPECT_EQ(code(R"j("state":"failed","cause":"crash(signal)","signal":11)j"), 139);
    EXPECT_EQ(code(R"j("state":"cancelled","cause":"cancelled")j"), 121);
    EXPECT_EQ(code(R"j("state":"expired","cause":"timeout(queue)")j"), 122);
    EXPECT_EQ(code(R"j("state":"quarantined","cause":"crash(signal)","signal":9)j"), 137);
    EXPECT_EQ(code(R"j("state":"quarantined","cause":"worker_lost")j"), 123);
    EXPECT_EQ(code(R"j("state":"failed","cause":"oom","signal":9)j"), 137);
    EXPECT_EQ(code(R"j("state":"failed","cause":"timeout(run)","signal":9)j"), 124);
    EXPECT_EQ(code(R"j("state":"cancelled","cause":"cancelled","signal":15)j"), 121);
    EXPECT_EQ(code(R"j("state":"failed","cause":"worker_lost")j"), 125);
    EXPECT_EQ(code(R"j("state":"failed","cause":"command_unusable")j"), 127);
}

// --- submit ----------------------------------------------------------------------------------

TEST(Submit, sends_every_option_under_its_name) {
    Stage stage;
    stage.expect("POST /v1/jobs", accepted);
    ASSERT_EQ(stage.run({"submit", "-q",
                         "slow",   "--priority",
                         "0",      "--effects",
                         "once",   "--key",
                         "k",      "--limit",
                         "a",      "--limit",
                         "b",      "--delay",
                         "1h",     "--retries",
                         "2",      "--retry-wait",
                         "5s",     "--run-timeout",
                         "10m",    "--idle-timeout",
                         "1m",     "--env",
                         "A=b=c",  "--cwd",
                         "sub",    "--args",
                         "[1]",    "--policy",
                         "never",  "--idempotency-key",
                         "i",      "--",
                         "make"}),
              0)
        << stage.err;
    boost::json::value body;
    ASSERT_FALSE(parse_quick(stage.server.bodies[0], body));
    boost::json::value expected;
    ASSERT_FALSE(parse_quick(R"j({"argv":["make"],"queue":"slow","priority":0,"effects":"once",
        "key":"k","limits":["a","b"],"delay":"1h","policy":"never","retries":2,"retry_wait":"5s",
        "timeouts":{"run":"10m","idle":"1m"},"env":{"A":"b=c"},"cwd":"/here/sub","args":[1],
        "idempotency_key":"i"})j",
                             expected));
    EXPECT_EQ(body, expected);
    EXPECT_EQ(stage.out, id + "\n");
}

TEST(Submit, refuses_what_cannot_be_sent) {
    Stage stage;
    EXPECT_EQ(stage.run({"submit", "--priority", "high", "--", "x"}), 2);
    EXPECT_EQ(stage.run({"submit", "--env", "=x", "--", "x"}), 2);
    EXPECT_EQ(stage.run({"submit", "--args", "{", "--", "x"}), 2);
    EXPECT_EQ(stage.run({"submit"}), 2);
    EXPECT_EQ(stage.run({"submit", "--file", "f", "--", "x"}), 2);
    EXPECT_EQ(stage.run({"submit", "--file", "missing.json"}), 3);
    EXPECT_TRUE(stage.server.calls.empty());
}

TEST(Submit, gives_each_job_of_a_file_a_key_of_its_own) {
    Stage stage;
    stage.system.files["jobs.json"] =
        R"j([{"argv":["a"]},{"argv":["b"],"idempotency_key":"mine"},{"kind":"c"}])j";
    stage.expect("POST /v1/jobs", json_answer(201, R"j({"jobs":[{"id":"1","created":true},
        {"id":"2","created":false},{"id":"3","created":true}]})j"));
    EXPECT_EQ(stage.run({"submit", "--file", "jobs.json", "--idempotency-key", "k"}), 0);
    EXPECT_EQ(
        stage.server.bodies[0],
        R"j({"jobs":[{"argv":["a"],"idempotency_key":"k.0"},)j"
        R"j({"argv":["b"],"idempotency_key":"mine"},{"kind":"c","idempotency_key":"k.2"}]})j");
    EXPECT_EQ(stage.out, "1\n2\n3\n");
    EXPECT_TRUE(contains(stage.err, "1 of 3 had been submitted before"));
}

TEST(Submit, takes_a_file_in_any_of_its_forms) {
    for (const auto* text :
         {R"j({"argv":["a"]})j", R"j([{"argv":["a"]}])j", R"j({"jobs":[{"argv":["a"]}]})j"}) {
        Stage stage;
        stage.system.files["-"] = text;
        stage.expect("POST /v1/jobs", json_answer(201, R"j({"jobs":[{"id":"1"}]})j"));
        EXPECT_EQ(stage.run({"submit", "--file", "-", "--json"}), 0) << stage.err;
        EXPECT_TRUE(stage.server.bodies[0].starts_with(R"j({"jobs":[{"argv":["a"],)j"));
    }
    for (const auto* text : {"", "7", "[]", R"j({"jobs":7})j", "{\"argv\":[\"a\"]", "\"x\""}) {
        Stage stage;
        stage.system.files["-"] = text;
        EXPECT_EQ(stage.run({"submit", "--file", "-"}), 2) << text;
        EXPECT_TRUE(stage.server.calls.empty());
    }
}

// --- looking ---------------------------------------------------------------------------------

TEST(Jobs, are_a_table_for_people_and_a_document_for_programs) {
    const std::string list = R"j({"jobs":[{"id":"06na5x0g00000","state":"running","queue":"slow",
        "submitted_at":"2026-11-15T11:57:00.000000Z","epoch":1,"worker":"anvil",
        "submitted_by":{"name":"ann","uid":1001},
        "argv":["sleep","1 000"]}],"next":"06na5x0g00000"})j";
    Stage stage;
    stage.expect("GET /v1/jobs?state=running%2Cready&queue=slow", json_answer(200, list));
    EXPECT_EQ(stage.run({"jobs", "-s", "running", "-s", "ready", "-q", "slow"}), 0);
    EXPECT_EQ(stage.out,
              "ID             STATE    QUEUE  BY   SUBMITTED  TRIES  NOTE      WHAT\n"
              "06na5x0g00000  running  slow   ann  3 min ago  1      on anvil  sleep '1 000'\n");
    EXPECT_EQ(stage.err, "perdure: there are more: --before 06na5x0g00000\n");
    stage.expect("GET /v1/jobs", json_answer(200, list));
    EXPECT_EQ(stage.run({"jobs", "--json"}), 0);
    boost::json::value document;
    EXPECT_FALSE(parse_quick(stage.out, document)) << stage.out;
    EXPECT_EQ(stage.err, "");
}

// Nothing was found so far is not the same as nothing is there.
TEST(Jobs, are_looked_for_on_further_pages_while_none_is_found) {
    Stage stage;
    stage.expect("GET /v1/jobs?key=rare",
                 json_answer(200, R"j({"jobs":[],"next":"06na5x0g00009"})j"));
    stage.expect("GET /v1/jobs?key=rare&before=06na5x0g00009",
                 json_answer(200, R"j({"jobs":[{"id":"06na5x0g00000","state":"ready"}]})j"));
    EXPECT_EQ(stage.run({"jobs", "--key", "rare"}), 0);
    EXPECT_TRUE(contains(stage.out, "06na5x0g00000  ready")) << stage.out;
    EXPECT_EQ(stage.err, "");
}

// W1, W2.
TEST(JobShow, says_who_submitted_it_inside_what_and_what_people_did) {
    Stage stage;
    stage.expect("GET /v1/jobs/" + id, job(R"j("state":"cancelled",
        "submitted_at":"2026-11-15T11:00:00Z","submitted_by":{"name":"ann","uid":1001},
        "parent":{"job":"06na5x0g00009","epoch":2},
        "acts":[{"act":"held","by":"bob","at":"2026-11-15T11:00:05Z"},
                {"act":"cancelled","at":"2026-11-15T11:00:09Z"}])j"));
    EXPECT_EQ(stage.run({"job", "show", id}), 0);
    for (const auto* part : {"ann (uid 1001)", "06na5x0g00009, attempt 2", "submitted by ann",
                             "held by bob", "cancelled by somebody"})
        EXPECT_TRUE(contains(stage.out, part)) << part << "\n" << stage.out;
}

TEST(JobShow, leads_to_attempts_that_are_too_many_for_one_page) {
    Stage stage;
    stage.expect("GET /v1/jobs/" + id, job(R"j("state":"ready","attempts":[{"epoch":101,
        "claimed_at":"2026-11-15T11:00:01Z"}],"attempts_next":101)j"));
    EXPECT_EQ(stage.run({"job", "show", id}), 0);
    EXPECT_TRUE(contains(stage.err, "perdure job show " + id + " --before 101")) << stage.err;
    stage.expect("GET /v1/jobs/" + id + "/attempts?before=101&limit=100",
                 json_answer(200, R"j({"attempts":[{"epoch":1,
                     "claimed_at":"2026-11-15T11:00:01Z"}]})j"));
    EXPECT_EQ(stage.run({"job", "show", id, "--before", "101"}), 0);
    EXPECT_TRUE(contains(stage.out, "attempt 1 claimed")) << stage.out;
    EXPECT_EQ(stage.err, "");
}

TEST(JobShow, tells_the_timeline_with_the_rules_that_decided) {
    Stage stage;
    stage.expect("GET /v1/jobs/" + id, job(R"j("state":"quarantined","queue":"default",
        "argv":["pay"],"effects":"once","cause":"worker_lost","rule":"P4/may_have_run",
        "submitted_at":"2026-11-15T11:00:00Z","ended_at":"2026-11-15T11:40:00Z",
        "may_have_run":true,"attempts":[{"epoch":1,"claimed_at":"2026-11-15T11:00:01Z",
        "ended_at":"2026-11-15T11:40:00Z","cause":"worker_lost","ran":"maybe","reported":false,
        "rule":"O3/lease_over","evidence":{"last_lines":"paying\u001b[2J\n"}}],
        "recoveries":[{"at":"2026-11-15T11:40:00Z","detector":"lease","seen_by":"O3/lease_over",
        "rule":"P4/may_have_run","story":"nothing was heard"}])j"));
    EXPECT_EQ(stage.run({"job", "show", id}), 0);
    EXPECT_TRUE(contains(stage.out,
                         "2026-11-15T11:40:00.000Z       +40 min  recovery  seen by lease: "
                         "nothing was heard  [O3/lease_over, P4/may_have_run]\n"))
        << stage.out;
    EXPECT_TRUE(
        contains(stage.out, "2026-11-15T11:00:00.000Z         +0 ms  queue     submitted\n"))
        << stage.out;
    EXPECT_TRUE(
        contains(stage.out, "attempt 1 worker_lost, may have run, presumed  [O3/lease_over]\n"));
    EXPECT_TRUE(contains(stage.out, "quarantined, may have run  [P4/may_have_run]\n"));
    EXPECT_TRUE(contains(stage.out, "last output:\n  paying?[2J\n"));
    EXPECT_TRUE(contains(stage.err, "quarantine show"));
}

TEST(JobShow, says_what_does_not_exist) {
    Stage stage;
    stage.expect("GET /v1/jobs/nothing",
                 refusal_answer(404, Errc::not_found, "there is no job nothing"));
    EXPECT_EQ(stage.run({"job", "show", "nothing"}), 3);
    EXPECT_EQ(stage.out, "");
    EXPECT_TRUE(contains(stage.err, "there is no job nothing"));
}

TEST(JobCancel, tries_all_and_keeps_the_first_failure) {
    Stage stage;
    stage.expect("POST /v1/jobs/a/cancel", refusal_answer(404, Errc::not_found, "no job a"));
    stage.expect("POST /v1/jobs/b/cancel", json_answer(200, R"j({"outcome":"kill_ordered"})j"));
    EXPECT_EQ(stage.run({"job", "cancel", "a", "b"}), 3);
    EXPECT_TRUE(contains(stage.err, "job b is being stopped"));
}

TEST(Logs, come_piece_by_piece_until_there_is_no_more) {
    Stage stage;
    stage.expect("GET /v1/jobs/" + id, job(R"j("state":"succeeded","epoch":2)j"));
    ApiAnswer piece{.status = 200};
    piece.text = "one";
    stage.expect("GET /v1/jobs/" + id + "/logs?epoch=2&offset=0", piece);
    piece.text = "two";
    stage.expect("GET /v1/jobs/" + id + "/logs?epoch=2&offset=3", piece);
    piece.text = "";
    stage.expect("GET /v1/jobs/" + id + "/logs?epoch=2&offset=6", piece);
    EXPECT_EQ(stage.run({"logs", id}), 0) << stage.err;
    EXPECT_EQ(stage.out, "onetwo");
}

// O1: nobody takes a part for the whole; stdout stays byte for byte what was printed.
TEST(Logs, say_beside_the_output_what_is_missing_of_it) {
    Stage stage;
    stage.expect("GET /v1/jobs/" + id, job(R"j("state":"succeeded","epoch":1,"attempts":[
        {"epoch":1,"evidence":{"output_undelivered":4711}}])j"));
    ApiAnswer piece{.status = 200};
    piece.text = "one";
    stage.expect("GET /v1/jobs/" + id + "/logs?epoch=1&offset=0", piece);
    piece.text = "";
    stage.expect("GET /v1/jobs/" + id + "/logs?epoch=1&offset=3", piece);
    EXPECT_EQ(stage.run({"logs", id}), 0) << stage.err;
    EXPECT_EQ(stage.out, "one");
    EXPECT_TRUE(contains(stage.err, "incomplete: 4711 bytes not delivered")) << stage.err;
}

TEST(JobShow, says_that_output_is_incomplete) {
    Stage stage;
    stage.expect("GET /v1/jobs/" + id, job(R"j("state":"succeeded","queue":"default",
        "argv":["loud"],"submitted_at":"2026-11-15T11:00:00Z","ended_at":"2026-11-15T11:00:02Z",
        "attempts":[{"epoch":1,"claimed_at":"2026-11-15T11:00:01Z","cause":"exit","ran":"yes",
        "evidence":{"output_undelivered":4711}}],"recoveries":[])j"));
    EXPECT_EQ(stage.run({"job", "show", id}), 0) << stage.err;
    EXPECT_TRUE(contains(stage.out, "incomplete: 4711 bytes not delivered")) << stage.out;
}

TEST(Why, names_every_blocker_and_what_removes_it) {
    Stage stage;
    stage.expect("GET /v1/jobs/" + id + "/why", job(R"j("state":"ready","blockers":[
        {"what":"no worker is connected","removed_by":"start a worker (perdure worker)"},
        {"what":"it waits","removed_by":"time","in":"1m30s"}],
        "history":[{"epoch":1,"cause":"worker_lost","rule":"O3/lease_over"}])j"));
    EXPECT_EQ(stage.run({"why", id}), 0);
    EXPECT_EQ(stage.out,
              "job 06na5x0g00000 is ready\n"
              "- no worker is connected\n"
              "  removed by: start a worker (perdure worker)\n"
              "- it waits\n"
              "  removed by: time\n"
              "  by itself in 1 min 30 s\n"
              "before:\n"
              "  attempt 1: worker_lost  [O3/lease_over]\n");
}

}  // namespace
}  // namespace perdure::cli
