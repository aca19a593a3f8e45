// The ledger [P5]: every automatic repair has one entry, in the transaction that makes it, and
// nothing else has.
#include "ports/catalogue.h"
#include "tests/contract/audit.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

class Ledger : public StoreContract {
protected:
    std::vector<RecoveryLine> entries(RecoveryFilter filter = {}) {
        auto page = run(dynamic_cast<Catalogue&>(store()).recoveries(std::move(filter)));
        EXPECT_TRUE(page.has_value());
        return page ? page->recoveries : std::vector<RecoveryLine>{};
    }
    // The only entry that there is.
    RecoveryLine entry() {
        const auto all = entries();
        EXPECT_EQ(all.size(), 1U);
        return all.empty() ? RecoveryLine{} : all.front();
    }
    OpenSession life_after(SessionId previous, const Worker& worker, bool announced) {
        auto leaving = heartbeat_of(previous);
        leaving.draining = announced;
        send(leaving);
        auto change = takeover_of(previous, worker);
        change.away = milliseconds(30);
        return change;
    }
};

TEST_P(Ledger, a_job_that_succeeds_leaves_no_entry) {
    const auto worker = open_session();
    submit(Wanted::job());
    finish(worker, run_one(worker), success());
    EXPECT_TRUE(entries().empty());
}

TEST_P(Ledger, a_failure_that_is_final_and_a_persons_cancel_are_no_repairs) {
    const auto worker = open_session();
    submit(Wanted::job());
    finish(worker, run_one(worker), exit_with(1));
    const auto second = submit(Wanted::job());
    const auto attempt = run_one(worker);
    ASSERT_TRUE(apply(Cancel{second}).has_value());
    finish(worker, attempt, {.cause = Cause::cancelled, .ran = Ran::yes});
    const auto third = submit(Wanted::keyed("k"));
    claim_one(worker);
    ASSERT_TRUE(apply(Cancel{third}).has_value());
    EXPECT_TRUE(entries().empty());
}

TEST_P(Ledger, a_crash_is_entered_with_its_cause_rules_and_the_age_of_the_end) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto attempt = run_one(worker);
    Report said{worker, attempt, crash(), nullptr, milliseconds(7)};
    const auto reply = commit({said});
    ASSERT_EQ(reply.recoveries.size(), 1U);
    const auto line = entry();
    EXPECT_EQ(line.entry, reply.recoveries.front());
    EXPECT_EQ(line.entry.attempt, attempt);
    EXPECT_EQ(line.entry.detector, Detector::report);
    EXPECT_EQ(line.entry.incident, Incident::process_died);
    EXPECT_EQ(line.entry.end->cause, Cause::crash_signal);
    EXPECT_EQ(line.entry.rule, last_attempt(id).rule);
    EXPECT_EQ(line.entry.seen_by, "O1/the_running_attempt");
    EXPECT_EQ(line.entry.time_to_detect, milliseconds(7));
    EXPECT_EQ(line.entry.worker, "worker-1");
    EXPECT_EQ(line.entry.on, wall);
    EXPECT_FALSE(line.epoch_after.has_value());
}

// Workers' reads must not wait until the entries of others have been looked at, however many (C8).
TEST_P(Ledger, a_read_looks_at_a_bounded_number_of_entries_and_says_where_to_go_on) {
    auto mine = Wanted::job();
    mine.timeouts.queue = seconds(1);
    const auto id = submit(mine);
    pass(seconds(1));
    sweep();
    auto others = mine;
    others.tenant = "other";
    SubmitAll batch;
    for (std::uint32_t i = 0; i < ledger_walk_max; ++i) batch.jobs.push_back(submit_of(others));
    ASSERT_FALSE(get<BatchSubmitted>(apply(batch)).refused);
    pass(seconds(1));
    sweep();

    auto& catalogue = dynamic_cast<Catalogue&>(store());
    const auto first = run(catalogue.recoveries({}));
    EXPECT_TRUE(first->recoveries.empty());
    ASSERT_TRUE(first->next.has_value());
    const auto second = run(catalogue.recoveries({.before = first->next}));
    ASSERT_EQ(second->recoveries.size(), 1U);
    EXPECT_EQ(second->recoveries.front().entry.attempt.job, id);
    EXPECT_FALSE(second->next.has_value());
    // Long before what is asked for there is nothing to be found.
    const auto late = run(catalogue.recoveries({.since = wall + days(2)}));
    EXPECT_TRUE(late->recoveries.empty());
    EXPECT_FALSE(late->next.has_value());
    // Its own entries are found without those of others.
    EXPECT_EQ(run(catalogue.recoveries({.job = id}))->recoveries.size(), 1U);
}

TEST_P(Ledger, the_attempt_after_it_is_shown_as_soon_as_there_is_one) {
    const auto lost = open_session();
    submit(Wanted::job());
    lose(run_one(lost));
    EXPECT_FALSE(entry().epoch_after.has_value());
    EXPECT_EQ(entry().entry.detector, Detector::lease);
    EXPECT_EQ(entry().entry.incident, Incident::worker_lost);
    EXPECT_GE(entry().entry.time_to_detect, timing.lease);
    wall = wall + seconds(1);
    pass(seconds(2));  // it ran alone when it was lost: that is taken for a crash, which waits
    sweep();
    const auto other = open_session({.name = "worker-2"});
    const auto again = claim_one(other);
    EXPECT_EQ(entry().epoch_after, again.epoch);
    EXPECT_EQ(entry().acted_on, wall);
    wall = wall + seconds(1);
    ASSERT_TRUE(start(other, again).has_value());
    EXPECT_EQ(entry().acted_on, wall) << "what counts is the start";
    EXPECT_EQ(entry().worker_after, "worker-2");
}

TEST_P(Ledger, a_stop_a_restart_and_a_loss_are_three_different_entries) {
    const auto first = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(first);
    const auto killed = life_after(first, {}, false);
    ASSERT_TRUE(apply(killed).has_value());
    const auto detached = life_after(killed.session, {}, true);
    ASSERT_TRUE(apply(detached).has_value());
    lose(attempt);
    const auto all = entries();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[2].entry.incident, Incident::worker_restarted);
    EXPECT_EQ(all[2].entry.repair, Repair::adopted);
    EXPECT_EQ(all[2].entry.time_to_detect, milliseconds(30));
    EXPECT_EQ(all[2].entry.rule, "O5/on_disk");
    EXPECT_EQ(all[2].epoch_after, attempt.epoch);
    EXPECT_EQ(all[1].entry.incident, Incident::worker_stopped);
    EXPECT_EQ(all[1].entry.repair, Repair::adopted);
    EXPECT_EQ(all[0].entry.incident, Incident::worker_lost);
    EXPECT_TRUE(runs_again(all[0].entry.repair));
}

TEST_P(Ledger, an_unconfirmed_start_counts_from_its_claim) {
    const auto worker = open_session();
    submit(Wanted::job());
    claim_one(worker);
    pass_with_heartbeats(timing.confirm);
    sweep();
    pass(timing.recall);
    sweep();
    EXPECT_EQ(entry().entry.detector, Detector::confirmation);
    EXPECT_EQ(entry().entry.incident, Incident::did_not_start);
    EXPECT_GE(entry().entry.time_to_detect, timing.confirm);
}

TEST_P(Ledger, a_reinstated_attempt_is_entered_beside_its_loss) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    list(worker, attempt);
    EXPECT_EQ(entries().front().entry.incident, Incident::worker_returned);
    EXPECT_EQ(entries().front().entry.repair, Repair::reinstated);
    EXPECT_EQ(entries().size(), 2U);
}

TEST_P(Ledger, a_result_that_corrects_a_presumed_loss_is_entered) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    ASSERT_TRUE(report(worker, attempt, success()).has_value());
    EXPECT_EQ(entries().front().entry.repair, Repair::reinstated);
    EXPECT_TRUE(entries().front().entry.end->succeeded);
}

TEST_P(Ledger, quarantine_and_expiry_are_entered) {
    const auto worker = open_session();
    const auto poison = submit(Wanted::once());
    finish(worker, run_one(worker), crash());
    EXPECT_EQ(entry().entry.repair, Repair::quarantined);
    EXPECT_EQ(entry().entry.attempt.job, poison);
    auto impatient = Wanted::job();
    impatient.timeouts.queue = seconds(5);
    const auto expired = submit(impatient);
    pass(seconds(6));
    sweep();
    EXPECT_EQ(entries().front().entry.attempt.job, expired);
    EXPECT_EQ(entries().front().entry.detector, Detector::deadline);
    EXPECT_EQ(entries().front().entry.repair, Repair::expired);
    EXPECT_EQ(entries().front().entry.time_to_detect, seconds(1));
}

TEST_P(Ledger, a_sweep_that_finds_nothing_and_one_that_only_tells_leave_no_entry) {
    const auto worker = open_session();
    submit(Wanted::job());
    run_one(worker);
    sweep();
    pass(timing.lease);
    EXPECT_EQ(told().attempts.size(), 1U);
    send_heartbeat(worker);
    sweep();
    EXPECT_TRUE(entries().empty());
}

TEST_P(Ledger, a_repeated_report_is_entered_once) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(report(worker, attempt, crash()).has_value());
    EXPECT_EQ(entries().size(), 1U);
}

TEST_P(Ledger, is_read_in_pages_and_by_what_is_wanted) {
    const auto worker = open_session();
    std::vector<JobId> ids;
    for (int i = 0; i < 3; ++i) {
        ids.push_back(submit(Wanted::once()));
        finish(worker, run_one(worker), crash());
        wall = wall + seconds(1);
    }
    const auto page = entries({.limit = 2});
    ASSERT_EQ(page.size(), 2U);
    EXPECT_EQ(page[0].entry.attempt.job, ids[2]);
    EXPECT_EQ(page[1].entry.attempt.job, ids[1]);
    const auto rest = entries({.before = page[1].entry.id});
    ASSERT_EQ(rest.size(), 1U);
    EXPECT_EQ(rest[0].entry.attempt.job, ids[0]);
    EXPECT_EQ(entries({.job = ids[1]}).front().entry.attempt.job, ids[1]);
    EXPECT_EQ(entries({.job = ids[1]}).size(), 1U);
    EXPECT_EQ(entries({.cause = Cause::crash_signal}).size(), 3U);
    EXPECT_TRUE(entries({.cause = Cause::oom}).empty());
    EXPECT_TRUE(entries({.detector = Detector::lease}).empty());
    EXPECT_TRUE(entries({.incident = Incident::worker_lost}).empty());
    EXPECT_EQ(entries({.since = wall - seconds(1)}).size(), 1U);
    EXPECT_TRUE(entries({.tenant = "another"}).empty());
}

TEST_P(Ledger, entries_go_with_their_job_and_their_numbers_are_not_used_again) {
    const auto worker = open_session();
    const auto id = submit(Wanted::once());
    finish(worker, run_one(worker), crash());
    const auto number = entry().entry.id;
    const DealWithQuarantined discard{.job = id, .action = QuarantineAction::discard};
    ASSERT_TRUE(apply(discard).has_value());
    pass(timing.retention);
    ASSERT_EQ(get<Forgotten>(apply(ForgetEnded{})).jobs, std::vector{id});
    EXPECT_TRUE(entries().empty());
    submit(Wanted::once());
    const auto another = open_session({.name = "worker-2"});
    finish(another, run_one(another), crash());
    EXPECT_GT(entry().entry.id, number);
}

INSTANTIATE_TEST_SUITE_P(Stores, Ledger, testing::ValuesIn(store_factories()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace perdure::contract
