// A row that cannot be understood hurts that one job alone.
#include <set>

#include "store/sqlite/testing/on_disk.h"

namespace perdure {
namespace {

class DamagedRowsOnDisk : public OnDisk {
protected:
    // As a sweep would find them.
    std::vector<Swept::Attempt> overdue_attempts() {
        const auto reply = commit({Sweep{.report_only = true}});
        EXPECT_TRUE(reply.has_value());
        return reply ? std::get<Swept>(*reply->replies.front()).attempts
                     : std::vector<Swept::Attempt>{};
    }
};

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
    const auto swept = commit({Sweep{}});
    ASSERT_TRUE(swept.has_value());
    EXPECT_EQ(std::get<Swept>(*swept->replies.front()).attempts.size(), 1U);
}

TEST_F(DamagedRowsOnDisk, a_row_that_cannot_be_understood_does_not_stop_a_takeover) {
    open();
    OpenSession first{.session = SessionId{20}, .slots = 5, .lease = seconds(10)};
    ASSERT_TRUE(commit({submit(10), submit(11), first, OpenStream{SessionId{20}}}).has_value());
    ASSERT_TRUE(commit({Claim{SessionId{20}, 1, 5}}).has_value());
    store.reset();
    sql("UPDATE job SET spec = x'63' WHERE id = 10");
    open();
    EXPECT_EQ(*run(store->latest_session(first.directory)), first.session);
    const auto previous = run(store->session(first.session));
    ASSERT_TRUE(previous.has_value());
    ASSERT_EQ(previous->runs.size(), 1U);
    EXPECT_EQ(previous->runs.front().attempt.job, JobId{11});
    auto next = first;
    next.session = SessionId{21};
    next.life = 2;
    next.on_disk = {{.attempt = previous->runs.front().attempt}};
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
    after.after = {{JobId{10}, Trigger::end}};
    const OpenSession session{.session = SessionId{20}, .slots = 9, .lease = seconds(10)};
    ASSERT_TRUE(commit({job(10, keyed), session, OpenStream{SessionId{20}},
                        Claim{SessionId{20}, 1, 9}, job(11, keyed), job(12, keyed), job(13, after),
                        job(14, after), Claim{SessionId{20}, 1, 9}})
                    .has_value());
    EXPECT_EQ(run(store->jobs({JobId{12}}))->front().state, JobState::blocked);
    store.reset();
    sql("UPDATE job SET spec = x'63' WHERE id IN (11, 13)");
    open();
    heartbeat(SessionId{20});
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

// What runs in a session that is not there, or has a number that is none, stops no sweep.
TEST_F(DamagedRowsOnDisk, a_run_row_with_a_damaged_session_stops_no_sweep) {
    open();
    const OpenSession session{.session = SessionId{20}, .slots = 5, .lease = seconds(10)};
    ASSERT_TRUE(commit({submit(10), submit(11), session, OpenStream{SessionId{20}}}).has_value());
    ASSERT_TRUE(commit({Claim{SessionId{20}, 1, 5}}).has_value());
    for (const auto* bad : {"-5", "12345"}) {
        store.reset();
        sql("UPDATE run SET session = " + std::string(bad) + " WHERE job = 10");
        open();
        const auto clock = run(store->service())->clock;
        ASSERT_TRUE(commit({Tick{clock.tick, {clock.tick + 1, clock.now + days(30), {}}}}));
        const auto attempts = overdue_attempts();
        ASSERT_EQ(attempts.size(), 1U);
        EXPECT_EQ(attempts.front().attempt.job, JobId{11});
        EXPECT_EQ(store->damage_counts().count("job"), 1U);
    }
}

TEST_F(DamagedRowsOnDisk, a_damaged_session_prevents_no_start_and_its_worker_can_open_another) {
    open();
    OpenSession first{.session = SessionId{20}, .slots = 5, .lease = seconds(10)};
    ASSERT_TRUE(commit({submit(10), first, OpenStream{SessionId{20}}}).has_value());
    store.reset();
    sql("UPDATE session SET offer = x'ff'");
    open();
    const auto previous = run(store->latest_session(first.directory));
    ASSERT_TRUE(previous.has_value()) << previous.error().what;
    EXPECT_FALSE(previous->has_value());
    auto next = first;
    next.session = SessionId{21};
    const auto opened = commit({next, OpenStream{SessionId{21}}, Claim{SessionId{21}, 1, 5}});
    ASSERT_TRUE(opened.has_value());
    for (const auto& reply : opened->replies) EXPECT_TRUE(reply.has_value());
    EXPECT_EQ(store->damage_counts().count("session"), 1U);
}

// The row says that another job, or none, has the key: while it is there nobody may have it.
TEST_F(DamagedRowsOnDisk, a_damaged_holder_keeps_the_key_until_a_person_discards_it) {
    open();
    auto spec = *submit(10).spec;
    spec.key = "k";
    const auto job = [&](std::uint64_t id) {
        return Submit{JobId{id}, std::make_shared<const JobSpec>(spec), id};
    };
    const OpenSession session{.session = SessionId{20}, .slots = 5, .lease = seconds(10)};
    ASSERT_TRUE(commit({job(10), session, OpenStream{SessionId{20}}, Claim{SessionId{20}, 1, 5}}));
    store.reset();
    sql("UPDATE key_holder SET job = -1");
    open();
    heartbeat(SessionId{20});
    const auto ended = commit({job(11), Report{.session = SessionId{20},
                                               .attempt = {JobId{10}, Epoch{1}},
                                               .end = {.succeeded = true, .reported = true}}});
    ASSERT_TRUE(ended.has_value() && ended->replies[1].has_value());
    const auto claimed = [&] {
        auto reply = commit({Claim{SessionId{20}, 1, 5}});
        return std::get<Claimed>(*reply->replies.front()).assignments.size();
    };
    EXPECT_EQ(claimed(), 0U);
    reopen();
    heartbeat(SessionId{20});
    EXPECT_EQ(claimed(), 0U);
    const auto removed = run(store->discard({"key_holder", "default/k"}));
    ASSERT_TRUE(removed.has_value()) << removed.error().what;
    EXPECT_EQ(claimed(), 1U);
    store.reset();
    EXPECT_TRUE(fsck().empty());
}

TEST_F(DamagedRowsOnDisk, a_key_whose_row_is_gone_stays_with_the_job_that_runs) {
    open();
    auto spec = *submit(10).spec;
    spec.key = "k";
    const auto job = [&](std::uint64_t id) {
        return Submit{JobId{id}, std::make_shared<const JobSpec>(spec), id};
    };
    const OpenSession session{.session = SessionId{20}, .slots = 5, .lease = seconds(10)};
    ASSERT_TRUE(commit({job(10), session, OpenStream{SessionId{20}}, Claim{SessionId{20}, 1, 5}}));
    store.reset();
    sql("UPDATE key_holder SET key = 'other'");
    open();
    heartbeat(SessionId{20});
    const auto claimed = commit({job(11), Claim{SessionId{20}, 1, 5}});
    ASSERT_TRUE(claimed.has_value());
    EXPECT_TRUE(std::get<Claimed>(*claimed->replies[1]).assignments.empty());
    const auto ended = commit({Report{.session = SessionId{20},
                                      .attempt = {JobId{10}, Epoch{1}},
                                      .end = {.succeeded = true, .reported = true}},
                               Claim{SessionId{20}, 1, 5}});
    ASSERT_TRUE(ended.has_value());
    EXPECT_EQ(std::get<Claimed>(*ended->replies[1]).assignments.size(), 1U);
}

TEST_F(DamagedRowsOnDisk, a_damaged_idempotency_row_answers_corrupt_and_makes_no_second_job) {
    open();
    auto spec = *submit(10).spec;
    spec.idempotency_key = "same";
    const auto job = [&](std::uint64_t id) {
        return Submit{JobId{id}, std::make_shared<const JobSpec>(spec), 7};
    };
    ASSERT_TRUE(commit({job(10)}).has_value());
    store.reset();
    sql("UPDATE idempotency SET job = -1");
    open();
    const auto again = commit({job(11)});
    ASSERT_TRUE(again.has_value());
    EXPECT_TRUE(again->replies.front().is(Errc::corrupt));
    ASSERT_TRUE(run(store->discard({"idempotency", "default/same"})).has_value());
    EXPECT_TRUE(commit({job(11)})->replies.front().has_value());
}

// A person removes it with all of its rows: what it held is free, who waited for it goes on.
TEST_F(DamagedRowsOnDisk, a_damaged_job_that_runs_is_discarded_only_if_its_process_may_be_alive) {
    open();
    auto spec = *submit(10).spec;
    spec.key = "k";
    const auto keyed = std::make_shared<const JobSpec>(spec);
    auto waits = *submit(10).spec;
    waits.after = {{JobId{10}, Trigger::end}};
    const OpenSession session{.session = SessionId{20}, .slots = 5, .lease = seconds(10)};
    ASSERT_TRUE(
        commit({Submit{JobId{10}, keyed, 1}, session, OpenStream{SessionId{20}},
                Claim{SessionId{20}, 1, 5}, Submit{JobId{11}, keyed, 2}, Claim{SessionId{20}, 1, 5},
                Submit{JobId{12}, std::make_shared<const JobSpec>(waits), 3}}));
    store.reset();
    sql("UPDATE job SET spec = x'63' WHERE id = 10");
    open();
    const auto id = JobId{10}.text();
    EXPECT_TRUE(run(store->discard({"job", JobId{11}.text()})).is(Errc::conflict));
    EXPECT_TRUE(run(store->discard({"job", id})).is(Errc::conflict));
    const auto removed = run(store->discard({"job", id, true}));
    ASSERT_TRUE(removed.has_value()) << removed.error().what;
    EXPECT_FALSE(has_job(10));
    EXPECT_EQ(run(store->jobs({JobId{11}}))->front().state, JobState::ready);
    EXPECT_EQ(run(store->jobs({JobId{12}}))->front().state, JobState::ready);
    EXPECT_TRUE(store->damage_counts().empty());
    store.reset();
    EXPECT_TRUE(fsck().empty());
}

// 10 and 11 run in it. Nobody knows when its lease ends, until a person discards the row.
TEST_F(DamagedRowsOnDisk, a_discarded_session_ends_and_what_ran_there_is_given_up_by_a_sweep) {
    open();
    const OpenSession session{.session = SessionId{20}, .slots = 5, .lease = seconds(10)};
    ASSERT_TRUE(commit(
        {submit(10), submit(11), session, OpenStream{SessionId{20}}, Claim{SessionId{20}, 1, 5}}));
    ASSERT_TRUE(commit({Start{SessionId{20}, {JobId{10}, Epoch{1}}},
                        Start{SessionId{20}, {JobId{11}, Epoch{1}}}}));
    store.reset();
    sql("UPDATE session SET policy = x'ff'");
    open();
    const auto clock = run(store->service())->clock;
    ASSERT_TRUE(commit({Tick{clock.tick, {clock.tick + 1, clock.now + days(1), {}}}}));
    EXPECT_TRUE(overdue_attempts().empty());
    const auto removed = run(store->discard({"session", "20"}));
    ASSERT_TRUE(removed.has_value()) << removed.error().what;
    EXPECT_TRUE(overdue_attempts().empty()) << "a lease is left";
    const auto later = run(store->service())->clock;
    ASSERT_TRUE(commit({Tick{later.tick, {later.tick + 1, later.now + days(1), {}}}}));
    EXPECT_EQ(overdue_attempts().size(), 2U);
}

TEST_F(DamagedRowsOnDisk, lists_go_on_past_what_cannot_be_understood_and_name_it) {
    open();
    ASSERT_TRUE(commit({submit(10), submit(11), submit(12)}).has_value());
    store.reset();
    sql("UPDATE job SET spec = x'63' WHERE id = 11");
    open();
    const auto page = run(store->list({}));
    ASSERT_TRUE(page.has_value()) << page.error().what;
    ASSERT_EQ(page->jobs.size(), 3U);
    EXPECT_TRUE(page->jobs[1].damaged.has_value());
    const auto audit = run(store->audit({}, 100));
    ASSERT_TRUE(audit.has_value()) << audit.error().what;
    EXPECT_EQ(audit->jobs.size(), 2U);
    ASSERT_EQ(audit->damaged.size(), 1U);
    EXPECT_EQ(audit->damaged.front().job, JobId{11});
    EXPECT_EQ(run(store->jobs({JobId{10}, JobId{11}, JobId{12}}))->size(), 2U);
}

TEST_F(DamagedRowsOnDisk, service_and_server_rows_are_restored_from_their_copies) {
    open();
    ASSERT_TRUE(commit({submit(10)}).has_value());
    for (const auto* text : {"UPDATE service SET now_at = -1", "DELETE FROM service",
                             "UPDATE service SET id_high_water = 5", "UPDATE copy SET body = x'ff'",
                             "UPDATE server SET fence = 77", "DELETE FROM server",
                             "UPDATE server SET id = 99", "UPDATE copy SET id = id + 50"}) {
        SCOPED_TRACE(text);
        const auto before = last_group;
        store.reset();
        sql(text);
        open();
        EXPECT_EQ(last_group, before);
        EXPECT_TRUE(commit({submit(11 + before)}).has_value());
    }
}

TEST_F(DamagedRowsOnDisk, a_start_without_any_good_copy_is_refused_and_names_the_row) {
    open();
    ASSERT_TRUE(commit({submit(10)}).has_value());
    store.reset();
    sql("UPDATE service SET now_at = 5; UPDATE copy SET body = x'ff' WHERE id = 0");
    EXPECT_EQ(refusal().code, Errc::corrupt);
    EXPECT_NE(refusal().what.find("row 1 of `service`"), std::string::npos) << refusal().what;
}

}  // namespace
}  // namespace perdure
