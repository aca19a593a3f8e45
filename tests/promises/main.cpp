// The program's own main: in the build with deliberate bugs it can be told to have one of them.
//   promises_zoo --bug NAME
#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

#include "base/zoo.h"

namespace {

bool arm_bug([[maybe_unused]] std::string_view name) {
#ifdef PERDURE_ZOO
    const auto bug = perdure::bug_named(name);
    if (bug) perdure::zoo_bug = *bug;
    return bug.has_value();
#else
    return false;
#endif
}

}  // namespace

int main(int count, char** arguments) {
    testing::InitGoogleTest(&count, arguments);
    const bool has_bug = count == 3 && std::string_view(arguments[1]) == "--bug";
    if (count == 1 || (has_bug && arm_bug(arguments[2]))) return RUN_ALL_TESTS();
    std::fprintf(stderr, "usage: %s [--bug NAME (a bug of this program)]\n", arguments[0]);
    return 2;
}
