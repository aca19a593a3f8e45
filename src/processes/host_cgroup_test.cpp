// Attempts in cgroups, where this machine lets us have them.
#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>

#include "processes/harness.h"
#include "processes/host_processes.h"

namespace perdure {
namespace {

class HostCgroupTest : public ProcessesTest {
protected:
    void SetUp() override {
        options_.cgroups = true;
        open();
        if (processes_->containment() == Containment::none)
            GTEST_SKIP() << "there are no cgroups for us here";
    }
    void TearDown() override {
        if (processes_) processes_->stopped_cleanly();
    }
    static JobSpec tells_its_cgroup() { return shell("grep ^0:: /proc/self/cgroup"); }
    std::string cgroup_of(AttemptKey key) {
        end_of(key);
        return output(key);
    }
};

TEST_F(HostCgroupTest, a_command_runs_in_a_slot_that_is_used_again) {
    const auto first = cgroup_of(begin(tells_its_cgroup()));
    EXPECT_NE(first.find("/slot-"), std::string::npos) << first;
    EXPECT_EQ(cgroup_of(begin(tells_its_cgroup())), first);
}

TEST_F(HostCgroupTest, a_slot_that_somebody_has_taken_away_is_made_again) {
    cgroup_of(begin(tells_its_cgroup()));
    processes_->stopped_cleanly();  // takes away what nobody uses
    EXPECT_NE(cgroup_of(begin(tells_its_cgroup())).find("/slot-"), std::string::npos);
}

TEST_F(HostCgroupTest, groups_of_workers_that_are_gone_are_removed_and_those_in_use_are_not) {
    const auto parent = hierarchies_here().v2;
    const auto mark = std::to_string(::getpid());
    const auto abandoned = parent + "/perdure-0-" + mark;
    const auto in_use = parent + "/perdure-1-" + mark;
    for (const auto& group : {abandoned, in_use})
        ASSERT_TRUE(std::filesystem::create_directories(group + "/slot-0")) << group;
    const Fd lock(::open(in_use.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_EQ(::flock(lock.get(), LOCK_SH), 0);
    const auto own = cgroup_of(begin(tells_its_cgroup()));
    crash();
    open();
    EXPECT_FALSE(std::filesystem::exists(abandoned));
    EXPECT_TRUE(std::filesystem::exists(in_use + "/slot-0"));
    EXPECT_EQ(cgroup_of(begin(tells_its_cgroup())), own) << "its own";
    ::rmdir((in_use + "/slot-0").c_str());
    ::rmdir(in_use.c_str());
}

TEST_F(HostCgroupTest, an_adopted_attempt_keeps_its_slot_also_if_lower_ones_are_gone) {
    const auto first = begin(shell("read line < " + root_ + "/gate"));
    ASSERT_EQ(::mkfifo((root_ + "/gate").c_str(), 0600), 0);
    const auto key = begin(shell("grep ^0:: /proc/self/cgroup; sleep 60"));
    until("it has said where it is", [&] { return !output(key).empty(); });
    const auto slot = output(key);
    processes_->kill(first, Cause::cancelled);
    end_of(first);
    processes_->forget(first);
    processes_->stopped_cleanly();  // takes the free one away, which has a lower number
    crash();
    open();
    std::vector<AttemptKey> others;
    for (int i = 0; i < 3; ++i)
        others.push_back(begin(shell("grep ^0:: /proc/self/cgroup; sleep 60")));
    for (const auto other : others) {
        until("it has said where it is", [&] { return !output(other).empty(); });
        EXPECT_NE(output(other), slot);
        processes_->kill(other, Cause::cancelled);
        end_of(other);
    }
    processes_->kill(key, Cause::cancelled);
    end_of(key);
}

TEST_F(HostCgroupTest, an_adopted_attempt_keeps_its_slot) {
    const auto key = begin(shell("grep ^0:: /proc/self/cgroup; sleep 60"));
    until("it has said where it is", [&] { return !output(key).empty(); });
    const auto slot = output(key);
    crash();
    open();
    EXPECT_NE(cgroup_of(begin(tells_its_cgroup())), slot);
    processes_->kill(key, Cause::cancelled);
    end_of(key);
}

TEST_F(HostCgroupTest, a_slot_is_cleared_when_its_shim_is_killed) {
    const auto key =
        begin(shell("env -i setsid sh -c 'echo $$ > " + root_ + "/pid; sleep 60' & wait"));
    const auto hidden = pid_in("pid");
    for (const auto& row : list_processes())
        if (row.parent == ::getpid()) ::kill(row.pid, SIGKILL);
    EXPECT_EQ(end_of(key).end.cause, Cause::shim_lost);
    EXPECT_FALSE(lives(hidden));
}

TEST_F(HostCgroupTest, a_tree_is_killed_as_a_whole) {
    const auto key = begin(shell("setsid sh -c 'trap \"\" TERM; echo $$ > " + root_ +
                                 "/pid; while :; do sleep 1; done' & wait"));
    const auto hidden = pid_in("pid");
    processes_->kill(key, Cause::cancelled);
    EXPECT_EQ(end_of(key).end.cause, Cause::cancelled);
    EXPECT_FALSE(lives(hidden));
}

}  // namespace
}  // namespace perdure
