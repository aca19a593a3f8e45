// The ledger, a sweep by hand, and quarantine on the screen.
#include <gtest/gtest.h>

#include "cli/testing/cli_stage.h"

namespace perdure::cli {
namespace {

const std::string two_jobs = R"j({"jobs":[{"id":"b","queue":"mail","epoch":3,
    "cause":"crash(signal)","ended_at":"2026-11-15T11:57:00Z","argv":["pay"]},
    {"id":"a","queue":"mail","epoch":1,"cause":"worker_lost","may_still_run_on":"anvil",
    "ended_at":"2026-11-15T11:00:00Z","argv":["pay"]}]})j";

TEST(Recoveries, are_a_table_that_tells_what_happened) {
    Stage stage;
    stage.expect("GET /v1/recoveries?cause=worker_lost&since=2026-11-15T11%3A00%3A00.000000Z",
                 json_answer(200, R"j({"recoveries":[{"id":4,"at":"2026-11-15T11:59:02.5Z",
        "job":"06na5x0g00000","detector":"takeover","time_to_detect":"30ms","time_to_act":"0s",
        "story":"worker w1 died and came back after 0.03 s; attempt 1 adopted, not rerun"},
        {"id":3,"at":"2026-11-14T10:00:00Z","job":"06na5x0g00001","detector":"lease",
        "time_to_detect":"10s500ms","story":"lost"}],"next":3})j"));
    EXPECT_EQ(stage.run({"recoveries", "--cause", "worker_lost", "--since", "1h"}), 0) << stage.err;
    EXPECT_EQ(stage.out,
              "UTC               JOB            SEEN BY   SEEN AFTER  BACK AFTER  WHAT HAPPENED\n"
              "11:59:02          06na5x0g00000  takeover  30 ms       0 ms        worker w1 died "
              "and came back after 0.03 s; attempt 1 adopted, not rerun\n"
              "2026-11-14 10:00  06na5x0g00001  lease     10 s                    lost\n");
    EXPECT_TRUE(contains(stage.err, "--before 3"));
}

TEST(Recoveries, refuse_a_time_that_is_none_and_say_so_if_there_is_nothing) {
    Stage stage;
    EXPECT_EQ(stage.run({"recoveries", "--since", "yesterday"}), 2);
    EXPECT_TRUE(contains(stage.err, "--since must be a duration like 1h"));
    stage.expect("GET /v1/recoveries", json_answer(200, R"j({"recoveries":[]})j"));
    EXPECT_EQ(stage.run({"recoveries"}), 0);
    EXPECT_TRUE(contains(stage.err, "nothing had to be repaired"));
}

TEST(Recover, tells_what_it_would_do_and_what_is_healthy) {
    Stage stage;
    stage.expect("POST /v1/recover", json_answer(200, R"j({"report_only":true,"findings":[
        {"job":"06na5x0g00000","epoch":1,"saw":"nothing was heard of worker w1 for 10.5 s",
         "does":"it runs again at once","outcome":"would_do","seen_by":"O3/lease_over",
         "rule":"default/worker_lost"}],"healthy":{"jobs":7,"workers":2},"silent_workers":1})j"));
    EXPECT_EQ(stage.run({"recover", "--report-only"}), 0);
    EXPECT_EQ(stage.server.bodies[0], "{\"report_only\":true}");
    EXPECT_TRUE(contains(stage.out, "would do  default/worker_lost")) << stage.out;
    EXPECT_TRUE(contains(stage.out, "nothing was heard of worker w1 for 10.5 s"));
    EXPECT_TRUE(contains(stage.err, "7 jobs and 2 workers are as they should be; 1 workers"));
    EXPECT_TRUE(contains(stage.err, "nothing was changed"));
}

TEST(Quarantine, is_a_table_that_names_where_something_may_still_run) {
    Stage stage;
    stage.expect("GET /v1/jobs?state=quarantined&undealt=true&limit=1000&queue=mail",
                 json_answer(200, two_jobs));
    EXPECT_EQ(stage.run({"quarantine", "--queue", "mail"}), 0) << stage.err;
    EXPECT_EQ(stage.out,
              "ID  QUEUE  SINCE      TRIES  CAUSE          MAY STILL RUN ON  WHAT\n"
              "b   mail   3 min ago  3      crash(signal)                    pay\n"
              "a   mail   1 h ago    1      worker_lost    anvil             pay\n");
}

TEST(Quarantine, shows_the_evidence_of_every_attempt) {
    Stage stage;
    stage.expect("GET /v1/jobs/a", json_answer(200, R"j({"id":"a","state":"quarantined",
        "argv":["pay"],"rule":"default/crash","may_have_run":true,
        "may_still_run":{"epoch":2,"worker":"anvil"},"attempts":[
        {"epoch":1,"cause":"crash(signal)","signal":11,"ran":"yes","worker":"anvil",
         "evidence":{"host":"h1","peak_memory":1572864,"ran_for":"1s500ms",
                     "cpu_user":"1s200ms","cpu_system":"200ms","read_bytes":1048576,"write_bytes":0,
                     "last_lines":"one\ntwo\u001b[2J\n"}},
        {"epoch":2,"cause":"worker_lost","ran":"maybe"}]})j"));
    EXPECT_EQ(stage.run({"quarantine", "show", "a"}), 0) << stage.err;
    EXPECT_TRUE(contains(stage.out, "attempt 2 may still run on worker anvil\n")) << stage.out;
    for (const auto* part :
         {"  cause       crash(signal)\n", "  signal      11\n", "  host        h1\n",
          "  ran for     1.5 s\n", "  peak memory 1.5 MiB\n",
          "  used        1.4 s cpu (1.2 s user, 200 ms system), 1.0 MiB read\n",
          "    one\n    two·[2J\n"})
        EXPECT_TRUE(contains(stage.out, part)) << part << stage.out;
}

TEST(Quarantine, is_released_only_knowingly_while_the_old_process_may_run) {
    Stage stage;
    stage.expect("POST /v1/jobs/a/release", json_answer(200, R"j({"state":"ready"})j"));
    EXPECT_EQ(stage.run({"quarantine", "release", "a"}), 0);
    EXPECT_EQ(stage.server.bodies[0], "");
    EXPECT_TRUE(contains(stage.err, "job a is ready"));
    stage.expect("POST /v1/jobs/a/release", json_answer(200, R"j({"state":"ready"})j"));
    EXPECT_EQ(stage.run({"quarantine", "release", "a", "--may-still-run"}), 0);
    EXPECT_EQ(stage.server.bodies[1], R"j({"may_still_run":true})j");
}

TEST(Quarantine, is_dealt_with_in_bulk_after_saying_how_many) {
    Stage stage;
    stage.expect(
        "GET /v1/jobs?state=quarantined&undealt=true&limit=1000&cause=oom&ended_before="
        "2026-11-15T11%3A00%3A00.000000Z",
        json_answer(200, two_jobs));
    stage.expect("POST /v1/jobs/b/discard", json_answer(200, R"j({"state":"quarantined"})j"));
    stage.expect("POST /v1/jobs/a/discard", json_answer(200, R"j({"state":"quarantined"})j"));
    EXPECT_EQ(stage.run({"quarantine", "discard", "--cause", "oom", "--older-than", "1h", "--yes"}),
              0)
        << stage.err;
    EXPECT_TRUE(contains(stage.err, "job a is dealt with"));
}

TEST(Quarantine, touches_nothing_without_a_choice_or_an_answer) {
    Stage stage;
    EXPECT_EQ(stage.run({"quarantine", "release"}), 2);
    EXPECT_TRUE(contains(stage.err, "name jobs, or choose them"));
    stage.expect("GET /v1/jobs?state=quarantined", json_answer(200, two_jobs));
    EXPECT_EQ(stage.run({"quarantine", "release", "--all"}), 2) << "nobody can be asked";
    EXPECT_TRUE(contains(stage.err, "2 jobs fit"));
}

}  // namespace
}  // namespace perdure::cli
