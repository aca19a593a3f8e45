// Sessions: renewals, streams, takeover (O2, O5, O6).
#include "tests/contract/audit.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

TEST_P(StoreContract, a_new_session_has_a_lease_and_nothing_else) {
    pass(seconds(3));
    auto change = open_session_of({.slots = 4});
    change.life = 7;
    ASSERT_TRUE(apply(change).has_value());
    const auto view = session(change.session);
    EXPECT_TRUE(view.open);
    EXPECT_EQ(view.directory, change.directory);
    EXPECT_EQ(view.worker, change.worker);
    EXPECT_EQ(view.life, 7U);
    EXPECT_EQ(view.slots, 4U);
    EXPECT_EQ(view.stream, 0U);
    EXPECT_EQ(view.assignments, 0U);
    EXPECT_EQ(view.heartbeat, 0U);
    EXPECT_EQ(view.seen, 0U);
    EXPECT_EQ(view.renewal, 1U);
    EXPECT_EQ(view.lease_deadline, now() + timing.lease);
    EXPECT_EQ(view.heard_at, now());
    EXPECT_TRUE(view.runs.empty());
}

TEST_P(StoreContract, an_unknown_session_is_not_found) {
    const SessionId unknown{next_id()};
    EXPECT_TRUE(run(store().session(unknown)).is(Errc::not_found));
    EXPECT_TRUE(refused(apply(Heartbeat{.session = unknown, .number = 1}), Errc::not_found));
    EXPECT_TRUE(refused(apply(OpenStream{unknown}), Errc::not_found));
    EXPECT_TRUE(refused(apply(EndSession{unknown}), Errc::not_found));
}

TEST_P(StoreContract, a_session_id_is_used_once) {
    const auto first = open_session_of({.name = "worker-1"});
    ASSERT_TRUE(apply(first).has_value());
    auto second = open_session_of({.name = "worker-2"});
    second.session = first.session;
    EXPECT_TRUE(refused(apply(second), Errc::conflict));
    EXPECT_EQ(session(first.session).worker, "worker-1");
}

TEST_P(StoreContract, a_heartbeat_renews_the_lease) {
    const auto worker = open_session();
    pass(seconds(2));
    auto heartbeat = heartbeat_of(worker);
    heartbeat.content_hash = 77;
    heartbeat.seen = 5;
    heartbeat.slots = 3;
    heartbeat.offer.queues = {"mail"};
    EXPECT_EQ(send(heartbeat).answer, HeartbeatAnswer::accept);
    const auto view = session(worker);
    EXPECT_EQ(view.lease_deadline, now() + timing.lease);
    EXPECT_EQ(view.renewal, 2U);
    EXPECT_EQ(view.heartbeat, heartbeat.number);
    EXPECT_EQ(view.content_hash, 77U);
    EXPECT_EQ(view.seen, 5U);
    EXPECT_EQ(view.slots, 3U);
    EXPECT_EQ(view.offer.queues, heartbeat.offer.queues);
    EXPECT_EQ(view.heard_at, now());
}

TEST_P(StoreContract, a_heartbeat_that_is_not_newer_is_ignored) {
    const auto worker = open_session();
    auto heartbeat = heartbeat_of(worker);
    heartbeat.number = 5;
    EXPECT_EQ(send(heartbeat).answer, HeartbeatAnswer::accept);
    pass(seconds(2));
    const auto before = describe(session(worker));
    EXPECT_EQ(send(heartbeat).answer, HeartbeatAnswer::ignore);
    heartbeat.number = 4;
    EXPECT_EQ(send(heartbeat).answer, HeartbeatAnswer::ignore);
    EXPECT_EQ(describe(session(worker)), before);
    heartbeat.number = 9;  // numbers may be left out
    EXPECT_EQ(send(heartbeat).answer, HeartbeatAnswer::accept);
}

// O5: one number with two contents is a cloned machine.
TEST_P(StoreContract, a_session_that_says_two_things_under_one_number_ends) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    run_one(worker);
    auto heartbeat = heartbeat_of(worker);
    EXPECT_EQ(send(heartbeat).answer, HeartbeatAnswer::accept);
    heartbeat.content_hash = 1;
    EXPECT_EQ(send(heartbeat).answer, HeartbeatAnswer::cloned);
    EXPECT_FALSE(session(worker).open);
    EXPECT_EQ(state(id), JobState::running) << "until its lease ends";
    heartbeat.number = 9;
    EXPECT_EQ(send(heartbeat).answer, HeartbeatAnswer::session_ended);
}

TEST_P(StoreContract, what_a_heartbeat_does_not_list_and_has_seen_did_not_start_or_is_lost) {
    const auto worker = open_session();
    const auto lost = submit(Wanted::once());
    const auto unstarted = submit(Wanted::once());
    const auto started = run_one(worker);
    claim_one(worker);
    auto heartbeat = heartbeat_of(worker);
    heartbeat.attempts.clear();
    const auto ended = send(heartbeat).ended;
    ASSERT_EQ(ended.size(), 2U);
    EXPECT_EQ(ended[0].attempt, started);
    EXPECT_EQ(state(lost), JobState::quarantined);
    EXPECT_EQ(last_attempt(lost).end->cause, Cause::shim_lost);
    EXPECT_EQ(state(unstarted), JobState::ready);
    EXPECT_EQ(last_attempt(unstarted).end->ran, Ran::no);
}

TEST_P(StoreContract, what_a_heartbeat_has_not_seen_is_sent_again_with_all_that_it_needs) {
    const auto worker = open_session();
    submit(Wanted::resumable());
    const auto first = run_one(worker);
    ASSERT_TRUE(progress(worker, first, Progress::Kind::checkpoint, "half").has_value());
    finish(worker, first, conflict_with_somebody());
    const auto assignment = claim(worker, 1).front();
    auto heartbeat = heartbeat_of(worker);
    heartbeat.seen = assignment.number - 1;
    heartbeat.attempts.clear();
    const auto resent = send(heartbeat).resent;
    ASSERT_EQ(resent.size(), 1U);
    EXPECT_EQ(resent[0].attempt, assignment.attempt);
    EXPECT_EQ(resent[0].number, assignment.number);
    EXPECT_EQ(resent[0].checkpoint, "half");
    EXPECT_EQ(resent[0].spec, assignment.spec);
}

TEST_P(StoreContract, a_heartbeat_confirms_a_start_of_which_nothing_was_heard) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    claim_one(worker);
    auto heartbeat = heartbeat_of(worker);
    heartbeat.attempts[0].phase = Listed::Phase::running;
    EXPECT_TRUE(send(heartbeat).stop.empty());
    EXPECT_EQ(state(id), JobState::running);
}

// A worker that takes nothing after crashes is not one that a person has stopped.
TEST_P(StoreContract, a_session_drains_only_if_it_says_so) {
    const auto worker = open_session();
    for (const std::uint32_t slots : {0U, 4U})
        for (const bool draining : {true, false}) {
            auto heartbeat = heartbeat_of(worker);
            heartbeat.slots = slots;
            heartbeat.draining = draining;
            ASSERT_TRUE(apply(heartbeat).has_value());
            EXPECT_EQ(session(worker).draining, draining) << slots;
        }
}

TEST_P(StoreContract, renewals_only_ever_raise_the_deadline) {
    const auto worker = open_session();
    auto detaching = heartbeat_of(worker);
    detaching.lease = timing.detach_lease;
    ASSERT_TRUE(apply(detaching).has_value());
    const auto deadline = now() + timing.detach_lease;
    pass(seconds(1));
    send_heartbeat(worker);
    EXPECT_EQ(session(worker).lease_deadline, deadline);
}

TEST_P(StoreContract, what_a_session_has_seen_only_ever_rises) {
    const auto worker = open_session();
    auto heartbeat = heartbeat_of(worker);
    heartbeat.seen = 5;
    ASSERT_TRUE(apply(heartbeat).has_value());
    heartbeat.seen = 3;
    ++heartbeat.number;
    ASSERT_TRUE(apply(heartbeat).has_value());
    EXPECT_EQ(session(worker).seen, 5U);
}

TEST_P(StoreContract, a_heartbeat_after_the_lease_ran_out_revives_it) {
    const auto worker = open_session();
    submit(Wanted::job());
    run_one(worker);
    pass(timing.lease + seconds(5));
    EXPECT_EQ(told().attempts.size(), 1U);
    send_heartbeat(worker);
    EXPECT_TRUE(told().attempts.empty());
}

TEST_P(StoreContract, every_stream_has_a_higher_number) {
    const auto worker = open_session();
    EXPECT_EQ(get<StreamOpened>(apply(OpenStream{worker})).stream, 2U);
    EXPECT_EQ(get<StreamOpened>(commit(other_server, {OpenStream{worker}}).replies[0]).stream, 3U);
    EXPECT_EQ(session(worker).stream, 3U);
}

TEST_P(StoreContract, an_ended_session_is_fenced) {
    const auto worker = open_session();
    ASSERT_TRUE(apply(EndSession{worker}).has_value());
    EXPECT_FALSE(session(worker).open);
    EXPECT_EQ(send_heartbeat(worker).answer, HeartbeatAnswer::session_ended);
    EXPECT_TRUE(refused(apply(OpenStream{worker}), Errc::fenced));
    EXPECT_TRUE(refused(try_claim(worker), Errc::fenced));
    EXPECT_TRUE(apply(EndSession{worker}).has_value());  // saying it again is fine
}

TEST_P(StoreContract, attempts_of_an_ended_session_stay_until_its_lease_ends) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    run_one(worker);
    ASSERT_TRUE(apply(EndSession{worker}).has_value());
    EXPECT_EQ(state(id), JobState::running);
    pass(timing.lease - microseconds(1));
    EXPECT_TRUE(sweep().attempts.empty());
    pass(microseconds(1));
    sweep();
    EXPECT_FALSE(job(id).run.has_value());
}

TEST_P(StoreContract, the_latest_session_of_a_place_is_known_and_what_runs_in_it) {
    const Worker worker{.name = "worker-1"};
    auto directory = directory_of(worker);
    EXPECT_FALSE(run(store().latest_session(directory))->has_value());
    const auto id = open_session(worker);
    submit(Wanted::job());
    const auto attempt = claim_one(id);
    EXPECT_EQ(*run(store().latest_session(directory)), id);
    ASSERT_EQ(session(id).runs.size(), 1U);
    EXPECT_EQ(session(id).runs[0].attempt, attempt);

    directory.boot = "boot-2";
    EXPECT_TRUE(run(store().latest_session(directory))->has_value());
    directory.inode = 99;
    EXPECT_FALSE(run(store().latest_session(directory))->has_value());
    ASSERT_TRUE(apply(EndSession{id}).has_value());
    // Ended or not: its attempts are to be inherited, and its life is not to be spoken from again.
    EXPECT_EQ(*run(store().latest_session(directory_of(worker))), id);
    EXPECT_FALSE(session(id).open);
    EXPECT_EQ(session(id).runs.size(), 1U);
}

TEST_P(StoreContract, a_takeover_moves_attempts_with_their_epochs) {
    const auto old_life = open_session();
    submit(Wanted::job());
    submit(Wanted::once());
    const auto first = run_one(old_life);
    pass(seconds(1));
    const auto second = claim_one(old_life);
    const auto terms = job(second.job).run->terms;
    pass(seconds(1));
    const auto heir = takeover_of(old_life, {});
    ASSERT_TRUE(apply(heir).has_value());

    EXPECT_FALSE(session(old_life).open);
    EXPECT_TRUE(session(old_life).runs.empty());
    const auto runs = session(heir.session).runs;
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[0].attempt, first);
    EXPECT_EQ(runs[0].assignment, 1U);
    EXPECT_EQ(runs[0].state, JobState::running);
    EXPECT_EQ(runs[1].attempt, second);
    EXPECT_EQ(runs[1].assignment, 2U);
    EXPECT_EQ(runs[1].state, JobState::starting);
    EXPECT_EQ(runs[1].terms, terms);
    EXPECT_EQ(runs[1].confirm_deadline, now() + timing.confirm);
    EXPECT_EQ(session(heir.session).assignments, 2U);
    EXPECT_EQ(last_attempt(first.job).session, heir.session);
    finish(heir.session, first, success());
}

// Shims were told of the longer lease before the worker detached (L2).
TEST_P(StoreContract, a_takeover_does_not_shorten_the_lease) {
    const auto worker = open_session();
    auto detaching = heartbeat_of(worker);
    detaching.lease = timing.detach_lease;
    ASSERT_TRUE(apply(detaching).has_value());
    const auto deadline = now() + timing.detach_lease;
    pass(seconds(1));
    const auto heir = takeover_of(worker, {});
    ASSERT_TRUE(apply(heir).has_value());
    EXPECT_EQ(session(heir.session).lease_deadline, deadline);
}

TEST_P(StoreContract, a_takeover_ends_what_is_not_on_disk) {
    const auto old_life = open_session();
    const auto id = submit(Wanted::once());
    const auto attempt = claim_one(old_life);
    auto heir = takeover_of(old_life, {});
    heir.on_disk.clear();
    const auto reply = commit({heir});
    EXPECT_TRUE(reply.work_appeared);
    EXPECT_EQ(get<SessionOpened>(reply.replies[0]).ended.size(), 1U);
    EXPECT_EQ(state(id), JobState::ready);
    EXPECT_EQ(last_attempt(id).end->ran, Ran::no);
    EXPECT_EQ(last_attempt(id).rule, "any/did_not_run");
    EXPECT_FALSE(job(id).presumed_lost);
    EXPECT_TRUE(refused(start(old_life, attempt), Errc::fenced));
}

TEST_P(StoreContract, an_opening_counts_once) {
    const auto first = open_session_of({});
    EXPECT_EQ(get<SessionOpened>(apply(first)).session, first.session);
    submit(Wanted::job());
    auto again = open_session_of({});
    again.life = first.life;
    const auto repeated = get<SessionOpened>(apply(again));
    EXPECT_EQ(repeated.opening, Opening::repeated);
    EXPECT_EQ(repeated.session, first.session);
    EXPECT_TRUE(session(first.session).open);
}

TEST_P(StoreContract, an_earlier_life_and_a_living_twin_are_refused) {
    const auto first = open_session();
    auto heir = takeover_of(first, {});
    EXPECT_EQ(get<SessionOpened>(apply(heir)).opening, Opening::take_over);
    EXPECT_TRUE(refused(apply(open_session_of({})), Errc::fenced)) << "an earlier life";
    auto twin = takeover_of(heir.session, {.boot = "boot-2"});
    EXPECT_TRUE(refused(apply(twin), Errc::conflict)) << "the other one is alive";
    EXPECT_TRUE(session(heir.session).open);
    pass(timing.suspect);
    EXPECT_EQ(get<SessionOpened>(apply(twin)).opening, Opening::after_reboot);
    EXPECT_FALSE(session(heir.session).open);
}

TEST_P(StoreContract, after_a_reboot_what_was_cancelled_is_cancelled) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    run_one(worker);
    ASSERT_TRUE(apply(Cancel{id}).has_value());
    pass(timing.suspect);
    auto heir = takeover_of(worker, {.boot = "boot-2"});
    heir.on_disk.clear();
    ASSERT_TRUE(apply(heir).has_value());
    EXPECT_EQ(state(id), JobState::cancelled);
}

TEST_P(StoreContract, a_takeover_keeps_kill_orders_and_cleanness) {
    const auto worker = open_session();
    const auto id = submit(Wanted::resumable());
    const auto attempt = run_one(worker);
    ASSERT_TRUE(progress(worker, attempt, Progress::Kind::checkpoint, "x").has_value());
    ASSERT_TRUE(apply(Cancel{id}).has_value());
    ASSERT_TRUE(apply(takeover_of(worker, {})).has_value());
    EXPECT_EQ(job(id).run->kill_cause, Cause::cancelled);
    EXPECT_TRUE(job(id).run->clean);
}

TEST_P(StoreContract, a_takeover_frees_the_keys_of_what_it_ends) {
    const auto worker = open_session();
    submit(Wanted::keyed("k"));
    const auto second = submit(Wanted::keyed("k"));
    const auto attempt = run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    pass(timing.suspect);
    auto heir = takeover_of(worker, {.boot = "boot-2"});
    heir.on_disk.clear();
    ASSERT_TRUE(apply(heir).has_value());
    EXPECT_EQ(last_attempt(attempt.job).end->cause, Cause::host_lost);
    EXPECT_EQ(state(second), JobState::ready);
}

}  // namespace
}  // namespace perdure::contract
