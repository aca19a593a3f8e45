#include "bench/text_table.h"

#include <gtest/gtest.h>

namespace perdure::bench {
namespace {

TEST(Columns, are_as_wide_as_their_widest_cell_in_characters) {
    EXPECT_EQ(columns({{"a", "b", "c"}, {"≥ 1", "bb", "cc"}}), "a    b   c\n≥ 1  bb  cc\n");
    EXPECT_EQ(columns({}), "");
}

}  // namespace
}  // namespace perdure::bench
