// Limits of resources, where this machine has the controllers. Of memory only where our own group
// is the root of its hierarchy: the groups of others are not ours to add to.
#include "processes/disk/controllers.h"
#include "processes/testing/harness.h"

namespace perdure {
namespace {

class HostLimitsTest : public ProcessesTest {
protected:
    void SetUp() override {
        options_.cgroups = true;
        directory_ = open().directory;
    }
    void TearDown() override {
        if (processes_) processes_->stopped_cleanly();
    }
    static JobSpec with(JobSpec spec, Resources resources) {
        spec.resources = resources;
        return spec;
    }
    // Of this state directory: others on this machine run the same test.
    std::size_t groups_of(AttemptKey key) const {
        const auto name = "/perdure-" + std::to_string(directory_.device) + "-" +
                          std::to_string(directory_.inode) + "/" + key.job.text() + ".1";
        std::size_t number = 0;
        for (const auto& group : hierarchies_here().v1)
            number += !group.empty() && std::filesystem::exists(group + name);
        return number;
    }
    StateDirectory directory_;
};

TEST_F(HostLimitsTest, the_number_of_processes_holds_for_the_whole_tree) {
    if (!processes_->enforceable().processes) GTEST_SKIP() << "no controller for processes here";
    const auto key = begin(
        with(shell("for i in 1 2 3 4 5 6 7 8; do sleep 5 & done 2>&1; echo $(jobs -p | wc -l)"),
             {.processes = 4}));
    const auto end = end_of(key);
    EXPECT_FALSE(end.end.succeeded);  // a shell that cannot fork gives up
    EXPECT_NE(output(key).find("ork"), std::string::npos) << output(key);
    EXPECT_EQ(groups_of(key), 0U);
}

TEST_F(HostLimitsTest, a_limit_of_one_job_is_not_the_next_ones) {
    if (!processes_->enforceable().processes) GTEST_SKIP() << "no controller for processes here";
    end_of(with(shell("true"), {.processes = 2}));
    EXPECT_TRUE(end_of(shell("sleep 0 & sleep 0 & sleep 0 & sleep 0 & wait")).end.succeeded);
}

TEST_F(HostLimitsTest, cpu_time_is_throttled) {
    if (!processes_->enforceable().cpu) GTEST_SKIP() << "no controller for cpu time here";
    const auto key = begin(with(shell("timeout 2 sh -c 'while :; do :; done'; "
                                      "group=$(grep -E '^[0-9]+:([a-z_,]*,)?cpu(,|:)' "
                                      "/proc/self/cgroup | cut -d: -f3); echo $group; "
                                      "cat /sys/fs/cgroup/cpu*$group/cpu.stat | "
                                      "grep nr_throttled"),
                                {.cpu_percent = 10}));
    end_of(key);
    const auto said = output(key);
    const auto at = said.find("nr_throttled ");
    ASSERT_NE(at, std::string::npos) << said;
    EXPECT_GT(std::stoi(said.substr(at + 13)), 0) << said;
}

TEST_F(HostLimitsTest, too_much_memory_is_oom_and_nothing_else_is) {
    if (!processes_->enforceable().memory) GTEST_SKIP() << "no controller for memory here";
    const Resources little{.memory = std::uint64_t{32} << 20};
    EXPECT_EQ(end_of(with(command({"tail", "/dev/zero"}), little)).end.cause, Cause::oom);
    // Its leader goes on and says itself how it ended.
    const auto survived = end_of(with(shell("tail /dev/zero; exit 7"), little));
    EXPECT_EQ(survived.end.cause, Cause::exit);
    EXPECT_EQ(survived.end.exit_code, 7);
    // Killed by a person, within its limits.
    EXPECT_EQ(end_of(with(shell("kill -9 $$"), little)).end.cause, Cause::crash_signal);
}

TEST_F(HostLimitsTest, a_kill_by_somebody_unknown_is_not_called_oom) {
    const auto end = end_of(shell("kill -9 $$"));
    EXPECT_EQ(end.end.cause, Cause::crash_signal);
    EXPECT_EQ(end.end.exit_code, SIGKILL);
    EXPECT_EQ(end.evidence->detail, "signal 9, sender unknown");
}

TEST_F(HostLimitsTest, an_adopted_attempt_keeps_its_limits_and_leaves_no_group) {
    if (!processes_->enforceable().processes) GTEST_SKIP() << "no controller for processes here";
    const auto key = begin(with(shell("echo here; sleep 60"), {.processes = 8}));
    until("it runs", [&] { return !output(key).empty(); });
    crash();
    open();
    EXPECT_EQ(groups_of(key),
              hierarchies_here().v1[static_cast<std::size_t>(Controller::pids)].empty() ? 0U : 1U);
    processes_->kill(key, Cause::cancelled);
    end_of(key);
    EXPECT_EQ(groups_of(key), 0U);
}

using LimitlessHost = ProcessesTest;

TEST_F(LimitlessHost, what_cannot_be_limited_does_not_run) {
    options_.cgroups = false;
    open();
    for (const Resources asked :
         {Resources{.memory = 1 << 20}, Resources{.cpu_percent = 50}, Resources{.processes = 5}}) {
        auto spec = shell("true");
        spec.resources = asked;
        const auto prepared = prepare(assignment(std::move(spec)));
        ASSERT_TRUE(prepared.is(Errc::overloaded));  // no_resources
        EXPECT_NE(prepared.error().what.find("cannot limit"), std::string::npos);
        EXPECT_NE(prepared.error().what.find("what it can limit: none"), std::string::npos);
    }
}

}  // namespace
}  // namespace perdure
