#include "worker/worker.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "worker/testing/fakes.h"

namespace perdure {
namespace {

constexpr Terms at_once{};
constexpr Terms exclusive{.isolation = Isolation::exclusive, .asks = true};
constexpr AttemptKey attempt_a{JobId{1}, Epoch{1}};
constexpr AttemptKey attempt_b{JobId{2}, Epoch{1}};
constexpr AttemptEnd success{.cause = Cause::exit, .ran = Ran::yes, .succeeded = true};

class WorkerTest : public testing::Test {
protected:
    void begin(std::uint32_t slots = 4) {
        worker.emplace(WorkerPorts{clock, random, servers, processes},
                       WorkerOptions{.name = "w", .slots = slots}, Log{});
        worker->start();
        clock.pass(milliseconds(10));
    }
    void TearDown() override { crash(); }
    void crash() {
        worker.reset();
        for (auto& stream : servers.streams) stream->abandon();
        clock.run_ready();
    }
    void give(AttemptKey attempt, std::uint64_t number, Terms terms = at_once) {
        servers.stream->push(Assignment{.attempt = attempt, .number = number, .terms = terms});
        clock.pass(milliseconds(10));
    }
    // In a row, a second apart.
    void crashed_times(std::int64_t times) {
        processes.life.history = {.follows_a_crash = true};
        for (std::int64_t i = 0; i < times; ++i)
            processes.life.history.crashes.push_back(clock.boot() - seconds(times - i));
    }
    bool knows(AttemptKey key) const { return worker->attempts().contains(key); }

    ManualClock clock;
    CountingRandom random;
    Journal journal;
    FakeServers servers{clock.executor(), journal};
    FakeProcesses processes{clock.executor(), journal};
    std::optional<Worker> worker;
};

TEST_F(WorkerTest, repeats_a_report_until_it_is_acknowledged) {
    begin();
    give(attempt_a, 1);
    servers.reports_fail = true;
    processes.end(attempt_a, success);
    clock.pass(seconds(5));
    EXPECT_GE(servers.reports_of(attempt_a, ReportItem::Kind::ended), 4U);
    EXPECT_TRUE(processes.forgotten.empty());
    EXPECT_EQ(servers.heartbeats.back().attempts.at(0).phase, Listed::Phase::ended);

    servers.reports_fail = false;
    clock.pass(seconds(2));
    EXPECT_EQ(processes.forgotten, std::vector{attempt_a});
    EXPECT_FALSE(knows(attempt_a));
    EXPECT_TRUE(servers.last_report_of(attempt_a)->end.succeeded);
}

TEST_F(WorkerTest, reports_an_end_without_the_evidence_that_the_server_cannot_read) {
    begin();
    give(attempt_a, 1);
    give(attempt_b, 2);
    servers.unreadable = [](const ReportItem& item) { return item.evidence != nullptr; };
    processes.end(attempt_a, success, std::make_shared<const Evidence>());
    processes.end(attempt_b, success);
    clock.pass(seconds(1));
    EXPECT_FALSE(knows(attempt_a));
    EXPECT_FALSE(knows(attempt_b));
    EXPECT_TRUE(servers.last_report_of(attempt_a)->end.succeeded);
}

TEST_F(WorkerTest, an_end_that_the_server_cannot_read_keeps_nobody_back_and_is_not_lost) {
    begin();
    const AttemptKey attempt_c{JobId{3}, Epoch{1}};
    give(attempt_a, 1);
    give(attempt_b, 2);
    give(attempt_c, 3);
    servers.unreadable = [](const ReportItem& item) {
        return item.attempt == attempt_b && item.kind == ReportItem::Kind::ended;
    };
    for (const auto key : {attempt_a, attempt_b, attempt_c}) processes.end(key, success);
    clock.pass(seconds(1));
    EXPECT_EQ(processes.forgotten, (std::vector{attempt_a, attempt_c}));
    EXPECT_TRUE(knows(attempt_b));
    const auto tried = servers.reports_of(attempt_b, ReportItem::Kind::ended);
    clock.pass(seconds(30));
    EXPECT_EQ(servers.reports_of(attempt_b, ReportItem::Kind::ended), tried);

    servers.unreadable = nullptr;
    clock.pass(minutes(3));
    EXPECT_FALSE(knows(attempt_b));
    EXPECT_TRUE(servers.last_report_of(attempt_b)->end.succeeded);
}

TEST_F(WorkerTest, an_end_of_a_damaged_job_is_kept_and_said_again_in_a_while) {
    begin();
    give(attempt_a, 1);
    give(attempt_b, 2);
    bool damaged = true;
    servers.on_item = [&](const ReportItem& item) {
        return damaged && item.attempt == attempt_a ? ItemAnswer::damaged : ItemAnswer::ok;
    };
    for (const auto key : {attempt_a, attempt_b}) processes.end(key, success);
    clock.pass(seconds(30));
    EXPECT_EQ(processes.forgotten, std::vector{attempt_b});
    EXPECT_EQ(servers.reports_of(attempt_a, ReportItem::Kind::ended), 1U);
    damaged = false;
    clock.pass(minutes(3));
    EXPECT_EQ(processes.forgotten, (std::vector{attempt_b, attempt_a}));
}

TEST_F(WorkerTest, starts_at_once_and_confirms_afterwards) {
    begin();
    give(attempt_a, 1);
    ASSERT_EQ(processes.started.size(), 1U);
    EXPECT_FALSE(processes.started[0].second.go_until);
    EXPECT_EQ(servers.reports_of(attempt_a, ReportItem::Kind::started), 1U);
}

TEST_F(WorkerTest, discards_an_unlisted_assignment_that_a_heartbeat_has_named) {
    begin();
    give(attempt_b, 5);
    clock.pass(seconds(3));
    EXPECT_EQ(servers.heartbeats.back().seen, 5U);
    give(attempt_a, 4);
    EXPECT_EQ(processes.prepared, std::vector{attempt_b});
    EXPECT_FALSE(knows(attempt_a));
}

TEST_F(WorkerTest, ignores_an_assignment_that_came_and_went) {
    begin();
    clock.pass(milliseconds(100));
    give(attempt_a, 1);
    processes.end(attempt_a, success);
    clock.pass(milliseconds(100));
    EXPECT_FALSE(knows(attempt_a));
    give(attempt_a, 1);
    EXPECT_EQ(processes.prepared.size(), 1U);
}

TEST_F(WorkerTest, kills_an_older_epoch_before_it_prepares_the_newer) {
    begin();
    give(attempt_a, 1);
    give({attempt_a.job, Epoch{3}}, 2);
    ASSERT_EQ(processes.killed.size(), 1U);
    EXPECT_EQ(processes.killed[0], std::pair(attempt_a, Cause::cut_off));
    give({attempt_a.job, Epoch{2}}, 3);
    EXPECT_EQ(processes.prepared.size(), 2U);
}

TEST_F(WorkerTest, says_why_an_attempt_could_not_be_prepared) {
    processes.prepare_error = error(Errc::conflict, "the lock is held");
    begin();
    give(attempt_a, 1);
    ASSERT_TRUE(servers.last_report_of(attempt_a));
    EXPECT_EQ(servers.last_report_of(attempt_a)->end.cause, Cause::lock_busy);
    EXPECT_EQ(servers.last_report_of(attempt_a)->end.ran, Ran::no);
}

TEST_F(WorkerTest, asks_again_when_its_go_has_expired) {
    processes.starts = false;
    begin();
    const auto before = clock.boot();
    give(attempt_a, 1, exclusive);
    ASSERT_EQ(processes.started.size(), 1U);
    EXPECT_LE(*processes.started[0].second.go_until, before + seconds(3) + milliseconds(10));
    clock.pass(seconds(2));
    EXPECT_EQ(servers.reports_of(attempt_a, ReportItem::Kind::ask), 1U);
    clock.pass(seconds(2));
    EXPECT_EQ(servers.reports_of(attempt_a, ReportItem::Kind::ask), 2U);
    EXPECT_EQ(processes.started.size(), 2U);
}

TEST_F(WorkerTest, never_starts_what_was_fenced) {
    servers.on_item = [](const ReportItem&) { return ItemAnswer::fenced; };
    begin();
    give(attempt_a, 1, exclusive);
    clock.pass(seconds(1));
    EXPECT_TRUE(processes.started.empty());
    EXPECT_EQ(processes.killed.size(), 1U);
    EXPECT_FALSE(knows(attempt_a));
}

TEST_F(WorkerTest, lists_what_is_on_disk_and_reports_for_dead_shims) {
    const AttemptKey ended{JobId{3}, Epoch{1}}, lost{JobId{4}, Epoch{1}},
        failed{JobId{5}, Epoch{1}};
    processes.life.found = {
        {.attempt = attempt_a, .assignment = 1, .terms = exclusive, .shim_alive = true},
        {.attempt = attempt_b, .assignment = 2, .started = true, .shim_alive = true},
        {.attempt = ended, .assignment = 3, .started = true, .result = success},
        {.attempt = lost, .assignment = 4, .started = true},
        {.attempt = failed, .assignment = 5},
    };
    begin();
    using Phase = Listed::Phase;
    const std::vector<Listed> expected = {{attempt_a, 1, Phase::unstarted},
                                          {attempt_b, 2, Phase::running},
                                          {ended, 3, Phase::ended},
                                          {lost, 4, Phase::running},
                                          {failed, 5, Phase::unstarted}};
    EXPECT_EQ(servers.opens.at(0).on_disk, expected);
    EXPECT_EQ(servers.reports_of(attempt_a, ReportItem::Kind::ask), 1U);
    EXPECT_TRUE(servers.last_report_of(ended)->end.succeeded);
    EXPECT_EQ(servers.last_report_of(lost)->end.cause, Cause::shim_lost);
    EXPECT_EQ(servers.last_report_of(failed)->end.cause, Cause::shim_failed);
    EXPECT_EQ(servers.last_report_of(failed)->end.ran, Ran::no);
    EXPECT_TRUE(knows(attempt_a) && knows(attempt_b));
}

TEST_F(WorkerTest, repeats_its_opening_message_as_it_is) {
    servers.count = 2;
    servers.on_open = [](const OpenRequest&) { return error(Errc::unavailable, "down"); };
    begin();
    clock.pass(seconds(3));
    EXPECT_GE(servers.opens.size(), 3U);
    EXPECT_EQ(servers.opens.front().life, servers.opens.back().life);
    EXPECT_NE(servers.servers.at(0), servers.servers.at(1));
}

TEST_F(WorkerTest, counts_the_lease_from_before_the_first_opening_message) {
    const auto first = clock.boot();
    servers.on_open = [](const OpenRequest&) { return error(Errc::unavailable, "lost"); };
    begin();
    clock.pass(seconds(2));
    servers.on_open = nullptr;
    servers.on_heartbeat = [](const HeartbeatRequest&) { return error(Errc::unavailable, "no"); };
    clock.pass(seconds(2));
    ASSERT_TRUE(worker->session().is_open());
    EXPECT_EQ(*worker->session().lease_until(), first + seconds(10));
}

TEST_F(WorkerTest, opens_a_new_session_with_a_new_life_when_its_session_has_ended) {
    begin();
    give(attempt_a, 1);
    servers.on_heartbeat = [this](const HeartbeatRequest& request) {
        const bool old = request.session == SessionId{1};
        journal.push_back(old ? "old" : "new");
        return HeartbeatAnswerMessage{.answer = old ? HeartbeatAnswer::session_ended
                                                    : HeartbeatAnswer::accept};
    };
    clock.pass(seconds(3));
    ASSERT_EQ(servers.opens.size(), 2U);
    EXPECT_EQ(servers.opens[1].life, servers.opens[0].life + 1);
    ASSERT_EQ(servers.opens[1].on_disk.size(), 1U);
    EXPECT_EQ(servers.opens[1].on_disk[0].phase, Listed::Phase::running);
    EXPECT_EQ(servers.heartbeats.back().session, SessionId{2});
    EXPECT_TRUE(processes.killed.empty());
}

TEST_F(WorkerTest, kills_what_is_overdue_before_it_speaks_after_a_pause) {
    begin();
    give(attempt_a, 1, exclusive);
    journal.clear();
    clock.freeze(minutes(1));
    clock.pass(seconds(1));
    ASSERT_FALSE(journal.empty());
    EXPECT_EQ(journal.front(), "kill");
    EXPECT_EQ(processes.killed.at(0), std::pair(attempt_a, Cause::cut_off));
}

TEST_F(WorkerTest, leaves_a_fenced_attempt_alone_for_as_long_as_it_may_hold) {
    begin();
    give(attempt_a, 1, Terms{.hold = minutes(5)});
    servers.on_heartbeat = [](const HeartbeatRequest&) { return error(Errc::unavailable, "no"); };
    clock.pass(minutes(5));
    EXPECT_TRUE(processes.killed.empty());
    clock.pass(seconds(15));
    EXPECT_EQ(processes.killed.size(), 1U);
}

TEST_F(WorkerTest, every_heartbeat_has_a_new_number_and_moves_on_when_unanswered) {
    servers.count = 3;
    servers.on_heartbeat = [](const HeartbeatRequest&) { return error(Errc::unavailable, "no"); };
    begin();
    clock.pass(seconds(3));
    ASSERT_GE(servers.heartbeats.size(), 3U);
    std::set<std::uint64_t> numbers;
    for (const auto& heartbeat : servers.heartbeats) numbers.insert(heartbeat.number);
    EXPECT_EQ(numbers.size(), servers.heartbeats.size());
    EXPECT_EQ(std::set(servers.servers.begin(), servers.servers.end()).size(), 3U);
}

TEST_F(WorkerTest, stops_what_is_not_its_own_any_more) {
    begin();
    give(attempt_a, 1);
    servers.on_heartbeat = [](const HeartbeatRequest&) {
        return HeartbeatAnswerMessage{.answer = HeartbeatAnswer::accept, .stop = {attempt_a}};
    };
    clock.pass(seconds(5));
    ASSERT_EQ(processes.killed.size(), 1U);
    EXPECT_EQ(processes.killed[0].second, Cause::cut_off);
    EXPECT_FALSE(knows(attempt_a));
}

TEST_F(WorkerTest, a_checkpoint_succeeds_only_after_the_server_has_committed_it) {
    begin();
    give(attempt_a, 1);
    servers.on_item = [](const ReportItem&) { return ItemAnswer::again; };
    processes.say(ProcessEvent::Kind::checkpoint, attempt_a);
    clock.pass(seconds(10));
    EXPECT_TRUE(processes.answers.empty());
    servers.on_item = nullptr;
    clock.pass(seconds(2));
    EXPECT_EQ(processes.answers, std::vector{true});

    servers.reports_fail = true;
    processes.say(ProcessEvent::Kind::begin, attempt_a);
    clock.pass(seconds(31));
    EXPECT_EQ(processes.answers, (std::vector{true, false}));
}

TEST_F(WorkerTest, what_a_job_asks_is_repeated_until_a_server_answers) {
    begin();
    give(attempt_a, 1);
    servers.on_inside = [](const InsideCall&) -> Result<InsideReply> {
        return error(Errc::outcome_unknown, "the reply was lost");
    };
    processes.call(attempt_a, 7);
    clock.pass(seconds(5));
    EXPECT_GE(servers.inside_calls.size(), 3U);
    EXPECT_TRUE(processes.replies.empty());
    servers.on_inside = nullptr;
    clock.pass(seconds(2));
    ASSERT_EQ(processes.replies.size(), 1U);
    EXPECT_EQ(processes.replies[0].first, 7U);
    EXPECT_EQ(processes.replies[0].second.status, 200U);
    for (const auto& call : servers.inside_calls) {
        EXPECT_EQ(call.number, 7U);
        EXPECT_EQ(call.attempt, attempt_a);
        EXPECT_EQ(call.session, worker->session().id());
    }
}

TEST_F(WorkerTest, what_a_job_asks_is_given_up_when_no_server_answers) {
    begin();
    give(attempt_a, 1);
    servers.on_inside = [](const InsideCall&) -> Result<InsideReply> {
        return error(Errc::unavailable, "no");
    };
    processes.call(attempt_a, 1);
    clock.pass(minutes(1));
    ASSERT_EQ(processes.replies.size(), 1U);
    EXPECT_EQ(processes.replies[0].second.status, 503U);
}

// [P2]: and the session must still be the one that asked.
TEST_F(WorkerTest, what_a_replaced_attempt_asks_is_fenced) {
    begin();
    give(attempt_a, 1);
    servers.on_inside = [](const InsideCall&) -> Result<InsideReply> {
        return error(Errc::fenced, "O1/not_the_running_attempt");
    };
    processes.call(attempt_a, 1);
    clock.pass(seconds(1));
    ASSERT_EQ(processes.replies.size(), 1U);
    EXPECT_EQ(processes.replies[0].second.status, 409U);
    EXPECT_NE(processes.replies[0].second.body.find("\"fenced\""), std::string::npos);
}

TEST_F(WorkerTest, what_an_attempt_asks_that_is_not_here_is_answered_at_once) {
    begin();
    processes.call(attempt_b, 3);
    clock.pass(milliseconds(10));
    ASSERT_EQ(processes.replies.size(), 1U);
    EXPECT_EQ(processes.replies[0].second.status, 503U);
    EXPECT_TRUE(servers.inside_calls.empty());
}

TEST_F(WorkerTest, drain_hands_back_then_evicts_and_ends_when_all_is_acknowledged) {
    begin();
    give(attempt_a, 1);
    servers.on_item = [](const ReportItem& item) {
        return item.kind == ReportItem::Kind::ask ? ItemAnswer::again : ItemAnswer::ok;
    };
    give(attempt_b, 2, exclusive);
    worker->drain();
    clock.pass(milliseconds(300));
    EXPECT_EQ(servers.heartbeats.back().slots, 0U);
    EXPECT_EQ(servers.last_report_of(attempt_b)->end.cause, Cause::evicted);
    EXPECT_EQ(servers.last_report_of(attempt_b)->end.ran, Ran::no);
    EXPECT_TRUE(knows(attempt_a));
    give({JobId{9}, Epoch{1}}, 3);
    EXPECT_EQ(processes.prepared.size(), 2U);

    clock.pass(seconds(31));
    EXPECT_EQ(servers.last_report_of(attempt_a)->end.cause, Cause::evicted);
    EXPECT_TRUE(worker->finished()) << worker->waiting_for().front();
    EXPECT_TRUE(processes.clean);
}

TEST_F(WorkerTest, detach_asks_for_a_long_lease_and_leaves_its_shims) {
    begin();
    give(attempt_a, 1);
    const auto before = clock.boot();
    worker->detach();
    clock.pass(seconds(1));
    EXPECT_EQ(servers.heartbeats.back().lease, seconds(60));
    EXPECT_EQ(processes.renewed.back(), before + seconds(60));
    EXPECT_TRUE(processes.killed.empty());
    EXPECT_TRUE(worker->finished()) << worker->waiting_for().front();
}

// A person who stops it twice wants to go on later, not to lose what runs.
TEST_F(WorkerTest, detach_while_it_drains_leaves_what_still_runs) {
    begin();
    give(attempt_a, 1);
    worker->drain();
    clock.pass(seconds(3));
    EXPECT_FALSE(worker->finished());
    worker->detach();
    clock.pass(seconds(1));
    EXPECT_EQ(servers.heartbeats.back().lease, seconds(60));
    EXPECT_TRUE(worker->finished()) << worker->waiting_for().front();
    clock.pass(seconds(60));
    EXPECT_TRUE(processes.killed.empty()) << "the drain is over";
}

// O9: a rest would stop all work on this host because somebody killed its worker three times.
TEST_F(WorkerTest, on_probation_offers_one_slot_more_than_it_has_adopted) {
    crashed_times(3);
    processes.life.found = {
        {.attempt = attempt_a, .assignment = 1, .started = true, .shim_alive = true},
        {.attempt = attempt_b, .assignment = 2, .shim_alive = true},
    };
    begin();
    ASSERT_EQ(processes.killed.size(), 1U);  // what has not started is handed back
    EXPECT_EQ(processes.killed[0], std::pair(attempt_b, Cause::evicted));
    EXPECT_EQ(servers.opens.at(0).slots, 2U);
    clock.pass(seconds(21));
    EXPECT_EQ(servers.heartbeats.back().slots, 3U);
    clock.pass(seconds(20));
    EXPECT_EQ(servers.heartbeats.back().slots, 4U);
}

TEST_F(WorkerTest, on_probation_a_good_end_doubles_at_once) {
    crashed_times(3);
    begin();
    give(attempt_a, 1);
    processes.end(attempt_a, success);
    clock.pass(milliseconds(100));
    EXPECT_EQ(servers.heartbeats.back().slots, 2U);
}

// O9, [P6]: assignment numbers begin anew with each session, so a later life is the younger one.
TEST_F(WorkerTest, at_a_further_crash_the_youngest_of_several_is_a_suspect) {
    crashed_times(4);
    processes.life.found = {
        {.attempt = attempt_a, .assignment = 9, .life = 1, .started = true, .shim_alive = true},
        {.attempt = attempt_b, .assignment = 2, .life = 2, .started = true, .shim_alive = true},
    };
    begin();
    ASSERT_EQ(processes.killed.size(), 1U);
    EXPECT_EQ(processes.killed[0], std::pair(attempt_b, Cause::suspect));
}

TEST_F(WorkerTest, at_a_further_crash_the_only_one_that_ran_is_charged) {
    crashed_times(4);
    processes.life.found = {
        {.attempt = attempt_a, .assignment = 1, .started = true, .shim_alive = true}};
    begin();
    ASSERT_EQ(processes.killed.size(), 1U);
    EXPECT_EQ(processes.killed[0], std::pair(attempt_a, Cause::crash_worker));
}

// [P4]: a person's fourth kill -9 must not quarantine it.
TEST_F(WorkerTest, at_a_further_crash_a_once_attempt_is_spared_until_the_tenth) {
    const OnDisk found{.attempt = attempt_a,
                       .assignment = 1,
                       .terms = {.effects = Effects::once},
                       .started = true,
                       .shim_alive = true};
    crashed_times(9);
    processes.life.found = {found};
    begin();
    EXPECT_TRUE(processes.killed.empty());
    crash();
    crashed_times(10);
    processes.life.found = {found};
    begin();
    ASSERT_EQ(processes.killed.size(), 1U);
    EXPECT_EQ(processes.killed[0], std::pair(attempt_a, Cause::crash_worker));
}

TEST_F(WorkerTest, tells_its_shims_every_second_that_it_lives) {
    servers.on_open = [](const OpenRequest&) { return error(Errc::unavailable, "down"); };
    processes.life.found = {
        {.attempt = attempt_a, .assignment = 1, .started = true, .shim_alive = true}};
    begin();
    processes.renewed.clear();
    clock.pass(seconds(10));
    EXPECT_GE(processes.renewed.size(), 10U);
}

TEST_F(WorkerTest, may_be_destroyed_at_any_time) {
    begin();
    give(attempt_a, 1);
    give(attempt_b, 2, exclusive);
    crash();
    begin();
    EXPECT_EQ(servers.opens.back().life, 2U);
}

}  // namespace
}  // namespace perdure
