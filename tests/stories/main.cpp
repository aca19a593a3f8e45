// The stories' own main: in the build with deliberate bugs it can be told to have one of them.
//   stories_test --seed NUMBER     tells the stories with other delays
//   stories_zoo --bug NAME         tells them with that bug
// Both take --seed, and what every test program takes (--gtest_filter=...).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/zoo.h"
#include "sim/story.h"

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

bool understand(std::string_view option, const char* value) {
    if (option == "--bug") return arm_bug(value);
    if (option != "--seed") return false;
    perdure::sim::default_seed = std::strtoull(value, nullptr, 10);
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    testing::InitGoogleTest(&count, arguments);
    bool understood = count % 2 == 1;
    for (int i = 1; understood && i < count; i += 2)
        understood = understand(arguments[i], arguments[i + 1]);
    if (understood) return RUN_ALL_TESTS();
    std::fprintf(stderr, "usage: %s [--seed NUMBER] [--bug NAME (a bug of this program)]\n",
                 arguments[0]);
    return 2;
}
