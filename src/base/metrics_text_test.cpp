#include "base/metrics_text.h"

#include <gtest/gtest.h>

namespace perdure::metrics_text_test {
namespace {

TEST(MetricsText, explains_a_family_before_its_samples) {
    MetricsText text;
    text.family("x_total", MetricType::counter, "What it counts.");
    text.sample({{"a", "b"}, {"c", "d"}}, std::uint64_t{7});
    text.sample({}, 0.5);
    EXPECT_EQ(text.take(),
              "# HELP x_total What it counts.\n# TYPE x_total counter\n"
              "x_total{a=\"b\",c=\"d\"} 7\nx_total 0.5\n");
}

TEST(MetricsText, a_label_may_be_any_text) {
    MetricsText text;
    text.family("x", MetricType::gauge, "Help.");
    text.sample({{"a", "quote\" back\\slash\nline"}}, std::uint64_t{1});
    EXPECT_NE(text.take().find("x{a=\"quote\\\" back\\\\slash\\nline\"} 1\n"), std::string::npos);
}

TEST(MetricsText, a_histogram_counts_cumulatively_and_what_is_beyond_all_bounds_too) {
    Histogram times;
    times.add(milliseconds(3));
    times.add(milliseconds(300));
    times.add(hours(48));
    MetricsText text;
    text.family("x_seconds", MetricType::histogram, "Help.");
    text.sample({{"a", "b"}}, times);
    const auto found = text.take();
    EXPECT_NE(found.find("x_seconds_bucket{a=\"b\",le=\"0.005\"} 1\n"), std::string::npos) << found;
    EXPECT_NE(found.find("x_seconds_bucket{a=\"b\",le=\"86400\"} 2\n"), std::string::npos) << found;
    EXPECT_NE(found.find("x_seconds_bucket{a=\"b\",le=\"+Inf\"} 3\n"), std::string::npos) << found;
    EXPECT_NE(found.find("x_seconds_count{a=\"b\"} 3\n"), std::string::npos) << found;
}

TEST(MetricsText, a_histogram_needs_no_labels) {
    Histogram times;
    times.add(seconds(1));
    MetricsText text;
    text.single("x", MetricType::histogram, "Help.", times);
    const auto found = text.take();
    EXPECT_NE(found.find("x_bucket{le=\"1\"} 1\n"), std::string::npos) << found;
    EXPECT_NE(found.find("x_sum 1\nx_count 1\n"), std::string::npos) << found;
}

}  // namespace
}  // namespace perdure::metrics_text_test
