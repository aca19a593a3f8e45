// --env and --env-file, from words to what is sent and what is said.
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "cli/testing/cli_stage.h"

namespace perdure::cli {
namespace {

const auto taken_by_the_server =
    json_answer(201, R"j({"id":"06na5x0g00000","state":"ready","created":true})j");

std::string sent_env(Stage& stage) {
    boost::json::value body;
    if (stage.server.bodies.empty() || parse_quick(stage.server.bodies[0], body)) return "";
    return boost::json::serialize(body.at("env"));
}

TEST(Environment, a_name_alone_takes_the_callers_value_and_says_where_it_goes) {
    Stage stage;
    stage.system.variables["DB_PASSWORD"] = "hunter2";
    stage.system.variables["MODE"] = "fast";
    stage.expect("POST /v1/jobs", taken_by_the_server);
    EXPECT_EQ(stage.run({"submit", "--env", "DB_PASSWORD", "--env", "MODE", "--", "x"}), 0);
    EXPECT_EQ(sent_env(stage), R"j({"DB_PASSWORD":"hunter2","MODE":"fast"})j");
    EXPECT_TRUE(contains(stage.err, "in the server's database: DB_PASSWORD, MODE;")) << stage.err;
    EXPECT_TRUE(contains(stage.err, "secret://KEY")) << stage.err;
    EXPECT_FALSE(contains(stage.out + stage.err, "hunter2"));
}

TEST(Environment, nothing_is_said_of_references_and_harmless_values) {
    Stage stage;
    stage.expect("POST /v1/jobs", taken_by_the_server);
    EXPECT_EQ(stage.run({"submit", "--env", "DB_PASSWORD=secret://db", "--env", "A=1", "--", "x"}),
              0);
    EXPECT_EQ(sent_env(stage), R"j({"DB_PASSWORD":"secret://db","A":"1"})j");
    EXPECT_FALSE(contains(stage.err, "database")) << stage.err;
}

TEST(Environment, a_secret_on_the_command_line_is_told_as_well) {
    Stage stage;
    stage.expect("POST /v1/jobs", taken_by_the_server);
    EXPECT_EQ(stage.run({"submit", "--env", "API_KEY=hunter2", "--", "x"}), 0);
    EXPECT_TRUE(contains(stage.err, "database: API_KEY;")) << stage.err;
    stage.expect("POST /v1/jobs", taken_by_the_server);
    EXPECT_EQ(stage.run({"submit", "--quiet", "--env", "API_KEY=hunter2", "--", "x"}), 0);
    EXPECT_EQ(stage.err, "");
}

TEST(Environment, a_file_has_lines_comments_and_quotes_and_yields_to_options) {
    Stage stage;
    stage.system.variables["FROM_HERE"] = "here";
    stage.system.files["job.env"] =
        "# of the job\n\nA=1\r\n  B=\"two words\"\nC='it''s'\nD=a=b\nE=\nFROM_HERE\nA=last";
    stage.system.files["more.env"] = "D=file";
    stage.expect("POST /v1/jobs", taken_by_the_server);
    EXPECT_EQ(stage.run({"submit", "--env", "E=option", "--env-file", "job.env", "--env-file",
                         "more.env", "--", "x"}),
              0)
        << stage.err;
    EXPECT_EQ(sent_env(stage),
              R"j({"A":"last","B":"two words","C":"it''s","D":"file","E":"option",)j"
              R"j("FROM_HERE":"here"})j");
}

TEST(Environment, what_is_not_understood_is_named_without_its_value) {
    Stage stage;
    stage.system.files["bad.env"] = "A=1\nexport B=hunter2\n";
    EXPECT_EQ(stage.run({"submit", "--env-file", "bad.env", "--", "x"}), 2);
    EXPECT_TRUE(contains(stage.err, "bad.env:2")) << stage.err;
    EXPECT_FALSE(contains(stage.err, "hunter2")) << stage.err;
    EXPECT_EQ(stage.run({"submit", "--env", "NOT_SET", "--", "x"}), 2);
    EXPECT_TRUE(contains(stage.err, "NOT_SET is not set here")) << stage.err;
    EXPECT_EQ(stage.run({"submit", "--env-file", "missing.env", "--", "x"}), 3);
    EXPECT_TRUE(stage.server.calls.empty());
}

}  // namespace
}  // namespace perdure::cli
