// perdure policy: what the screen says about rules, and where they come from.
#include <gtest/gtest.h>

#include "cli/answer.h"
#include "cli/testing/cli_stage.h"

namespace perdure::cli {
namespace {

constexpr auto answer = R"j({"id":"06na5x0g00000","state":"ready","generation":1,
    "policy":{"name":"patient","base":"default","rules":[{}]},"effects":"repeatable","lines":[
    {"causes":["exit"],"exit_codes":[75],"next":"later","wait":"5s","another_worker":true,
     "rule":"custom/1","used":1,"times":3,"left":2,"then":"quarantined"},
    {"causes":["exit","verdict(permanent)"],"next":"failed","rule":"default/own_failure",
     "used":0,"times":0,"left":0,"then":"failed"},
    {"causes":["evicted"],"next":"now","rule":"any/moved","used":0,"times":"always",
     "left":"always","then":"failed"}]})j";

TEST(PolicyExplain, tells_for_every_cause_what_would_happen_and_by_which_rule) {
    Stage stage;
    stage.expect("GET /v1/jobs/06na5x0g00000/policy", json_answer(200, answer));
    EXPECT_EQ(stage.run({"policy", "explain", "06na5x0g00000"}), 0) << stage.err;
    EXPECT_TRUE(contains(stage.out, "policy patient (1 rule, else default), effects repeatable"));
    EXPECT_TRUE(contains(stage.out, "exit with code 75"));
    EXPECT_TRUE(contains(stage.out, "again in 5.0 s, elsewhere"));
    EXPECT_TRUE(contains(stage.out, "then quarantined  custom/1"));
    EXPECT_TRUE(contains(stage.out, "exit, verdict(permanent)"));
    EXPECT_TRUE(contains(stage.out, "always"));
}

TEST(PolicyExplain, asks_about_a_new_job_if_none_is_named) {
    Stage stage;
    stage.expect("GET /v1/policy?queue=slow&kind=mail.send", json_answer(200, answer));
    EXPECT_EQ(stage.run({"policy", "explain", "--queue", "slow", "--kind", "mail.send"}), 0);
    stage.expect("GET /v1/policy", json_answer(200, answer));
    EXPECT_EQ(stage.run({"policy", "explain", "--json"}), 0);
    EXPECT_TRUE(contains(stage.out, "\"custom/1\""));
}

TEST(PolicyExplain, tells_whose_policy_judges_on_which_worker) {
    std::string held = answer;
    held.insert(1, R"j("worker":"gpu-7","by_worker_policy":true,
                       "workers":{"gpu-7":"patient","gpu-8":"never"},)j");
    Stage stage;
    stage.expect("GET /v1/jobs/06na5x0g00000/policy?worker=gpu-7", json_answer(200, held));
    EXPECT_EQ(stage.run({"policy", "explain", "06na5x0g00000", "--worker", "gpu-7"}), 0);
    EXPECT_TRUE(contains(
        stage.out, "policy patient (1 rule, else default) of worker gpu-7, effects repeatable\n"))
        << stage.out;
    EXPECT_TRUE(contains(stage.out, "\non worker gpu-8: never\n")) << stage.out;
    EXPECT_FALSE(contains(stage.out, "on worker gpu-7")) << "the table says it";

    stage.expect("GET /v1/policy?kind=mail&worker=gpu-9",
                 json_answer(200, R"j({"from":"kind","worker":"gpu-9","policy":"never",
                                       "effects":"repeatable","lines":[]})j"));
    EXPECT_EQ(stage.run({"policy", "explain", "--kind", "mail", "--worker", "gpu-9"}), 0);
    EXPECT_TRUE(contains(stage.out, "from the kind, on worker gpu-9\n")) << stage.out;
}

TEST(PolicyList, says_who_uses_which) {
    Stage stage;
    stage.expect("GET /v1/policies", json_answer(200, R"j({"policies":[
        {"name":"default","built_in":true},{"name":"patient","base":"never","rules":[{},{}]}],
        "server":"default","queues":{"slow":"patient"},"kinds":{"mail":"patient"},
        "workers":{"gpu-7":"patient"}})j"));
    EXPECT_EQ(stage.run({"policy", "list"}), 0);
    EXPECT_TRUE(
        contains(stage.out, "patient  2         never  queue slow, kind mail, worker gpu-7"));
    EXPECT_TRUE(contains(stage.out, "default  built in         server"));
}

TEST(Config, shows_policies_with_their_place) {
    Stage stage;
    stage.system.files["perdure.toml"] =
        "[policies.patient]\nrules = [{ causes = [\"oom\"], times = 1 }]\n\n"
        "[queues.slow]\npolicy = \"patient\"\n[workers.gpu-7]\npolicy = \"never\"\n";
    EXPECT_EQ(stage.run({"config", "--data", "/d", "--json"}), 0) << stage.err;
    boost::json::value document;
    ASSERT_FALSE(parse_quick(stage.out, document));
    const auto& settings = member(document, "settings");
    EXPECT_EQ(text_of(member(settings, "queues.slow.policy"), "value"), "patient");
    EXPECT_EQ(text_of(member(settings, "policies.patient"), "place"), "perdure.toml:2");
    EXPECT_EQ(text_of(member(settings, "workers.gpu-7.policy"), "value"), "never");
    EXPECT_EQ(text_of(member(settings, "workers.gpu-7.policy"), "place"), "perdure.toml:7");
}

}  // namespace
}  // namespace perdure::cli
