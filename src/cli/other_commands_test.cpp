// Commands about the fleet and about ourselves, from words to exit code.
#include <gtest/gtest.h>

#include "cli/answer.h"
#include "cli/testing/cli_stage.h"

namespace perdure::cli {
namespace {

TEST(Queues, show_counts_and_what_is_paused) {
    Stage stage;
    stage.expect("GET /v1/queues", json_answer(200, R"j({"queues":[{"queue":"slow","paused":true,
        "jobs":{"ready":7,"running":2,"starting":1}}]})j"));
    EXPECT_EQ(stage.run({"queues"}), 0);
    EXPECT_TRUE(contains(stage.out, "slow   paused  7      0        0          3"));
}

TEST(Queues, are_paused_and_resumed_by_name) {
    Stage stage;
    stage.expect("POST /v1/queues/slow/pause", json_answer(200, "{}"));
    EXPECT_EQ(stage.run({"queues", "pause", "slow"}), 0);
    stage.expect("POST /v1/queues/slow/resume?tenant=t", json_answer(200, "{}"));
    EXPECT_EQ(stage.run({"queues", "resume", "slow", "--tenant", "t"}), 0);
}

TEST(Limits, are_set_to_whole_numbers) {
    Stage stage;
    stage.expect("PUT /v1/limits/licences", json_answer(200, "{}"));
    EXPECT_EQ(stage.run({"limits", "set", "licences", "2"}), 0);
    EXPECT_EQ(stage.server.bodies[0], R"j({"max":2})j");
    EXPECT_EQ(stage.run({"limits", "set", "licences", "two"}), 2);
}

TEST(Lists, are_walked_page_by_page) {
    Stage stage;
    stage.expect("GET /v1/limits", json_answer(200, R"j({"limits":[{"name":"a","taken":0,"max":1}],
        "next":"a"})j"));
    stage.expect("GET /v1/limits?after=a",
                 json_answer(200, R"j({"limits":[{"name":"b","taken":1,"max":2}]})j"));
    EXPECT_EQ(stage.run({"limits"}), 0);
    EXPECT_EQ(stage.out,
              "LIMIT  TAKEN  MAX\n"
              "a      0      1\n"
              "b      1      2\n");
}

TEST(Workers, show_who_is_silent) {
    Stage stage;
    stage.expect("GET /v1/workers", json_answer(200, R"j({"workers":[{"worker":"anvil","slots":4,
        "running":1,"suspect":true,"silent_for":"5s","session":"s"}]})j"));
    EXPECT_EQ(stage.run({"workers"}), 0);
    EXPECT_TRUE(contains(stage.out, "anvil   suspect  1        4      5.0 s ago"));
}

TEST(Fsck, has_exit_code_1_if_something_is_wrong) {
    Stage stage;
    stage.expect("GET /v1/fsck", json_answer(200, R"j({"clean":true,"jobs":4,"problems":[]})j"));
    EXPECT_EQ(stage.run({"fsck"}), 0);
    stage.expect("GET /v1/fsck", json_answer(200, R"j({"clean":false,"problems":[{"job":"a",
        "what":"it is in two places"}]})j"));
    EXPECT_EQ(stage.run({"fsck"}), 1);
    EXPECT_TRUE(contains(stage.out, "it is in two places"));
}

TEST(Fsck, works_offline_without_a_server) {
    Stage stage;
    stage.backstage.report = OfflineReport{
        .findings = {{"a blob without job", "a", "remove"}}, .jobs = 3, .attempts = 2};
    EXPECT_EQ(stage.run({"fsck", "--offline", "--data", "/d", "--json"}), 1);
    EXPECT_EQ(stage.out, R"j({"clean":false,"jobs":3,"attempts":2,"recoveries":0,)j"
                         R"j("problems":[{"job":"a","what":"a blob without job","fix":"remove"}]})j"
                         "\n");
    EXPECT_TRUE(stage.server.calls.empty());
}

TEST(Fsck, says_how_much_it_has_seen) {
    Stage stage;
    stage.backstage.report = OfflineReport{.jobs = 3, .attempts = 2, .recoveries = 1};
    EXPECT_EQ(stage.run({"fsck", "--offline", "--data", "/d"}), 0);
    EXPECT_TRUE(contains(stage.err, "clean: 3 jobs, 2 attempts, 1 recoveries")) << stage.err;
    stage.expect("GET /v1/fsck", json_answer(200, R"j({"clean":true,"jobs":4,"attempts":5})j"));
    EXPECT_EQ(stage.run({"fsck"}), 0);
    EXPECT_TRUE(contains(stage.err, "clean: 4 jobs, 5 attempts")) << stage.err;
}

TEST(Backup, waits_until_it_is_complete_and_says_what_it_has) {
    Stage stage;
    stage.expect("POST /v1/backup", json_answer(202, R"j({"state":"running","path":"/b"})j"));
    stage.expect("GET /v1/backup", json_answer(200, R"j({"state":"running","path":"/b","bytes":1,
        "bytes_total":2})j"));
    stage.expect("GET /v1/backup", json_answer(200, R"j({"state":"done","path":"/b","bytes":4096,
        "jobs":3,"taken_at":"2026-11-18T12:00:00Z"})j"));
    EXPECT_EQ(stage.run({"backup", "/b"}), 0) << stage.err;
    EXPECT_EQ(stage.server.bodies[0], R"j({"path":"/b"})j");
    EXPECT_TRUE(contains(stage.err, "/b: 3 jobs, 4.0 KiB, as it was at 2026-11-18T12:00:00Z"))
        << stage.err;
}

TEST(Backup, fails_with_the_servers_sentence) {
    Stage stage;
    stage.expect("POST /v1/backup", json_answer(202, R"j({"state":"running","path":"/b"})j"));
    stage.expect("GET /v1/backup", json_answer(200, R"j({"state":"failed","path":"/b",
        "code":"unavailable","what":"disk full: free some space"})j"));
    EXPECT_EQ(stage.run({"backup", "/b"}), 75);
    EXPECT_TRUE(contains(stage.err, "disk full: free some space")) << stage.err;
}

// The server has another current directory.
TEST(Backup, a_path_is_made_absolute) {
    Stage stage;
    EXPECT_EQ(stage.run({"backup", "b", "--offline", "--data", "/d"}), 0) << stage.err;
    EXPECT_TRUE(stage.backstage.backup.starts_with("/") && stage.backstage.backup.ends_with("/b"));
    EXPECT_TRUE(stage.server.calls.empty());
}

TEST(Restore, says_what_it_has_and_what_a_person_must_look_at) {
    Stage stage;
    stage.backstage.restored = {.jobs = 5,
                                .not_ended = 2,
                                .taken_on = WallTime{1'000'000},
                                .directory = "/old",
                                .held = 1,
                                .paused_queues = {"cards"}};
    EXPECT_EQ(stage.run({"restore", "/b", "--data", "/d"}), 0);
    EXPECT_TRUE(contains(stage.err, "5 jobs, 2 of them not ended, as /old was at")) << stage.err;
    EXPECT_TRUE(contains(stage.err, "nothing in it runs")) << stage.err;
    EXPECT_EQ(stage.run({"restore", "/b", "--data", "/d", "--take-over"}), 0);
    EXPECT_TRUE(contains(stage.err, "perdure job unhold")) << stage.err;
    EXPECT_TRUE(contains(stage.err, "perdure queues resume cards")) << stage.err;
    EXPECT_EQ(stage.run({"restore", "/b", "--data", "/d", "--json"}), 0);
    EXPECT_TRUE(contains(stage.out, R"j("paused_queues":["cards"])j")) << stage.out;
}

TEST(Migrate, takes_a_database_without_its_log_only_if_told) {
    Stage stage;
    EXPECT_EQ(stage.run({"compact", "--data", "/d"}), 0) << stage.err;
    EXPECT_TRUE(contains(stage.out, "logs.db  84.0 MiB  1.0 MiB  83.0 MiB")) << stage.out;
    EXPECT_EQ(stage.run({"migrate", "--data", "/d"}), 0);
    EXPECT_TRUE(contains(stage.err, "nothing to do")) << stage.err;
    EXPECT_EQ(stage.run({"migrate", "--data", "/d", "--without-log"}), 0);
    EXPECT_TRUE(contains(stage.err, "taken without its log")) << stage.err;
}

TEST(Config, says_where_each_value_came_from) {
    Stage stage;
    stage.system.files["perdure.toml"] = "[worker]\nslots = 7\n";
    stage.system.variables["PERDURE_LOG_LEVEL"] = "debug";
    EXPECT_EQ(stage.run({"config", "--data", "/d", "--json"}), 0) << stage.err;
    boost::json::value document;
    ASSERT_FALSE(parse_quick(stage.out, document));
    const auto& settings = member(document, "settings");
    EXPECT_EQ(text_of(member(settings, "worker.slots"), "place"), "perdure.toml:2");
    EXPECT_EQ(text_of(member(settings, "log.level"), "place"), "PERDURE_LOG_LEVEL");
    EXPECT_EQ(text_of(member(settings, "data"), "place"), "--data");
    EXPECT_EQ(text_of(member(settings, "timing.lease"), "from"), "default");
}

TEST(Config, that_is_wrong_stops_every_command) {
    Stage stage;
    stage.system.files["perdure.toml"] = "slotz = 7\n";
    EXPECT_EQ(stage.run({"jobs"}), 2);
    EXPECT_TRUE(contains(stage.err, "perdure.toml:1: there is no setting slotz"));
    EXPECT_TRUE(stage.server.calls.empty());
}

TEST(ConfigFiles, one_of_another_account_in_the_current_folder_is_named_and_left_out) {
    Stage stage;
    stage.system.files["perdure.toml"] = "[worker]\nslots = 7\n";
    stage.system.foreign.insert("perdure.toml");
    EXPECT_EQ(stage.run({"config"}), 0);
    EXPECT_TRUE(contains(stage.err, "perdure.toml belongs to somebody"));
    EXPECT_FALSE(contains(stage.out, "perdure.toml:2"));
}

TEST(ConfigFiles, one_of_another_account_is_used_if_it_is_named) {
    Stage stage;
    stage.system.files["perdure.toml"] = "[worker]\nslots = 7\n";
    stage.system.foreign.insert("perdure.toml");
    EXPECT_EQ(stage.run({"config", "--config", "perdure.toml"}), 0);
    EXPECT_TRUE(contains(stage.out, "perdure.toml:2"));
}

TEST(ConfigFiles, one_of_another_account_in_the_place_of_our_own_is_refused) {
    Stage stage;
    const std::string own = "/there/.config/perdure/perdure.toml";
    stage.system.files[own] = "[worker]\nslots = 7\n";
    stage.system.foreign.insert(own);
    EXPECT_EQ(stage.run({"config"}), static_cast<int>(ExitCode::forbidden));
    EXPECT_TRUE(contains(stage.err, own + " belongs to somebody"));
}

TEST(Config, that_was_named_must_exist) {
    Stage stage;
    EXPECT_EQ(stage.run({"jobs", "--config", "mine.toml"}), 3);
    stage.system.variables["PERDURE_CONFIG"] = "other.toml";
    EXPECT_EQ(stage.run({"jobs"}), 3);
}

TEST(Servers, are_found_by_flag_variable_or_file) {
    Stage stage;
    stage.system.files["perdure.toml"] = "[server]\nurls = [\"http://a:1\"]\n";
    stage.expect("GET /v1/workers", json_answer(200, "{}"));
    stage.run({"workers"});
    EXPECT_EQ(stage.backstage.urls, std::vector<std::string>{"http://a:1"});
    stage.system.variables["PERDURE_SERVER"] = "http://b:2,http://c:3";
    stage.expect("GET /v1/workers", json_answer(200, "{}"));
    stage.run({"workers"});
    EXPECT_EQ(stage.backstage.urls, (std::vector<std::string>{"http://b:2", "http://c:3"}));
    stage.expect("GET /v1/workers", json_answer(200, "{}"));
    stage.run({"workers", "--server", "http://d:4"});
    EXPECT_EQ(stage.backstage.urls, std::vector<std::string>{"http://d:4"});
}

// A file that was changed while we ran must not change, or stop, a restarted child.
TEST(Children, do_not_read_the_configuration_file) {
    Stage stage;
    stage.system.files["perdure.toml"] = "this is not TOML\n";
    EXPECT_EQ(stage.run({"child-worker", "--set", "worker.slots=3"}), 0) << stage.err;
    EXPECT_EQ(stage.backstage.kept->worker_slots, 3U);
}

TEST(Up, takes_its_settings_as_flags) {
    Stage stage;
    EXPECT_EQ(stage.run({"up", "--data", "/d", "--slots", "3", "--set", "timing.lease=20s"}), 0);
    EXPECT_EQ(stage.backstage.kept->data, "/d");
    EXPECT_EQ(stage.backstage.kept->worker_state, "/d/worker");
    EXPECT_EQ(stage.backstage.kept->timing.lease, seconds(20));
}

TEST(Bench, is_given_every_word_that_it_knows) {
    Stage stage;
    EXPECT_EQ(stage.run({"bench", "--scale", "queues", "idle", "--waiting", "5000", "--time-limit",
                         "9", "--dir", "/x", "--keep", "--json"}),
              0)
        << stage.err;
    EXPECT_EQ(stage.backstage.bench_words,
              (std::vector<std::string>{"--json", "--scale", "--keep", "--dir", "/x", "--waiting",
                                        "5000", "--time-limit", "9", "queues", "idle"}));
}

class InsideAJob : public testing::Test {
protected:
    InsideAJob() { stage_.system.variables["PERDURE_SOCKET"] = "/s"; }
    Stage stage_;
};

TEST_F(InsideAJob, requests_are_written_as_the_protocol_says) {
    EXPECT_EQ(stage_.run({"progress", "40", "copying", "files"}), 0) << stage_.err;
    EXPECT_EQ(stage_.backstage.socket_request, "progress 40 copying files\n");
    EXPECT_EQ(stage_.run({"progress", "41"}), 0);
    EXPECT_EQ(stage_.backstage.socket_request, "progress 41\n");
    stage_.system.files["-"] = "{\"page\": 7}";
    EXPECT_EQ(stage_.run({"checkpoint"}), 0);
    EXPECT_EQ(stage_.backstage.socket_request, "checkpoint 11\n{\"page\": 7}");
    EXPECT_EQ(stage_.run({"begin"}), 0);
    EXPECT_EQ(stage_.backstage.socket_request, "begin\n");
    EXPECT_EQ(stage_.run({"verdict", "at", "2026-11-15T08:00:00Z"}), 0);
    EXPECT_EQ(stage_.backstage.socket_request, "verdict at 2026-11-15T08:00:00.000000Z\n");
}

// O10: cut off, they fail with 75, and what they protect must not be done.
TEST_F(InsideAJob, what_is_not_known_to_be_committed_is_75) {
    stage_.backstage.socket_answer = std::string("error not_committed the server is away");
    EXPECT_EQ(stage_.run({"begin"}), 75);
    stage_.backstage.socket_answer = error(Errc::outcome_unknown, "no answer");
    EXPECT_EQ(stage_.run({"begin"}), 75);
    stage_.backstage.socket_answer = std::string("what?");
    EXPECT_EQ(stage_.run({"begin"}), 75);
    stage_.backstage.socket_answer = std::string("error invalid no such verdict");
    EXPECT_EQ(stage_.run({"verdict", "maybe"}), 2);
}

TEST_F(InsideAJob, nothing_is_sent_that_would_break_the_protocol) {
    EXPECT_EQ(stage_.run({"progress", "40", "a\nbegin"}), 2);
    stage_.system.files["-"] = std::string((1U << 20) + 1, 'x');
    EXPECT_EQ(stage_.run({"checkpoint"}), 2);
    EXPECT_EQ(stage_.backstage.socket_request, "");
    stage_.system.variables.erase("PERDURE_SOCKET");
    EXPECT_EQ(stage_.run({"begin"}), 2);
}

TEST(Completion, knows_commands_and_options) {
    Stage stage;
    EXPECT_EQ(stage.run({"completion", "bash"}), 0);
    EXPECT_TRUE(contains(stage.out, "\"job\") words=\"add-callback cancel discard hold"));
    EXPECT_TRUE(contains(stage.out, "--idempotency-key"));
    EXPECT_FALSE(contains(stage.out, "child-server"));
    EXPECT_EQ(stage.run({"completion", "zsh"}), 0);
    EXPECT_EQ(stage.run({"completion", "fish"}), 0);
    EXPECT_TRUE(contains(stage.out, "-n '__fish_seen_subcommand_from job' -f -a cancel"));
    EXPECT_EQ(stage.run({"completion", "tcsh"}), 2);
}

TEST(Account, adds_up_the_pages_and_shows_the_greatest_first) {
    Stage stage;
    stage.expect("GET /v1/account?by=queue&tenant=default",
                 json_answer(200, R"j({"by":"queue","next":"38f1sk94b0001","lines":[
        {"name":"mail","attempts":2,"unknown":1,"ran_for":"3s","cpu_user":"1s","cpu_system":"500ms",
         "read_bytes":1048576,"write_bytes":0,"peak_memory":1048576}]})j"));
    stage.expect("GET /v1/account?by=queue&tenant=default&after=38f1sk94b0001",
                 json_answer(200, R"j({"by":"queue","lines":[
        {"name":"mail","attempts":1,"ran_for":"1s","cpu_user":"1s","cpu_system":"0s",
         "read_bytes":0,"write_bytes":4096,"peak_memory":2097152},
        {"name":"video","attempts":1,"ran_for":"9s","cpu_user":"8s","cpu_system":"0s",
         "read_bytes":0,"write_bytes":0,"peak_memory":0}]})j"));
    EXPECT_EQ(stage.run({"account"}), 0) << stage.err;
    const auto video = stage.out.find("video");
    const auto mail = stage.out.find("mail   3         4.0 s");
    EXPECT_LT(video, mail) << stage.out;
    EXPECT_NE(mail, std::string::npos) << stage.out;
    EXPECT_TRUE(contains(stage.out, "2.5 s")) << stage.out;
    EXPECT_TRUE(contains(stage.err, "of 1 attempts nobody knows")) << stage.err;
}

TEST(Audit, goes_on_from_where_a_page_ended_whatever_was_given) {
    Stage stage;
    stage.expect("GET /v1/audit?limit=50&about=bob&before=900",
                 json_answer(200, R"j({"records":[],"next":800})j"));
    stage.expect("GET /v1/audit?limit=50&about=bob&before=800",
                 json_answer(200, R"j({"records":[{"seq":7,"at":"2026-11-19T23:00:00Z",
        "who":"bob","action":"POST /v1/tokens","status":201,"subject":"t"}],"next":7})j"));
    EXPECT_EQ(stage.run({"audit", "--about", "bob", "--before", "900"}), 0) << stage.err;
    EXPECT_TRUE(contains(stage.out, "POST /v1/tokens")) << stage.out;
    EXPECT_TRUE(contains(stage.err, "--before 7")) << stage.err;
}

}  // namespace
}  // namespace perdure::cli
