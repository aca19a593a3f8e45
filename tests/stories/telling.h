// Telling: a story whose broken promises, and waits in vain, fail the test that tells it.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "core/job/job.h"
#include "sim/story.h"

namespace perdure {

inline void PrintTo(JobState state, std::ostream* out) { *out << to_string(state); }
inline void PrintTo(Cause cause, std::ostream* out) { *out << to_string(cause); }
inline void PrintTo(Ran ran, std::ostream* out) { *out << to_string(ran); }

}  // namespace perdure

namespace perdure::stories {

using namespace perdure::sim;
using End = Script::End;

class Story : public sim::Story {
public:
    using sim::Story::Story;
    ~Story() override {
        if (const auto wrong = complaint()) ADD_FAILURE() << *wrong << "\n" << replay();
    }

    std::string replay() {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        return sim::Story::replay() +
               "replay: stories_test --gtest_filter=" + test->test_suite_name() + "." +
               test->name();
    }
};

}  // namespace perdure::stories
