// Attempts in cgroups, where this machine lets us have them.
#include <fcntl.h>
#include <sys/file.h>

#include <boost/asio/steady_timer.hpp>
#include <filesystem>

#include "processes/disk/cgroup_slots.h"
#include "processes/host_processes.h"
#include "processes/testing/harness.h"

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
    // Prepared, and not yet told to start: its slot is empty.
    AttemptKey waiting(JobSpec spec) {
        const auto given = assignment(std::move(spec), asking());
        EXPECT_TRUE(prepare(given));
        return given.attempt;
    }
    std::string own_group() const {
        struct stat about {};
        EXPECT_EQ(::stat(options_.directory.c_str(), &about), 0);
        return hierarchies_here().v2 + "/perdure-" + std::to_string(about.st_dev) + "-" +
               std::to_string(about.st_ino);
    }
    // What the start of a worker with another state directory does to our groups.
    static void start_a_neighbour() {
        CgroupSlots others;
        others.detect(hierarchies_here(), "2-" + std::to_string(::getpid()));
        others.remove_unused();
    }
};

TEST_F(HostCgroupTest, a_command_runs_in_a_slot_that_is_used_again) {
    const auto first = cgroup_of(begin(tells_its_cgroup()));
    EXPECT_NE(first.find("/slot-"), std::string::npos) << first;
    EXPECT_EQ(cgroup_of(begin(tells_its_cgroup())), first);
}

// A service manager starts a unit's process in the unit's own group, and the system refuses that
// while groups below it have controllers: so the jobs of a service run beside it.
TEST_F(HostCgroupTest, groups_are_made_where_the_configuration_wants_them) {
    const auto elsewhere = hierarchies_here().v2 + "/elsewhere-" + std::to_string(::getpid());
    ASSERT_TRUE(std::filesystem::create_directory(elsewhere));
    processes_->stopped_cleanly();
    crash();
    options_.cgroup = elsewhere;
    open();
    const auto slot = cgroup_of(begin(tells_its_cgroup()));
    EXPECT_NE(slot.find("/elsewhere-"), std::string::npos) << slot;
    processes_->stopped_cleanly();
    EXPECT_EQ(::rmdir(elsewhere.c_str()), 0) << "it leaves nothing in it";
}

TEST_F(HostCgroupTest, a_worker_does_not_start_without_the_group_that_it_was_told_to_use) {
    crash();
    options_.cgroup = root_;
    const auto refused = try_open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid);
    EXPECT_TRUE(refused.error().what.starts_with("worker.cgroup: " + root_ + " is no cgroup"));
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

TEST_F(HostCgroupTest, the_slot_of_a_waiting_attempt_stays_while_its_worker_is_away) {
    const auto key = waiting(tells_its_cgroup());
    crash();
    start_a_neighbour();
    EXPECT_TRUE(std::filesystem::exists(own_group() + "/slot-0"));
    open();
    start(key);
    EXPECT_EQ(end_of(key).end.cause, Cause::exit);
}

// Its limits went with the slot, so it does not run; and it kills nobody.
TEST_F(HostCgroupTest, a_slot_that_is_gone_while_its_attempt_waits_is_given_to_no_other) {
    const auto key = waiting(tells_its_cgroup());
    crash();
    ASSERT_TRUE(std::filesystem::remove(own_group() + "/slot-0"));
    ASSERT_TRUE(std::filesystem::remove(own_group()));
    open();
    const auto other = begin(shell("grep ^0:: /proc/self/cgroup; sleep 60"));
    until("it has said where it is", [&] { return !output(other).empty(); });
    EXPECT_EQ(output(other).find("/slot-0"), std::string::npos) << output(other);
    start(key);
    EXPECT_EQ(end_of(key).end.cause, Cause::no_resources);
    EXPECT_EQ(end_of(key).end.ran, Ran::no);
    processes_->kill(other, Cause::cancelled);
    EXPECT_EQ(end_of(other).end.cause, Cause::cancelled);
}

TEST_F(HostCgroupTest, a_group_that_a_neighbour_looks_at_for_long_is_locked_afterwards) {
    crash();
    Fd neighbour(::open(own_group().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_EQ(::flock(neighbour.get(), LOCK_EX | LOCK_NB), 0);
    boost::asio::steady_timer looks(context_, std::chrono::milliseconds(100));
    looks.async_wait([&](auto) { ::flock(neighbour.get(), LOCK_UN); });
    open();
    EXPECT_NE(::flock(neighbour.get(), LOCK_EX | LOCK_NB), 0) << "nobody says that it is in use";
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
