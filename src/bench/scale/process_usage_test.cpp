#include "bench/scale/process_usage.h"

#include <gtest/gtest.h>

namespace perdure::bench {
namespace {

TEST(ProcessUsage, reads_processor_time_and_not_time_in_the_queue) {
    EXPECT_EQ(processor_ns_in("123456789 987654321 42\n"), 123'456'789U);
    EXPECT_EQ(processor_ns_in(""), 0U);
}

TEST(ProcessUsage, finds_a_number_by_its_whole_name) {
    constexpr std::string_view status =
        "voluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";
    EXPECT_EQ(number_in(status, "voluntary_ctxt_switches"), 150U);
    EXPECT_EQ(number_in(status, "nonvoluntary_ctxt_switches"), 545U);
    constexpr std::string_view io = "write_bytes: 4096\ncancelled_write_bytes: 7";
    EXPECT_EQ(number_in(io, "write_bytes"), 4096U);
    EXPECT_EQ(number_in(io, "cancelled_write_bytes"), 7U);
    EXPECT_EQ(number_in(io, "write"), 0U);
}

TEST(ProcessUsage, two_of_them_subtracted_are_what_was_used_in_between) {
    const ProcessUsage before{.processor_ns = 10, .wake_ups = 2, .written_bytes = 100};
    const ProcessUsage after{.processor_ns = 15, .wake_ups = 9, .written_bytes = 4196};
    const auto used = after - before;
    EXPECT_EQ(used.processor_ns, 5U);
    EXPECT_EQ(used.wake_ups, 7U);
    EXPECT_EQ(used.written_bytes, 4096U);
}

TEST(ProcessUsage, a_process_that_has_gone_has_used_nothing) {
    const auto used = usage_of({0});
    EXPECT_EQ(used.processor_ns, 0U);
    EXPECT_EQ(used.wake_ups, 0U);
    EXPECT_EQ(used.written_bytes, 0U);
}

}  // namespace
}  // namespace perdure::bench
