#include "shim/tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace perdure::tree_test {
namespace {

pid_t a_child_that_waits() {
    const auto pid = ::fork();
    if (pid == 0) {
        ::pause();
        ::_exit(0);
    }
    return pid;
}

// Between the look at /proc and the signal the process may have died, and its number may be
// another's: that one has another parent.
TEST(SignalIfSame, spares_a_process_that_has_got_the_number_since) {
    const auto child = a_child_that_waits();
    EXPECT_FALSE(signal_if_same({.pid = child, .parent = ::getpid() + 1, .state = 'S'}, SIGKILL));
    EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0);
    EXPECT_TRUE(signal_if_same({.pid = child, .parent = ::getpid(), .state = 'S'}, SIGKILL));
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_FALSE(signal_if_same({.pid = child, .parent = ::getpid(), .state = 'S'}, SIGKILL));
}

TEST(DescendantsOf, finds_the_whole_tree_and_nothing_else) {
    const std::vector<ProcessRow> all = {{.pid = 1, .parent = 0},   {.pid = 10, .parent = 1},
                                         {.pid = 11, .parent = 10}, {.pid = 12, .parent = 11},
                                         {.pid = 20, .parent = 1},  {.pid = 13, .parent = 10}};
    std::vector<pid_t> found;
    for (const auto& row : descendants_of(10, all)) found.push_back(row.pid);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, (std::vector<pid_t>{11, 12, 13}));
}

}  // namespace
}  // namespace perdure::tree_test
