#include "platform/process_metrics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <string>

namespace perdure::process_metrics_test {
namespace {

double value_of(const std::string& text, const std::string& name) {
    const auto line = text.find("\n" + name + " ");
    if (line == std::string::npos) return -1;
    return std::stod(text.substr(line + name.size() + 2));
}

std::string metrics() {
    MetricsText text;
    append_process_metrics(text);
    return text.take();
}

TEST(ProcessMetrics, are_those_of_this_process) {
    const auto text = metrics();
    EXPECT_GT(value_of(text, "process_resident_memory_bytes"), 1'000'000) << text;
    EXPECT_GT(value_of(text, "process_virtual_memory_bytes"),
              value_of(text, "process_resident_memory_bytes"));
    EXPECT_GE(value_of(text, "process_cpu_seconds_total"), 0);
    EXPECT_GE(value_of(text, "process_max_fds"), value_of(text, "process_open_fds"));
    const auto now = static_cast<double>(std::time(nullptr));
    EXPECT_LE(value_of(text, "process_start_time_seconds"), now + 2);
    EXPECT_GT(value_of(text, "process_start_time_seconds"), now - 3'600);
}

TEST(ProcessMetrics, count_descriptors_without_their_own) {
    const auto before = value_of(metrics(), "process_open_fds");
    const int more = ::dup(0);
    ASSERT_GE(more, 0);
    EXPECT_EQ(value_of(metrics(), "process_open_fds"), before + 1);
    ::close(more);
    EXPECT_EQ(value_of(metrics(), "process_open_fds"), before);
}

}  // namespace
}  // namespace perdure::process_metrics_test
