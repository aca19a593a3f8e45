#include "base/histogram.h"

#include <gtest/gtest.h>

namespace perdure::histogram_test {
namespace {

TEST(Histogram, counts_cumulatively_and_what_is_beyond_all_bounds_too) {
    Histogram times;
    times.add(milliseconds(3));
    times.add(milliseconds(300));
    times.add(hours(1));
    std::string text;
    times.append(text, "x", "a=\"b\"");
    EXPECT_NE(text.find("x_bucket{a=\"b\",le=\"0.005\"} 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("x_bucket{a=\"b\",le=\"600\"} 2\n"), std::string::npos) << text;
    EXPECT_NE(text.find("x_bucket{a=\"b\",le=\"+Inf\"} 3\n"), std::string::npos) << text;
    EXPECT_NE(text.find("x_count{a=\"b\"} 3\n"), std::string::npos) << text;
}

TEST(Histogram, needs_no_labels) {
    Histogram times;
    times.add(seconds(1));
    std::string text;
    times.append(text, "x", "");
    EXPECT_NE(text.find("x_bucket{le=\"1\"} 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("x_sum 1\nx_count 1\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace perdure::histogram_test
