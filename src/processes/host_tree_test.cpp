// Whole trees: whatever a job starts, two seconds after its end nothing of it exists [P8].
#include <sys/ptrace.h>

#include "processes/host_processes.h"
#include "processes/testing/harness.h"

namespace perdure {
namespace {

class HostTreeTest : public ProcessesTest {
protected:
    void SetUp() override { open(); }

    // A daemon by double fork and setsid, that ignores SIGTERM and holds stdout; and a child that
    // is stopped. Their pids are in files.
    std::string litter() const {
        return "(setsid sh -c 'trap \"\" TERM HUP; echo $$ > " + root_ +
               "/daemon; while :; do sleep 1; done' &) ; sh -c 'echo $$ > " + root_ +
               "/stopped; kill -STOP $$; sleep 60' & while [ ! -s " + root_ +
               "/daemon ] || [ ! -s " + root_ + "/stopped ]; do sleep 0.01; done; ";
    }
    // The child of a shim that is about to become the command, stopped before it does anything.
    pid_t stopped_on_its_way(AttemptKey key, pid_t shim) {
        EXPECT_EQ(::ptrace(PTRACE_SEIZE, shim, nullptr, PTRACE_O_TRACEVFORK), 0);
        start(key);
        unsigned long child = 0;
        until("the shim has a child", [&] {
            int status = 0;
            return ::waitpid(shim, &status, WNOHANG | __WALL) == shim &&
                   status >> 8 == (SIGTRAP | PTRACE_EVENT_VFORK << 8) &&
                   ::ptrace(PTRACE_GETEVENTMSG, shim, nullptr, &child) == 0;
        });
        until("it has stopped", [&] {
            int status = 0;
            return ::waitpid(static_cast<pid_t>(child), &status, WNOHANG | __WALL) > 0;
        });
        return static_cast<pid_t>(child);
    }
    void expect_litter_gone() {
        EXPECT_FALSE(lives(pid_in("daemon")));
        EXPECT_FALSE(lives(pid_in("stopped")));
    }
};

TEST_F(HostTreeTest, what_a_command_leaves_behind_goes_when_it_ends) {
    const auto key = begin(shell(litter() + "exit 5"));
    const auto end = end_of(key).end;
    expect_litter_gone();
    EXPECT_EQ(end.cause, Cause::exit);
    EXPECT_EQ(end.exit_code, 5);
}

TEST_F(HostTreeTest, a_kill_reaches_the_whole_tree) {
    const auto key = begin(shell(litter() + "echo x > " + root_ + "/ready; sleep 60"));
    text_of(root_ + "/ready");
    processes_->kill(key, Cause::timeout_total);
    EXPECT_EQ(end_of(key).end.cause, Cause::timeout_total);
    expect_litter_gone();
}

TEST_F(HostTreeTest, a_stopped_command_hears_that_it_shall_end) {
    const auto key = begin(shell("trap 'exit 0' TERM; echo $$ > " + root_ +
                                 "/pid; kill -STOP $$; while :; do sleep 0.01; done"));
    pid_in("pid");
    processes_->kill(key, Cause::cancelled);
    EXPECT_EQ(end_of(key).end.exit_code, 0);  // not killed by SIGKILL: its trap ran
}

TEST_F(HostTreeTest, a_lease_that_is_not_renewed_ends_by_the_shims_own_hand) {
    crash();
    options_.timing.kill_margin = milliseconds(50);
    open();
    const auto given = assignment(command({"sleep", "60"}), asking(Isolation::exclusive));
    ASSERT_TRUE(prepare(given));
    const auto lease_until = in(milliseconds(400));
    processes_->start(given.attempt, {.go_until = in(seconds(9)), .lease_until = lease_until});
    wait_for(given.attempt, Kind::started);
    const auto end = end_of(given.attempt).end;
    EXPECT_EQ(end.cause, Cause::cut_off);
    EXPECT_EQ(end.ran, Ran::yes);
}

TEST_F(HostTreeTest, a_renewed_lease_lets_it_go_on) {
    crash();
    options_.timing.kill_margin = milliseconds(50);
    open();
    const auto given = assignment(command({"sleep", "60"}), asking(Isolation::exclusive));
    ASSERT_TRUE(prepare(given));
    const auto lease_until = in(milliseconds(400));
    processes_->start(given.attempt, {.go_until = in(seconds(9)), .lease_until = lease_until});
    processes_->renew(given.attempt, in(seconds(60)));
    until("the first lease is over", [&] { return in({}) > lease_until; });
    EXPECT_EQ(count(given.attempt, Kind::ended), 0U);
    processes_->kill(given.attempt, Cause::evicted);
    EXPECT_EQ(end_of(given.attempt).end.cause, Cause::evicted);
}

TEST_F(HostTreeTest, a_fenced_attempt_ends_when_worker_and_lease_are_gone) {
    crash();
    options_.timing.worker_silence = milliseconds(50);
    open();
    const auto given = assignment(command({"sleep", "60"}));
    ASSERT_TRUE(prepare(given));
    start(given.attempt, milliseconds(300));
    wait_for(given.attempt, Kind::started);
    crash();
    until("there is a result",
          [&] { return std::filesystem::exists(directory(given.attempt) + "/result.json"); });
    const auto life = open();
    ASSERT_EQ(life.found.size(), 1U);
    EXPECT_EQ(life.found[0].result->cause, Cause::cut_off);
}

TEST_F(HostTreeTest, a_killed_shim_takes_its_tree_with_it) {
    const auto key = begin(shell(litter() + "echo $$ > " + root_ + "/pid; sleep 60"));
    const auto leader = pid_in("pid");
    ::kill(parent_of(leader), SIGKILL);
    const auto event = end_of(key);
    EXPECT_EQ(event.end.cause, Cause::shim_lost);
    EXPECT_EQ(event.end.ran, Ran::maybe);
    EXPECT_FALSE(lives(leader));
    expect_litter_gone();
}

TEST_F(HostTreeTest, a_shim_killed_before_the_start_did_not_run_anything) {
    const auto given = assignment(command({"true"}), asking());
    ASSERT_TRUE(prepare(given));
    for (const auto& row : descendants_of(::getpid(), list_processes())) ::kill(row.pid, SIGKILL);
    const auto end = end_of(given.attempt).end;
    EXPECT_EQ(end.cause, Cause::shim_failed);
    EXPECT_EQ(end.ran, Ran::no);
}

TEST_F(HostTreeTest, a_command_on_its_way_dies_with_its_shim) {
    const auto given = assignment(shell("touch " + root_ + "/ran; sleep 60"), asking());
    ASSERT_TRUE(prepare(given));
    const auto shim = descendants_of(::getpid(), list_processes()).at(0).pid;
    const auto child = stopped_on_its_way(given.attempt, shim);
    ::kill(shim, SIGKILL);
    EXPECT_EQ(end_of(given.attempt).end.cause, Cause::shim_lost);
    EXPECT_NE(::ptrace(PTRACE_DETACH, child, nullptr, nullptr), 0) << "it is still there";
    EXPECT_FALSE(std::filesystem::exists(root_ + "/ran"));
}

TEST_F(HostTreeTest, a_shim_that_hangs_does_not_keep_its_process_alive) {
    const auto key = begin(shell("echo $$ > " + root_ + "/pid; exec sleep 60"));
    const auto leader = pid_in("pid");
    ::kill(parent_of(leader), SIGSTOP);
    processes_->kill(key, Cause::cut_off);
    const auto end = end_of(key).end;
    EXPECT_EQ(end.cause, Cause::cut_off);
    EXPECT_EQ(end.ran, Ran::maybe);
    EXPECT_FALSE(lives(leader));
}

}  // namespace
}  // namespace perdure
