#include "wire/text/text_size.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

TEST(SizeText, is_read_and_written_with_units) {
    EXPECT_EQ(size_value("512MiB"), std::uint64_t{512} << 20);
    EXPECT_EQ(size_value("512M"), std::uint64_t{512} << 20);
    EXPECT_EQ(size_value("1000"), 1'000U);
    EXPECT_EQ(size_value("1000B"), 1'000U);
    EXPECT_EQ(size_value("2TiB"), std::uint64_t{2} << 40);
    for (const std::uint64_t bytes : {0ULL, 1ULL, 1'000ULL, 1'024ULL, 1'536ULL, 1ULL << 29, ~0ULL})
        EXPECT_EQ(size_value(size_text(bytes)), bytes);
    EXPECT_EQ(size_text(std::uint64_t{512} << 20), "512MiB");
}

TEST(SizeText, is_refused_if_it_is_no_amount) {
    for (const std::string_view text : {"", "MiB", "-1MiB", "1.5GiB", "1 GiB", "1mib", "1MB",
                                        "1GiBs", "99999999999999999999", "18446744073709551615KiB"})
        EXPECT_FALSE(size_value(text)) << text;
}

}  // namespace
}  // namespace perdure
