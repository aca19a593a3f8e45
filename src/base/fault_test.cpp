#include "base/fault.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <set>

namespace perdure::fault_test {
namespace {

// Faults are of the whole process: each test leaves none behind.
class Faults : public testing::Test {
protected:
    ~Faults() override {
        arm_faults({}, "", 0);
        std::remove(file_.c_str());
    }
    void arm(const std::vector<std::string>& words) {
        auto faults = parse_faults(words);
        ASSERT_TRUE(faults) << faults.error().what;
        arm_faults(std::move(*faults), file_, 7);
    }
    std::string file_ = testing::TempDir() + "/faults-" + std::to_string(::getpid());
};

std::string refusal(const std::string& word) {
    const auto faults = parse_faults({word});
    return faults ? "accepted" : faults.error().what;
}

TEST(FaultPoints, have_names_and_sentences_of_their_own) {
    std::set<std::string_view> seen;
    for (const auto& point : fault_points) {
        EXPECT_TRUE(seen.insert(point.name).second) << point.name;
        EXPECT_TRUE(seen.insert(point.sentence).second) << point.name;
        EXPECT_EQ(fault_named(point.name), point.fault);
    }
    EXPECT_GE(fault_count, 20U);
}

TEST(FaultPoints, are_armed_by_name_percentage_and_count) {
    const auto faults = parse_faults({"shim.exec_fails", "store.full=7%", "store.conflict=50%x3"});
    ASSERT_TRUE(faults);
    EXPECT_EQ((*faults)[0].percent, 100U);
    EXPECT_EQ((*faults)[0].times, ArmedFault::always);
    EXPECT_EQ((*faults)[1].percent, 7U);
    EXPECT_EQ((*faults)[2].times, 3U);
}

TEST(FaultPoints, refuse_what_they_do_not_understand) {
    EXPECT_EQ(refusal("shim.explodes"),
              "there is no fault point `shim.explodes`; `perdure faults` lists them");
    EXPECT_EQ(refusal("store.full=101%"),
              "`store.full=101%` is not understood; write it like store.full=100%x1");
    for (const auto* word : {"store.full=", "store.full=5", "store.full=x1", "store.full=5%x",
                             "store.full=5%y1", "store.full=-1%", ""})
        EXPECT_NE(refusal(word), "accepted") << word;
}

TEST_F(Faults, never_strike_unless_they_are_armed) {
    EXPECT_FALSE(strikes(Fault::store_full));
    arm({"store.conflict"});
    EXPECT_FALSE(strikes(Fault::store_full));
    EXPECT_TRUE(strikes(Fault::store_conflict));
}

TEST_F(Faults, strike_as_often_as_they_are_armed_for_over_all_lives) {
    arm({"store.full=100%x3"});
    EXPECT_TRUE(strikes(Fault::store_full));
    EXPECT_TRUE(strikes(Fault::store_full));
    arm({"store.full=100%x3"});  // the next life
    EXPECT_TRUE(strikes(Fault::store_full));
    EXPECT_FALSE(strikes(Fault::store_full));
    arm({"store.full=100%x4"});  // armed anew
    EXPECT_TRUE(strikes(Fault::store_full));
}

TEST_F(Faults, strike_about_as_often_as_the_percentage_says) {
    arm({"store.full=20%"});
    int struck = 0;
    for (int i = 0; i < 2000; ++i) struck += strikes(Fault::store_full);
    EXPECT_GT(struck, 300);
    EXPECT_LT(struck, 500);
    arm({"store.full=0%"});
    EXPECT_FALSE(strikes(Fault::store_full));
}

TEST_F(Faults, kill_the_process_and_have_counted_it_before) {
    arm({"worker.after_spawn=100%x1"});
    const auto child = ::fork();
    if (child == 0) {
        die_if(Fault::worker_after_spawn);
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    arm({"worker.after_spawn=100%x1"});
    EXPECT_FALSE(strikes(Fault::worker_after_spawn));
}

}  // namespace
}  // namespace perdure::fault_test
