#include "core/ownership/timing.h"

#include <gtest/gtest.h>

namespace perdure::timing_test {
namespace {

constexpr Timing t;

TEST(Timing, a_session_may_miss_two_heartbeats_before_its_lease_ends) {
    EXPECT_LT(t.heartbeat * 3, t.lease);
    EXPECT_LT(t.heartbeat, t.suspect);
    EXPECT_LT(t.suspect, t.lease);
}

// O7: the process is gone before the server gives the job away.
TEST(Timing, an_exclusive_attempt_is_killed_before_its_lease_ends) {
    EXPECT_GT(t.kill_margin, t.worker_kill);
    EXPECT_LT(t.kill_margin, t.lease - t.heartbeat);
}

// T2: who was cut off by an outage comes back within the grace.
TEST(Timing, the_grace_is_longer_than_a_worker_needs_to_come_back) {
    EXPECT_GT(t.grace, t.call_timeout + t.reconnect_max);
    EXPECT_GE(t.first_tick, t.outage);
    EXPECT_LE(t.tick, t.tick_advance_max);
}

// O4: a go from an ask at the last moment is not good for longer than the start is awaited.
TEST(Timing, a_go_is_good_for_less_than_the_confirmation_of_a_start) { EXPECT_LT(t.go, t.confirm); }

TEST(Timing, recovery_fits_into_its_bounds) {
    EXPECT_LE(t.lease + t.tick * 2, seconds(12)) << "host gone";
    EXPECT_LE(t.confirm + t.tick * 2, seconds(5)) << "assignment lost";
    EXPECT_LE(t.keeper + t.tick * 2, seconds(3)) << "keeper dies";
    EXPECT_LE(t.submit_deadline, seconds(5)) << "[P11]";
}

}  // namespace
}  // namespace perdure::timing_test
