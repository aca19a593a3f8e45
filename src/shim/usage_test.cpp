#include "shim/usage.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace perdure {
namespace {

TEST(ShimUsage, a_cgroup_says_its_times_in_microseconds) {
    const auto usage = usage_in_cpu_stat("usage_usec 50\nuser_usec 30\nsystem_usec 20\n");
    EXPECT_EQ(usage, (Usage{.cpu_user = microseconds(30), .cpu_system = microseconds(20)}));
    EXPECT_EQ(usage_in_cpu_stat("user_usec x\nnr_periods 3"), Usage{});
    EXPECT_EQ(usage_in_cpu_stat(""), Usage{});
}

TEST(ShimUsage, the_sum_of_the_reaped_has_their_children) {
    const auto child = ::fork();
    if (child == 0) {
        const auto grandchild = ::fork();
        const auto until = ::clock() + CLOCKS_PER_SEC / 20;
        if (grandchild == 0) {
            while (::clock() < until) {
            }
            ::_exit(0);
        }
        ::waitpid(grandchild, nullptr, 0);
        ::_exit(0);
    }
    rusage used{};
    ::wait4(child, nullptr, 0, &used);
    Usage usage;
    add_usage(usage, used);
    EXPECT_GE(usage.cpu_user + usage.cpu_system, milliseconds(40));
}

TEST(ShimUsage, a_group_counts_from_where_it_was_and_never_less_than_was_reaped) {
    const Usage before{.cpu_user = seconds(5), .cpu_system = seconds(5)};
    const Usage now{.cpu_user = seconds(8), .cpu_system = seconds(6)};
    const Usage reaped{.cpu_user = seconds(1), .cpu_system = seconds(1), .read_bytes = 7};
    EXPECT_EQ(greater_usage(reaped, before, now),
              (Usage{.cpu_user = seconds(3), .cpu_system = seconds(1), .read_bytes = 7}));
    EXPECT_EQ(greater_usage(reaped, now, {}), reaped) << "it could not be read any more";
    EXPECT_EQ(greater_usage(reaped, {}, {}), reaped);
}

}  // namespace
}  // namespace perdure
