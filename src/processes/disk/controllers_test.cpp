// The texts were recorded on machines of each kind.
#include "processes/disk/controllers.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "shim/shim.h"

namespace perdure {
namespace {

constexpr auto memory = static_cast<std::size_t>(Controller::memory);
constexpr auto cpu = static_cast<std::size_t>(Controller::cpu);
constexpr auto pids = static_cast<std::size_t>(Controller::pids);

TEST(CgroupHierarchies, of_a_service_on_a_machine_with_v2_alone) {
    const auto found = hierarchies_in(
        "24 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
        "30 24 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
        "0::/system.slice/perdure.service\n");
    EXPECT_EQ(found.v2, "/sys/fs/cgroup/system.slice/perdure.service");
    EXPECT_TRUE(found.v2_is_alone);
}

TEST(CgroupHierarchies, after_we_have_stepped_aside) {
    const auto found = hierarchies_in("30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
                                      "0::/system.slice/perdure.service/perdure-main\n");
    EXPECT_EQ(found.v2, "/sys/fs/cgroup/system.slice/perdure.service");
}

TEST(CgroupHierarchies, of_a_container_that_sees_its_own_group_as_the_root) {
    const auto found =
        hierarchies_in("690 689 0:29 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/\n");
    EXPECT_EQ(found.v2, "/sys/fs/cgroup");
}

TEST(CgroupHierarchies, of_a_hybrid_machine) {
    const auto found = hierarchies_in(
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
        "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
        "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
        "9:name=systemd:/\n8:pids:/\n4:memory:/some/group\n2:cpu,cpuacct:/\n0::/\n");
    EXPECT_EQ(found.v2, "/sys/fs/cgroup/unified");
    EXPECT_FALSE(found.v2_is_alone);
    EXPECT_EQ(found.v1[memory], "/sys/fs/cgroup/memory/some/group");
    EXPECT_EQ(found.v1[cpu], "/sys/fs/cgroup/cpu,cpuacct");
    EXPECT_EQ(found.v1[pids], "/sys/fs/cgroup/pids");
}

TEST(CgroupHierarchies, of_a_container_whose_mount_shows_a_part_only) {
    const auto mount =
        "35 31 0:32 /docker/ab /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n";
    EXPECT_EQ(hierarchies_in(mount, "4:memory:/docker/ab\n").v1[memory], "/sys/fs/cgroup/memory");
    EXPECT_EQ(hierarchies_in(mount, "4:memory:/docker/ab/x\n").v1[memory],
              "/sys/fs/cgroup/memory/x");
    EXPECT_EQ(hierarchies_in(mount, "4:memory:/elsewhere\n").v1[memory], "");
}

TEST(CgroupHierarchies, of_nothing_and_of_nonsense) {
    for (const std::string_view text : {"", "\n\n", "a - b\n", "1 2 3 / - cgroup2\n"}) {
        const auto found = hierarchies_in(text, text);
        EXPECT_EQ(found.v1, Hierarchies{}.v1) << text;
    }
}

TEST(OomCounter, is_read_in_both_forms) {
    EXPECT_EQ(oom_kills_in("low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n"), 3U);
    EXPECT_EQ(oom_kills_in("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"), 2U);
    EXPECT_EQ(oom_kills_in("oom_kill_disable 0\nunder_oom 0\n"), 0U);
    EXPECT_EQ(oom_kills_in(""), 0U);
    EXPECT_EQ(oom_kills_in("oom_kill x\n"), 0U);
}

// A folder that looks like a hierarchy: what is written into which file.
class ControllerFiles : public testing::Test {
protected:
    ControllerFiles() {
        std::string pattern = std::filesystem::temp_directory_path() / "perdure-groups-XXXXXX";
        root_ = ::mkdtemp(pattern.data());
    }
    ~ControllerFiles() override { std::filesystem::remove_all(root_); }
    void file(const std::string& name, const std::string& text = "") {
        std::filesystem::create_directories(std::filesystem::path(root_ + name).parent_path());
        std::ofstream(root_ + name) << text;
    }
    std::string text(const std::string& name) {
        std::string line;
        std::ifstream stream(root_ + name);
        std::getline(stream, line);
        return line;
    }
    std::string root_;
    Controllers controllers_;
};

TEST_F(ControllerFiles, a_slot_of_v2_gets_the_limits_and_loses_them) {
    file("/own/cgroup.controllers", "cpuset cpu io memory pids\n");
    for (const auto* switches : {"/own/cgroup.subtree_control", "/own/p/cgroup.subtree_control"})
        file(switches);
    for (const auto* name :
         {"memory.max", "memory.swap.max", "memory.oom.group", "cpu.max", "pids.max"})
        file(std::string("/own/p/slot-0/") + name, "max");
    controllers_.detect({.v2 = root_ + "/own", .v2_is_alone = true}, root_ + "/own/p", "x");
    EXPECT_EQ(controllers_.enforceable(), (Enforceable{true, true, true}));
    const auto slot = root_ + "/own/p/slot-0";
    const auto limited =
        controllers_.limit({.memory = 1 << 20, .cpu_percent = 150, .processes = 64}, slot, "a.1");
    ASSERT_TRUE(limited) << limited.error().what;
    EXPECT_TRUE(limited->joins.empty());
    EXPECT_EQ(limited->oom_counter, slot + "/memory.events");
    EXPECT_EQ(text("/own/p/slot-0/memory.max"), "1048576");
    EXPECT_TRUE(text("/own/p/slot-0/memory.swap.max").starts_with("0"));
    EXPECT_EQ(text("/own/p/slot-0/cpu.max"), "150000 100000");
    EXPECT_TRUE(text("/own/p/slot-0/pids.max").starts_with("64"));
    controllers_.release(slot, "a.1");
    EXPECT_TRUE(text("/own/p/slot-0/memory.max").starts_with("max"));
    EXPECT_TRUE(text("/own/p/slot-0/cpu.max").starts_with("max"));
    EXPECT_TRUE(text("/own/p/slot-0/pids.max").starts_with("max"));
}

TEST_F(ControllerFiles, what_cannot_be_written_is_refused_and_nothing_stays) {
    file("/m/memory.limit_in_bytes");
    Hierarchies here;
    here.v1[memory] = root_ + "/m";
    controllers_.detect(here, "", "x");
    EXPECT_EQ(controllers_.enforceable(), (Enforceable{.memory = true}));
    const auto limited = controllers_.limit({.memory = 1 << 20}, "", "a.1");
    ASSERT_TRUE(limited.is(Errc::overloaded));
    EXPECT_NE(limited.error().what.find("memory.limit_in_bytes"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(root_ + "/m/perdure-x/a.1"));
}

TEST_F(ControllerFiles, a_machine_without_controllers_can_limit_nothing) {
    controllers_.detect({}, "", "x");
    EXPECT_EQ(controllers_.enforceable(), Enforceable{});
    EXPECT_EQ(to_text(controllers_.enforceable()), "none");
}

}  // namespace
}  // namespace perdure
