// The stories' own main: in the build with deliberate bugs it can be told to have one of them.
//   stories_zoo --bug NAME [--gtest_filter=...]    tells the stories with that bug
//   stories_test --seed NUMBER                     tells them with other delays
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/zoo.h"
#include "sim/story.h"

namespace {

bool let_loose([[maybe_unused]] perdure::Bug bug) {
#ifdef PERDURE_ZOO
    perdure::zoo_bug = bug;
    return true;
#else
    return false;
#endif
}

}  // namespace

int main(int count, char** arguments) {
    testing::InitGoogleTest(&count, arguments);
    if (count == 3 && std::string_view(arguments[1]) == "--bug") {
        const auto bug = perdure::bug_named(arguments[2]);
        if (!bug || !let_loose(*bug)) {
            std::fprintf(stderr, "there is no bug `%s` in this program\n", arguments[2]);
            return 2;
        }
    } else if (count == 3 && std::string_view(arguments[1]) == "--seed") {
        perdure::sim::default_seed = std::strtoull(arguments[2], nullptr, 10);
    } else if (count != 1) {
        std::fprintf(stderr, "usage: %s [--bug NAME | --seed NUMBER]\n", arguments[0]);
        return 2;
    }
    return RUN_ALL_TESTS();
}
