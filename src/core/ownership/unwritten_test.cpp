#include "core/ownership/unwritten.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

const Timing timing;

UnwrittenFacts idle() { return {.says_nothing_new = true, .has_work = false}; }

TEST(DecideUnwritten, what_says_nothing_new_stays_in_memory_while_nothing_is_to_be_done) {
    EXPECT_TRUE(decide_unwritten(idle(), timing).stays_unwritten);
}

TEST(DecideUnwritten, news_and_work_are_written) {
    for (const bool news : {false, true}) {
        for (const bool work : {false, true}) {
            auto facts = idle();
            facts.says_nothing_new = !news;
            facts.has_work = work;
            EXPECT_EQ(decide_unwritten(facts, timing).stays_unwritten, !news && !work);
        }
    }
}

TEST(DecideUnwritten, time_is_written_when_a_deadline_comes_near) {
    auto facts = idle();
    facts.due_in = timing.unwritten_before_due;
    EXPECT_FALSE(decide_unwritten(facts, timing).stays_unwritten);
    facts.due_in = timing.unwritten_before_due + microseconds(1);
    EXPECT_TRUE(decide_unwritten(facts, timing).stays_unwritten);
}

TEST(DecideUnwritten, nothing_stays_unwritten_for_longer_than_it_may) {
    auto facts = idle();
    facts.unwritten_for = timing.unwritten - microseconds(1);
    EXPECT_TRUE(decide_unwritten(facts, timing).stays_unwritten);
    facts.unwritten_for = timing.unwritten;
    EXPECT_FALSE(decide_unwritten(facts, timing).stays_unwritten);
    EXPECT_TRUE(decide_unwritten(facts, timing).is_idle) << "there is still nothing to be done";
}

TEST(DecideUnwritten, with_news_work_or_a_deadline_nothing_is_idle) {
    auto news = idle();
    news.says_nothing_new = false;
    auto work = idle();
    work.has_work = true;
    auto deadline = idle();
    deadline.due_in = timing.unwritten_before_due;
    for (const auto& facts : {news, work, deadline})
        EXPECT_FALSE(decide_unwritten(facts, timing).is_idle);
}

TEST(DecideUnwritten, everything_is_written_where_nothing_may_be_left) {
    Timing strict;
    strict.unwritten = {};
    EXPECT_FALSE(decide_unwritten(idle(), strict).stays_unwritten);
}

}  // namespace
}  // namespace perdure
