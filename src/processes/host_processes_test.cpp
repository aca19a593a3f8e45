#include "processes/host_processes.h"

#include <sys/stat.h>

#include <fstream>
#include <set>

#include "processes/testing/harness.h"
#include "shim/format/attempt_files.h"

namespace perdure {
namespace {

class HostProcessesTest : public ProcessesTest {
protected:
    void SetUp() override { open(); }
};

TEST_F(HostProcessesTest, a_command_runs_and_its_end_is_told) {
    const auto key = begin(command({"true"}));
    const auto event = end_of(key);
    EXPECT_EQ(count(key, Kind::started), 1U);
    EXPECT_EQ(event.end.cause, Cause::exit);
    EXPECT_EQ(event.end.ran, Ran::yes);
    EXPECT_TRUE(event.end.succeeded);
    EXPECT_TRUE(event.end.reported);
    EXPECT_EQ(event.evidence->host, "here");
    EXPECT_GT(event.evidence->peak_memory, 0U);
}

TEST_F(HostProcessesTest, an_exit_code_is_told) {
    const auto end = end_of(shell("exit 3")).end;
    EXPECT_EQ(end.cause, Cause::exit);
    EXPECT_EQ(end.exit_code, 3);
    EXPECT_FALSE(end.succeeded);
    EXPECT_EQ(end.ran, Ran::yes);
}

TEST_F(HostProcessesTest, death_by_a_signal_is_a_crash) {
    const auto end = end_of(shell("kill -SEGV $$")).end;
    EXPECT_EQ(end.cause, Cause::crash_signal);
    EXPECT_EQ(end.exit_code, SIGSEGV);
}

// --- the command's surroundings ------------------------------------------------------------------

TEST_F(HostProcessesTest, stdout_and_stderr_are_kept_in_order_of_arrival) {
    const auto key = begin(shell("echo a; echo b >&2; printf c"));
    const auto event = end_of(key);
    EXPECT_EQ(output(key), "a\nb\nc");
    EXPECT_EQ(event.evidence->last_lines, "a\nb\nc");
    EXPECT_GE(count(key, Kind::printed), 1U);
}

TEST_F(HostProcessesTest, the_environment_is_built_from_scratch) {
    ::setenv("LEAKED_FROM_THE_WORKER", "1", 1);
    auto spec = command({"env"});
    spec.env = {{"MINE", "a=b"}, {"LANG", "C"}, {"PERDURE_JOB", "forged"}};
    const auto key = begin(spec);
    end_of(key);
    const auto text = "\n" + output(key);
    const auto has = [&](const std::string& line) {
        return text.find("\n" + line + "\n") != std::string::npos;
    };
    EXPECT_TRUE(has("MINE=a=b"));
    EXPECT_TRUE(has("LANG=C"));
    EXPECT_TRUE(has("HOME=/"));
    EXPECT_TRUE(has("PERDURE_JOB=" + key.job.text()));
    EXPECT_TRUE(has("PERDURE_EPOCH=1"));
    EXPECT_TRUE(has("PERDURE_SOCKET=" + directory(key) + "/job"));
    EXPECT_TRUE(has("TMPDIR=" + directory(key) + "/" + attempt_files::work));
    EXPECT_EQ(text.find("LEAKED"), std::string::npos);
    EXPECT_EQ(text.find("PERDURE_CHECKPOINT"), std::string::npos);
}

TEST_F(HostProcessesTest, a_command_starts_alone_in_its_own_folder) {
    const auto key = begin(shell("pwd; ls /proc/self/fd | tr '\\n' ' '; readlink /proc/self/fd/0"));
    end_of(key);
    // 3 is the one with which ls reads the folder.
    EXPECT_EQ(output(key), directory(key) + "/" + attempt_files::work + "\n0 1 2 3 /dev/null\n");
}

TEST_F(HostProcessesTest, a_command_has_a_session_no_new_privileges_and_dies_first) {
    ::signal(SIGPIPE, SIG_IGN);  // as a worker may: its jobs must not inherit it
    const auto key =
        begin(shell("cut -d' ' -f6 /proc/$$/stat; echo $$; grep NoNewPrivs /proc/self/status;"
                    "cat /proc/self/oom_score_adj; grep SigBlk /proc/self/status;"
                    "grep SigIgn /proc/self/status"));
    end_of(key);
    const auto text = output(key);
    const auto first = text.substr(0, text.find('\n'));
    const auto expected =
        first + "\n" + first + "\nNoNewPrivs:\t1\n500\nSigBlk:\t0000000000000000\nSigIgn:";
    EXPECT_EQ(text.substr(0, expected.size()), expected);
    EXPECT_TRUE(text.ends_with("0000000\n")) << text;  // signals 1 to 28
}

TEST_F(HostProcessesTest, args_and_checkpoint_are_files) {
    auto spec = shell("cat $PERDURE_ARGS $PERDURE_CHECKPOINT");
    spec.args = R"({"n":1})";
    auto given = assignment(spec);
    given.checkpoint = std::string("page 7\0", 7);
    ASSERT_TRUE(prepare(given));
    start(given.attempt);
    end_of(given.attempt);
    EXPECT_EQ(output(given.attempt), std::string("{\"n\":1}page 7\0", 14));
}

TEST_F(HostProcessesTest, what_a_callback_waited_for_is_a_file) {
    auto spec = shell("echo $PERDURE_PARENT; cat $PERDURE_INPUTS");
    spec.callback_of = CallbackOf{JobId{7}, 1, 0};
    auto given = assignment(spec);
    given.inputs = {{JobId{7}, 1, JobState::succeeded, Cause::exit, 0, "[1]", false}};
    ASSERT_TRUE(prepare(given));
    start(given.attempt);
    end_of(given.attempt);
    EXPECT_EQ(output(given.attempt),
              "0000000000007\n"
              R"([{"job":"0000000000007","generation":1,"state":"succeeded","cause":"exit",)"
              R"("exit_code":0,"result":[1]}])");
}

TEST_F(HostProcessesTest, what_cannot_be_executed_did_not_run_and_says_why) {
    const auto plain = root_ + "/plain";
    std::ofstream(plain) << "echo no\n";
    const auto garbage = root_ + "/garbage";
    std::ofstream(garbage) << "\x01\x02\x03";
    std::filesystem::permissions(garbage, std::filesystem::perms::owner_all);
    auto no_folder = command({"true"});
    no_folder.cwd = root_ + "/missing";
    auto too_many = command({"true"});
    for (int i = 0; i < 100; ++i) too_many.argv.emplace_back(100'000, 'x');
    const std::vector<std::pair<JobSpec, std::string>> table = {
        {too_many, "Argument list too long"},
        {command({"no-such-command-here"}), "was not found in PATH"},
        {command({"/no/such/command"}), "was not found"},
        {command({root_}), "is a directory"},
        {command({plain}), "is not executable"},
        {command({garbage}), "neither a program nor a script"},
        {no_folder, "working directory"},
    };
    for (const auto& [spec, sentence] : table) {
        const auto event = end_of(spec, asking());
        EXPECT_EQ(event.end.cause, Cause::command_unusable) << sentence;
        EXPECT_EQ(event.end.ran, Ran::no) << sentence;
        EXPECT_NE(event.evidence->detail.find(sentence), std::string::npos)
            << event.evidence->detail;
    }
}

TEST_F(HostProcessesTest, what_no_process_can_be_given_is_refused) {
    EXPECT_TRUE(prepare(assignment(JobSpec{})).is(Errc::invalid));
    EXPECT_TRUE(prepare(assignment(command({std::string("a\0b", 3)}))).is(Errc::invalid));
    const std::string very_long(200'000, 'x');
    EXPECT_TRUE(prepare(assignment(command({"echo", very_long}))).is(Errc::invalid));
    auto spec = command({"true"});
    spec.env = {{"LONG", very_long}};
    EXPECT_TRUE(prepare(assignment(spec)).is(Errc::invalid));
}

TEST_F(HostProcessesTest, a_shim_that_cannot_start_leaves_nothing) {
    crash();
    options_.shim = root_ + "/no-shim";
    open();
    const auto given = assignment(command({"true"}));
    EXPECT_TRUE(prepare(given).is(Errc::unavailable));
    EXPECT_FALSE(std::filesystem::exists(directory(given.attempt)));
}

// --- output --------------------------------------------------------------------------------------

TEST_F(HostProcessesTest, output_above_its_cap_keeps_both_ends) {
    constexpr std::uint64_t printed = 100'000'000;
    auto spec = shell("echo first; yes | head -c 99999989; echo last");
    spec.output_max = 1'000'000;
    const auto key = begin(spec);
    const auto event = end_of(key);
    const auto text = output(key);
    const auto note =
        "\n[perdure: " + std::to_string(printed - spec.output_max) + " bytes left out]\n";
    EXPECT_EQ(text.size(), spec.output_max + note.size());
    EXPECT_TRUE(text.starts_with("first\ny\n"));
    EXPECT_EQ(text.find(note), spec.output_max / 2);
    EXPECT_TRUE(text.ends_with("y\nylast\n"));
    EXPECT_TRUE(event.evidence->last_lines.ends_with("y\nylast\n"));
    EXPECT_LE(event.evidence->last_lines.size(), last_lines_max);
}

TEST_F(HostProcessesTest, binary_output_is_kept_as_it_is) {
    const auto key = begin(shell("printf '\\000\\377\\200a\\\\\"'"));
    const auto event = end_of(key);
    EXPECT_EQ(output(key), std::string("\0\xFF\x80"
                                       "a\\\"",
                                       6));
    EXPECT_TRUE(event.evidence->last_lines.ends_with("a\\\""));
}

TEST_F(HostProcessesTest, a_result_file_is_evidence_if_it_is_json) {
    EXPECT_EQ(end_of(shell("printf '{\"rows\": 3}' > $PERDURE_RESULT")).evidence->result,
              R"({"rows": 3})");
    const auto bad = end_of(shell("printf '{\"rows\"' > $PERDURE_RESULT"));
    EXPECT_EQ(bad.evidence->result, "");
    EXPECT_NE(bad.evidence->detail.find("not valid JSON"), std::string::npos);
    EXPECT_TRUE(bad.end.succeeded);
}

// --- times and kills -----------------------------------------------------------------------------

TEST_F(HostProcessesTest, the_run_timeout_ends_a_command) {
    auto spec = shell("while :; do echo x; sleep 0.01; done");
    spec.timeouts.run = milliseconds(150);
    const auto end = end_of(spec).end;
    EXPECT_EQ(end.cause, Cause::timeout_run);
    EXPECT_EQ(end.ran, Ran::yes);
}

TEST_F(HostProcessesTest, the_idle_timeout_ends_a_silent_command) {
    auto spec = command({"sleep", "60"});
    spec.timeouts.idle = milliseconds(100);
    EXPECT_EQ(end_of(spec).end.cause, Cause::timeout_idle);
}

TEST_F(HostProcessesTest, a_kill_asks_first_and_its_cause_counts) {
    const auto key = begin(shell("trap 'echo bye; exit 0' TERM; echo $$ > " + root_ +
                                 "/pid; while :; do sleep 0.01; done"));
    pid_in("pid");
    processes_->kill(key, Cause::cancelled);
    const auto end = end_of(key).end;
    EXPECT_EQ(end.cause, Cause::cancelled);
    EXPECT_FALSE(end.succeeded);
    EXPECT_EQ(end.ran, Ran::yes);
    EXPECT_TRUE(output(key).ends_with("bye\n"));
}

TEST_F(HostProcessesTest, an_end_before_the_kill_is_not_called_killed) {
    const auto key = begin(command({"true"}));
    until("it has ended", [&] { return std::filesystem::exists(directory(key) + "/result.json"); });
    processes_->kill(key, Cause::cancelled);
    EXPECT_TRUE(end_of(key).end.succeeded);
}

TEST_F(HostProcessesTest, what_has_not_started_is_killed_at_once_and_did_not_run) {
    const auto given = assignment(command({"true"}), asking());
    ASSERT_TRUE(prepare(given));
    processes_->kill(given.attempt, Cause::evicted);
    const auto end = end_of(given.attempt).end;
    EXPECT_EQ(end.cause, Cause::evicted);
    EXPECT_EQ(end.ran, Ran::no);
}

TEST_F(HostProcessesTest, an_old_go_starts_nothing_and_a_new_one_does) {
    const auto given = assignment(shell("echo ran"), asking());
    ASSERT_TRUE(prepare(given));
    processes_->start(given.attempt, {.go_until = in(seconds(-1)), .lease_until = in(seconds(60))});
    processes_->start(given.attempt, {.go_until = std::nullopt, .lease_until = in(seconds(60))});
    start(given.attempt);
    EXPECT_TRUE(end_of(given.attempt).end.succeeded);
    EXPECT_EQ(count(given.attempt, Kind::started), 1U);
    EXPECT_EQ(output(given.attempt), "ran\n");
}

TEST_F(HostProcessesTest, nothing_starts_after_its_lease) {
    const auto given = assignment(command({"true"}));
    ASSERT_TRUE(prepare(given));
    start(given.attempt, seconds(-1));
    const auto end = end_of(given.attempt).end;
    EXPECT_EQ(end.cause, Cause::cut_off);
    EXPECT_EQ(end.ran, Ran::no);
}

TEST_F(HostProcessesTest, forgetting_removes_everything_a_job_has_left) {
    const auto key = begin(shell("mkdir -p a/b/c; echo x > a/b/c/d; ln -s / a/root; exit 1"));
    end_of(key);
    processes_->forget(key);
    until("it is gone", [&] { return !std::filesystem::exists(directory(key)); });
    EXPECT_TRUE(std::filesystem::exists("/bin"));
}

TEST_F(HostProcessesTest, a_directory_used_again_holds_nothing_of_its_last_attempt) {
    std::set<std::uint64_t> seen;
    const auto inode_of = [&](AttemptKey key) {
        struct stat about {};
        ::stat(directory(key).c_str(), &about);
        return std::uint64_t{about.st_ino};
    };
    bool used_again = false;
    until("a directory is used again", [&] {
        auto spec = shell("echo secret");
        spec.args = "[1]";
        auto given = assignment(spec, asking());
        given.checkpoint = "state";
        EXPECT_TRUE(prepare(given));
        used_again = !seen.insert(inode_of(given.attempt)).second;
        for (const auto& entry : std::filesystem::directory_iterator(directory(given.attempt))) {
            const std::set<std::string> expected = {"order", "args.json", "checkpoint",
                                                    attempt_files::work,
                                                    attempt_files::result_draft};
            EXPECT_TRUE(expected.contains(entry.path().filename())) << entry.path();
        }
        EXPECT_EQ(output(given.attempt), "");
        start(given.attempt);
        EXPECT_TRUE(end_of(given.attempt).end.succeeded);
        EXPECT_EQ(output(given.attempt), "secret\n");
        processes_->forget(given.attempt);
        until("it is gone", [&] { return !std::filesystem::exists(directory(given.attempt)); });
        return used_again;
    });
}

// O4: once for each directory, whoever asks.
TEST_F(HostProcessesTest, what_has_been_started_is_not_started_again) {
    const auto given = assignment(shell("echo again"), asking());
    ASSERT_TRUE(prepare(given));
    std::ofstream(directory(given.attempt) + "/started") << "";
    start(given.attempt);
    const auto end = end_of(given.attempt).end;
    EXPECT_EQ(end.ran, Ran::maybe);
    EXPECT_EQ(end.cause, Cause::shim_lost);
    EXPECT_EQ(output(given.attempt), "");
}

TEST_F(HostProcessesTest, forgetting_what_was_never_there_is_harmless) {
    processes_->forget({JobId{1}, {1}});
    processes_->kill({JobId{1}, {1}}, Cause::cancelled);
    processes_->answer({JobId{1}, {1}}, Kind::begin, true);
}

TEST_F(HostProcessesTest, a_newer_epoch_waits_until_the_older_tree_is_gone) {
    auto given = assignment(shell("trap '' TERM; echo $$ > " + root_ + "/pid; exec sleep 60"));
    ASSERT_TRUE(prepare(given));
    start(given.attempt);
    const auto old = pid_in("pid");
    const auto older = given.attempt;
    given.attempt.epoch = {2};
    EXPECT_TRUE(prepare(given));
    EXPECT_FALSE(lives(old));
    EXPECT_EQ(end_of(older).end.cause, Cause::cut_off);
}

TEST_F(HostProcessesTest, preparing_what_is_there_adopts_it) {
    const auto given = assignment(command({"sleep", "60"}));
    ASSERT_TRUE(prepare(given));
    start(given.attempt);
    wait_for(given.attempt, Kind::started);
    EXPECT_TRUE(prepare(given));
    processes_->kill(given.attempt, Cause::cut_off);
    end_of(given.attempt);
}

}  // namespace
}  // namespace perdure
