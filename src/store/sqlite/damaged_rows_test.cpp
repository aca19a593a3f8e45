// A row that cannot be understood hurts that one job alone.
#include <set>

#include "store/sqlite/on_disk_for_tests.h"

namespace perdure {
namespace {

using DamagedRowsOnDisk = OnDisk;

TEST_F(DamagedRowsOnDisk, a_row_that_cannot_be_understood_is_corrupt_and_hurts_nobody_else) {
    open();
    ASSERT_TRUE(commit({submit(10), submit(11)}).has_value());
    store.reset();
    sql("UPDATE job SET spec = x'63' WHERE id = 10");
    open();
    EXPECT_TRUE(run(store->jobs({JobId{10}})).is(Errc::corrupt));
    EXPECT_TRUE(has_job(11));
    const auto cancelled = commit({Cancel{JobId{10}}, Cancel{JobId{11}}});
    ASSERT_TRUE(cancelled.has_value());
    EXPECT_TRUE(cancelled->replies[0].is(Errc::corrupt));
    EXPECT_TRUE(cancelled->replies[1].has_value());
}

TEST_F(DamagedRowsOnDisk, a_row_that_cannot_be_understood_does_not_stop_claims_and_sweeps) {
    open();
    ASSERT_TRUE(commit({submit(10), submit(11)}).has_value());
    store.reset();
    sql("UPDATE job SET spec = x'63' WHERE id = 10");
    open();
    const OpenSession session{.session = SessionId{20}, .slots = 5, .lease = seconds(10)};
    ASSERT_TRUE(commit({session, OpenStream{SessionId{20}}}).has_value());
    const auto claimed = commit({Claim{SessionId{20}, 1, 5}});
    ASSERT_TRUE(claimed.has_value());
    const auto& assignments = std::get<Claimed>(*claimed->replies.front()).assignments;
    ASSERT_EQ(assignments.size(), 1U);
    EXPECT_EQ(assignments.front().attempt.job, JobId{11});
    const ServiceTick later{.tick = 1, .now = {days(30).us}};
    ASSERT_TRUE(commit({Tick{0, later}}).has_value());
    const auto overdue = run(store->overdue(WallTime{2}, 100));
    ASSERT_TRUE(overdue.has_value());
    EXPECT_EQ(overdue->runs.size(), 1U);
}

TEST_F(DamagedRowsOnDisk, a_row_that_cannot_be_understood_does_not_stop_a_takeover) {
    open();
    OpenSession first{.session = SessionId{20}, .slots = 5, .lease = seconds(10)};
    ASSERT_TRUE(commit({submit(10), submit(11), first, OpenStream{SessionId{20}}}).has_value());
    ASSERT_TRUE(commit({Claim{SessionId{20}, 1, 5}}).has_value());
    store.reset();
    sql("UPDATE job SET spec = x'63' WHERE id = 10");
    open();
    const auto previous = run(store->opening(first.directory));
    ASSERT_TRUE(previous.has_value());
    ASSERT_EQ((*previous)->runs.size(), 1U);
    EXPECT_EQ((*previous)->runs.front().attempt.job, JobId{11});
    auto next = first;
    next.session = SessionId{21};
    next.life = 2;
    next.previous = first.session;
    next.inherited = {{.attempt = (*previous)->runs.front().attempt}};
    const auto opened = commit({next});
    ASSERT_TRUE(opened.has_value());
    EXPECT_TRUE(opened->replies.front().has_value());
    const auto now = run(store->session(next.session));
    ASSERT_TRUE(now.has_value());
    EXPECT_EQ(now->runs.size(), 1U);
}

// A worker says in one request what has ended; so do several workers in one group.
TEST_F(DamagedRowsOnDisk, a_row_that_cannot_be_understood_does_not_stop_the_ends_beside_it) {
    open();
    const OpenSession session{.session = SessionId{20}, .slots = 5, .lease = seconds(10)};
    ASSERT_TRUE(commit({submit(10), submit(11), submit(12), submit(13), session,
                        OpenStream{SessionId{20}}, Claim{SessionId{20}, 1, 5}})
                    .has_value());
    store.reset();
    sql("UPDATE job SET spec = x'63' WHERE id IN (10, 12)");
    open();
    std::vector<Change> ends;
    for (const std::uint64_t id : {10, 11, 12, 13})
        ends.push_back(Report{.session = SessionId{20},
                              .attempt = {JobId{id}, Epoch{1}},
                              .end = {.succeeded = true, .reported = true}});
    const auto reported = commit(ends);
    ASSERT_TRUE(reported.has_value());
    EXPECT_TRUE(reported->replies[0].is(Errc::corrupt));
    EXPECT_TRUE(reported->replies[1].has_value());
    EXPECT_TRUE(reported->replies[2].is(Errc::corrupt));
    EXPECT_TRUE(reported->replies[3].has_value());
    reopen();
    for (const std::uint64_t id : {11, 13})
        EXPECT_EQ(run(store->jobs({JobId{id}}))->front().state, JobState::succeeded);
}

// 11 waits for 10 in two ways, and cannot be read when 10 ends. 12 waits in the same ways.
TEST_F(DamagedRowsOnDisk, a_waiter_that_cannot_be_understood_stops_neither_the_end_nor_others) {
    open();
    auto keyed = *submit(10).spec;
    keyed.key = "one at a time";
    const auto job = [](std::uint64_t id, const JobSpec& spec) {
        return Submit{JobId{id}, std::make_shared<const JobSpec>(spec), id};
    };
    auto after = *submit(10).spec;
    after.after = {{JobId{10}, On::end}};
    const OpenSession session{.session = SessionId{20}, .slots = 9, .lease = seconds(10)};
    ASSERT_TRUE(commit({job(10, keyed), session, OpenStream{SessionId{20}},
                        Claim{SessionId{20}, 1, 9}, job(11, keyed), job(12, keyed), job(13, after),
                        job(14, after), Claim{SessionId{20}, 1, 9}})
                    .has_value());
    EXPECT_EQ(run(store->jobs({JobId{12}}))->front().state, JobState::blocked);
    store.reset();
    sql("UPDATE job SET spec = x'63' WHERE id IN (11, 13)");
    open();
    const auto ended = commit({Report{.session = SessionId{20},
                                      .attempt = {JobId{10}, Epoch{1}},
                                      .end = {.succeeded = true, .reported = true}}});
    ASSERT_TRUE(ended.has_value());
    EXPECT_TRUE(ended->replies.front().has_value()) << ended->replies.front().error().what;
    const auto claimed = commit({Claim{SessionId{20}, 1, 9}});
    ASSERT_TRUE(claimed.has_value());
    std::set<JobId> taken;
    for (const auto& one : std::get<Claimed>(*claimed->replies.front()).assignments)
        taken.insert(one.attempt.job);
    EXPECT_EQ(taken, (std::set<JobId>{JobId{12}, JobId{14}}));
}

}  // namespace
}  // namespace perdure
