// Claiming: who may, what, in which order [P2] (O3, O6, E6).
#include <algorithm>

#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

std::vector<JobId> jobs_of(const std::vector<Assignment>& assignments) {
    std::vector<JobId> jobs;
    for (const auto& a : assignments) jobs.push_back(a.attempt.job);
    return jobs;
}

JobSpec with_priority(std::uint8_t priority) {
    auto spec = Wanted::job();
    spec.priority = priority;
    return spec;
}

TEST_P(StoreContract, a_claim_raises_the_epoch_and_writes_the_attempt) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    pass(seconds(1));
    const auto assignments = claim(worker);
    ASSERT_EQ(assignments.size(), 1U);
    const auto& assignment = assignments.front();
    EXPECT_EQ(assignment.attempt, (AttemptKey{id, Epoch{1}}));
    EXPECT_EQ(assignment.number, 1U);
    EXPECT_EQ(assignment.spec->kind, "work");

    const auto view = job(id);
    EXPECT_EQ(view.epoch, Epoch{1});
    EXPECT_EQ(view.state, JobState::starting);
    ASSERT_TRUE(view.run.has_value());
    EXPECT_EQ(view.run->session, worker);
    EXPECT_EQ(view.run->confirm_deadline, now() + timing.confirm);
    EXPECT_EQ(view.run->terms, assignment.terms);
    ASSERT_EQ(view.attempts.size(), 1U);
    EXPECT_EQ(view.attempts[0].claimed_at, now());
    EXPECT_EQ(view.attempts[0].session, worker);
    EXPECT_FALSE(view.attempts[0].start_committed);
    EXPECT_FALSE(view.attempts[0].end.has_value());
}

TEST_P(StoreContract, every_claim_has_an_epoch_of_its_own) {
    const auto worker = open_session();
    submit(Wanted::job());
    for (std::uint32_t epoch = 1; epoch <= 4; ++epoch) {
        const auto attempt = run_one(worker);
        EXPECT_EQ(attempt.epoch, Epoch{epoch});
        finish(worker, attempt, conflict_with_somebody());
    }
}

TEST_P(StoreContract, a_job_is_claimed_once) {
    const auto first = open_session({.name = "worker-1"});
    const auto second = open_session({.name = "worker-2"});
    submit(Wanted::job());
    EXPECT_EQ(claim(first).size(), 1U);
    EXPECT_TRUE(claim(second).empty());
}

TEST_P(StoreContract, two_claims_in_one_group_share_what_there_is) {
    const auto first = open_session({.name = "worker-1"});
    const auto second = open_session({.name = "worker-2"});
    submit(Wanted::job());
    const auto reply = commit({Claim{first, 1, 10}, Claim{second, 1, 10}});
    EXPECT_EQ(get<Claimed>(reply.replies[0]).assignments.size(), 1U);
    EXPECT_TRUE(get<Claimed>(reply.replies[1]).assignments.empty());
}

TEST_P(StoreContract, the_terms_are_fixed_by_what_the_job_holds_and_does) {
    const auto worker = open_session();
    submit(Wanted::job());
    submit(Wanted::keyed("k"));
    submit(Wanted::once());
    const auto assignments = claim(worker);
    ASSERT_EQ(assignments.size(), 3U);
    EXPECT_EQ(assignments[0].terms.isolation, Isolation::fenced);
    EXPECT_FALSE(assignments[0].terms.asks);
    EXPECT_EQ(assignments[1].terms.isolation, Isolation::exclusive);
    EXPECT_TRUE(assignments[1].terms.asks);
    EXPECT_EQ(assignments[2].terms.effects, Effects::once);
    EXPECT_EQ(assignments[2].terms.release_after, timing.hold);
}

TEST_P(StoreContract, claims_go_by_priority_then_time_then_id) {
    const auto late = submit_of(with_priority(5));
    const auto later = submit_of(with_priority(5));
    const auto worker = open_session();
    const auto early = submit(with_priority(5));
    const auto urgent = submit(with_priority(0));
    const auto last = submit(with_priority(9));
    pass(seconds(1));
    ASSERT_TRUE(apply(later).has_value());
    ASSERT_TRUE(apply(late).has_value());
    EXPECT_EQ(jobs_of(claim(worker)), (std::vector<JobId>{urgent, early, late.id, later.id, last}));
}

TEST_P(StoreContract, first_in_line_is_before_all_of_its_own_priority_and_no_higher) {
    const auto worker = open_session({.slots = 1});
    const auto retried = submit(with_priority(5));
    const auto attempt = run_one(worker);
    const auto urgent = submit(with_priority(4));
    const auto older = submit(with_priority(5));
    finish(worker, attempt, conflict_with_somebody());
    EXPECT_EQ(claim_one(worker).job, urgent);
    finish(worker, {urgent, Epoch{1}}, success());
    EXPECT_EQ(claim_one(worker).job, retried);
    finish(worker, {retried, Epoch{2}}, success());
    EXPECT_EQ(claim_one(worker).job, older);
}

TEST_P(StoreContract, a_session_gets_only_what_it_offers_to_take) {
    auto spec = Wanted::job();
    spec.queue = "mail";
    const auto mail = submit(spec);
    spec.queue = "print";
    spec.kind = "page";
    const auto page = submit(spec);
    spec.tenant = "other";
    const auto foreign = submit(spec);

    const auto printer = open_session({.name = "p", .offer = {.queues = {"print"}}});
    const auto worker = open_session({.name = "w", .offer = {.kinds = {"work"}}});
    const auto stranger = open_session({.name = "s", .offer = {.tenant = "other"}});
    const auto nobody =
        open_session({.name = "n", .offer = {.queues = {"mail"}, .kinds = {"page"}}});
    EXPECT_TRUE(claim(nobody).empty());
    EXPECT_EQ(jobs_of(claim(printer)), std::vector<JobId>{page});
    EXPECT_EQ(jobs_of(claim(worker)), std::vector<JobId>{mail});
    EXPECT_EQ(jobs_of(claim(stranger)), std::vector<JobId>{foreign});
}

JobSpec of_tenant(const std::string& tenant, std::uint8_t priority = 5) {
    auto spec = Wanted::job();
    spec.tenant = tenant;
    spec.priority = priority;
    return spec;
}

// A backlog of one does not make the others wait for its end; priority goes before turns.
TEST_P(StoreContract, tenants_of_one_session_take_turns) {
    std::vector<JobId> backlog;
    for (int i = 0; i < 4; ++i) backlog.push_back(submit(of_tenant("acme")));
    const auto first = submit(of_tenant("beta"));
    const auto second = submit(of_tenant("beta"));
    const auto urgent = submit(of_tenant("beta", 1));
    submit(of_tenant("stranger"));
    const auto worker = open_session(
        {.name = "w", .slots = 20, .offer = {.tenant = "acme", .other_tenants = {"beta"}}});
    std::vector<JobId> order;
    for (const auto& assignment : get<Claimed>(try_claim(worker)).assignments)
        order.push_back(assignment.attempt.job);
    EXPECT_EQ(order,
              (std::vector{urgent, backlog[0], first, backlog[1], second, backlog[2], backlog[3]}));
}

TEST_P(StoreContract, a_session_gets_as_much_as_it_has_free_slots) {
    const auto worker = open_session({.slots = 2});
    for (int i = 0; i < 4; ++i) submit(Wanted::job());
    const auto first = get<Claimed>(try_claim(worker));
    EXPECT_EQ(first.assignments.size(), 2U);
    EXPECT_GT(first.left, 0U);
    EXPECT_TRUE(claim(worker).empty());
    EXPECT_TRUE(start(worker, first.assignments[0].attempt).has_value());
    finish(worker, first.assignments[0].attempt, success());
    EXPECT_EQ(claim(worker).size(), 1U);
}

TEST_P(StoreContract, a_claim_takes_at_most_what_it_asks_for_and_says_what_is_left) {
    const auto worker = open_session();
    for (int i = 0; i < 3; ++i) submit(Wanted::job());
    const auto first = get<Claimed>(try_claim(worker, 2));
    EXPECT_EQ(first.assignments.size(), 2U);
    EXPECT_GT(first.left, 0U);
    const auto second = get<Claimed>(try_claim(worker, 2));
    EXPECT_EQ(second.assignments.size(), 1U);
    EXPECT_EQ(second.left, 0U);
}

TEST_P(StoreContract, a_session_that_drains_gets_nothing) {
    const auto worker = open_session();
    submit(Wanted::job());
    auto draining = heartbeat_of(worker);
    draining.slots = 0;
    ASSERT_TRUE(apply(draining).has_value());
    EXPECT_TRUE(claim(worker).empty());
}

TEST_P(StoreContract, a_lost_attempt_does_not_cost_a_slot) {
    const auto worker = open_session({.slots = 1});
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    lose(attempt);
    pass_with_heartbeats(minutes(1));
    sweep();
    EXPECT_EQ(claim(worker).size(), 1U);
}

TEST_P(StoreContract, a_claim_for_an_older_stream_is_fenced) {
    const auto worker = open_session();
    submit(Wanted::job());
    EXPECT_EQ(get<StreamOpened>(apply(OpenStream{worker})).stream, 2U);
    EXPECT_TRUE(refused(apply(Claim{worker, 1, 10}), Errc::fenced));
    EXPECT_EQ(get<Claimed>(apply(Claim{worker, 2, 10})).assignments.size(), 1U);
}

TEST_P(StoreContract, a_claim_for_an_unknown_session_is_not_found) {
    EXPECT_TRUE(refused(apply(Claim{SessionId{next_id()}, 1, 10}), Errc::not_found));
}

TEST_P(StoreContract, a_silent_session_gets_nothing_until_its_next_heartbeat) {
    const auto worker = open_session();
    submit(Wanted::job());
    pass(timing.suspect - microseconds(1));
    EXPECT_TRUE(try_claim(worker, 0).has_value());
    pass(microseconds(1));
    EXPECT_TRUE(refused(try_claim(worker), Errc::conflict));
    EXPECT_EQ(send_heartbeat(worker).answer, HeartbeatAnswer::accept);
    EXPECT_EQ(claim(worker).size(), 1U);
}

TEST_P(StoreContract, a_session_with_an_unconfirmed_start_gets_nothing) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto attempt = claim_one(worker);
    submit(Wanted::job());
    pass_with_heartbeats(timing.confirm);
    EXPECT_TRUE(refused(try_claim(worker), Errc::conflict));
    ASSERT_TRUE(start(worker, attempt).has_value());
    EXPECT_EQ(claim(worker).size(), 1U);
}

TEST_P(StoreContract, a_paused_queue_is_not_claimed_and_its_jobs_stay_ready) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    auto spec = Wanted::job();
    spec.queue = "other";
    const auto other = submit(spec);
    ASSERT_TRUE(apply(PauseQueue{"default", "default", true}).has_value());
    const auto claimed = get<Claimed>(try_claim(worker));
    EXPECT_EQ(jobs_of(claimed.assignments), std::vector<JobId>{other});
    EXPECT_EQ(claimed.left, 0U);
    EXPECT_EQ(state(id), JobState::ready);

    EXPECT_TRUE(commit({PauseQueue{"default", "default", false}}).work_appeared);
    EXPECT_EQ(jobs_of(claim(worker)), std::vector<JobId>{id});
}

TEST_P(StoreContract, assignment_numbers_count_on_whichever_server_claims) {
    const auto worker = open_session();
    std::vector<std::uint64_t> numbers;
    for (auto* by : {&server, &other_server, &server, &other_server}) {
        submit(Wanted::job());
        const auto reply = commit(*by, {Claim{worker, 1, 1}});
        for (const auto& a : get<Claimed>(reply.replies.front()).assignments)
            numbers.push_back(a.number);
    }
    EXPECT_EQ(numbers, (std::vector<std::uint64_t>{1, 2, 3, 4}));
    EXPECT_EQ(session(worker).assignments, 4U);
}

TEST_P(StoreContract, a_lost_job_waits_a_little_for_another_worker) {
    const auto first = open_session({.name = "worker-1"});
    submit(Wanted::job());
    submit(Wanted::job());  // not alone: the loss is not its fault
    const auto attempt = run_one(first);
    run_one(first);
    lose(attempt);
    EXPECT_EQ(send_heartbeat(first).answer, HeartbeatAnswer::accept);
    const auto second = open_session({.name = "worker-2"});
    EXPECT_TRUE(claim(first).empty());
    EXPECT_EQ(claim(second, 1).size(), 1U);
    pass_with_heartbeats(timing.prefer_another);
    EXPECT_EQ(claim(first).size(), 1U);
}

TEST_P(StoreContract, a_job_does_not_wait_for_another_worker_where_there_is_none) {
    const auto worker = open_session({.name = "worker-1"});
    const auto other = open_session({.name = "worker-2"});
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    ASSERT_TRUE(apply(EndSession{other}).has_value());
    finish(worker, attempt, did_not_run());
    EXPECT_EQ(claim(worker).size(), 1U);
}

TEST_P(StoreContract, a_job_does_not_wait_for_a_worker_without_slots_or_lease) {
    const auto silent = open_session({.name = "worker-2"});
    const auto full = open_session({.name = "worker-3", .slots = 0});
    const auto worker = open_session({.name = "worker-1"});
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    pass(session(silent).lease_deadline - now());
    EXPECT_EQ(send_heartbeat(worker).answer, HeartbeatAnswer::accept);
    EXPECT_EQ(send_heartbeat(full).answer, HeartbeatAnswer::accept);
    finish(worker, attempt, did_not_run());
    EXPECT_EQ(claim(worker).size(), 1U) << "at its very end a lease is over";
}

TEST_P(StoreContract, many_jobs_that_avoid_a_worker_do_not_hide_the_one_behind_them) {
    const auto worker = open_session({.slots = 20});
    open_session({.name = "worker-2"});
    for (int i = 0; i < 20; ++i) submit(Wanted::job());
    for (const auto& assignment : claim(worker, 20))
        finish(worker, assignment.attempt, did_not_run());
    const auto next = submit(Wanted::job());
    EXPECT_EQ(claim_one(worker).job, next);
}

// A claim reads a line ahead while it skips: whoever comes back into the line is not overlooked.
TEST_P(StoreContract, who_is_promoted_by_a_claim_that_skips_is_claimed_in_order) {
    const auto worker = open_session();
    const auto other = open_session({.name = "worker-2"});
    define_limit("pool", 1);
    auto holder = Wanted::limited("pool");
    holder.kind = "holder";
    submit(holder);
    const auto pool = run_one(other);
    auto both = Wanted::limited("pool");
    both.key = "k";
    const auto blocked_twice = submit(both);
    const auto blocked_once = submit(Wanted::limited("pool"));
    EXPECT_TRUE(claim(other).empty());
    submit(Wanted::keyed("k"));
    run_one(other);
    submit(Wanted::job());
    finish(worker, run_one(worker), did_not_run());  // the first in line avoids this worker
    finish(other, pool, success());
    const auto last = submit(Wanted::job());
    ASSERT_EQ(state(blocked_twice), JobState::ready);
    ASSERT_EQ(state(blocked_once), JobState::blocked);

    EXPECT_EQ(claim_one(worker).job, blocked_once);
    EXPECT_EQ(state(blocked_twice), JobState::blocked);
    EXPECT_EQ(claim_one(worker).job, last);
}

TEST_P(StoreContract, a_job_that_avoids_a_worker_does_not_hide_the_next_one) {
    const auto worker = open_session({.slots = 1});
    open_session({.name = "worker-2"});
    submit(Wanted::job());
    finish(worker, run_one(worker), did_not_run());
    const auto next = submit(Wanted::job());
    EXPECT_EQ(claim_one(worker).job, next);
}

TEST_P(StoreContract, a_job_promoted_ahead_of_a_skipped_one_is_claimed) {
    const auto worker = open_session();
    const auto other = open_session({.name = "worker-2"});
    define_limit("pool", 1);
    auto both = Wanted::keyed("a");
    both.limits = {"pool"};
    submit(both);
    run_one(other);
    auto urgent = Wanted::limited("pool");
    urgent.priority = 1;
    const auto first = submit(urgent);
    ASSERT_TRUE(claim(worker).empty());
    submit(Wanted::job());
    finish(worker, run_one(worker), did_not_run());  // this worker skips it
    submit(both);
    define_limit("pool", 2);  // the one that has just come is offered it
    ASSERT_EQ(state(first), JobState::blocked);
    EXPECT_EQ(claim_one(worker).job, first);
}

TEST_P(StoreContract, a_new_life_of_the_avoided_worker_is_the_same_worker) {
    const auto worker = open_session();
    open_session({.name = "worker-2"});
    submit(Wanted::job());
    finish(worker, run_one(worker), did_not_run());
    const auto heir = takeover_of(worker, {});
    ASSERT_TRUE(apply(heir).has_value());
    EXPECT_TRUE(claim(heir.session).empty());
    pass_with_heartbeats(timing.prefer_another);
    EXPECT_EQ(claim(heir.session).size(), 1U);
}

TEST_P(StoreContract, the_next_attempt_gets_the_last_checkpoint) {
    const auto worker = open_session();
    submit(Wanted::job());
    auto attempt = run_one(worker);
    ASSERT_TRUE(progress(worker, attempt, Progress::Kind::checkpoint, "one").has_value());
    ASSERT_TRUE(progress(worker, attempt, Progress::Kind::checkpoint, "two").has_value());
    EXPECT_EQ(job(attempt.job).run->checkpoint, "");
    finish(worker, attempt, conflict_with_somebody());
    EXPECT_EQ(claim(worker).front().checkpoint, "two");
    attempt.epoch = attempt.epoch.next();
    EXPECT_EQ(job(attempt.job).run->checkpoint, "two");
    ASSERT_TRUE(start(worker, attempt).has_value());
    finish(worker, attempt, conflict_with_somebody());
    EXPECT_EQ(claim(worker).front().checkpoint, "two");
}

TEST_P(StoreContract, the_run_row_counts_the_earlier_attempts_of_the_generation) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    finish(worker, run_one(worker), crash());
    pass_with_heartbeats(minutes(1));
    sweep();
    finish(worker, run_one(worker), conflict_with_somebody());
    run_one(worker);
    const auto counts = job(id).run->counts;
    EXPECT_EQ(counts[CauseClass::crash], 1U);
    EXPECT_EQ(counts[CauseClass::conflict], 1U);
    EXPECT_EQ(session(worker).runs.front().counts, counts);
}

TEST_P(StoreContract, work_appears_when_a_job_becomes_ready_and_not_when_it_leaves) {
    const auto worker = open_session();
    EXPECT_TRUE(commit({submit_of(Wanted::job())}).work_appeared);
    const auto claimed = commit({Claim{worker, 1, 1}});
    EXPECT_FALSE(claimed.work_appeared);
    const auto attempt = get<Claimed>(claimed.replies.front()).assignments.front().attempt;
    EXPECT_TRUE(commit({Report{worker, attempt, conflict_with_somebody()}}).work_appeared);
    EXPECT_FALSE(commit({Cancel{attempt.job}}).work_appeared);
}

// The end of an attempt whose worker crashed again and again while it ran beside others.
AttemptEnd suspected() { return {.cause = Cause::suspect, .ran = Ran::yes, .reported = true}; }

TEST_P(StoreContract, a_suspect_is_claimed_next_by_an_empty_session_only) {
    // O9: alone it shows whether it was the one.
    const auto busy = open_session({.name = "worker-1"});
    const auto suspect = submit(Wanted::job());
    const auto attempt = run_one(busy);
    finish(busy, attempt, suspected());
    const auto neighbour = submit(Wanted::job());
    commit({Hold{suspect}});
    EXPECT_EQ(run_one(busy).job, neighbour);
    commit({Hold{suspect, false}});

    EXPECT_TRUE(claim(busy).empty());
    EXPECT_EQ(job(suspect).state, JobState::ready);
    const auto empty = open_session({.name = "worker-2"});
    EXPECT_EQ(jobs_of(claim(empty)), std::vector{suspect});
}

TEST_P(StoreContract, a_suspect_keeps_nobody_behind_it_waiting) {
    const auto busy = open_session();
    submit(Wanted::job());
    const auto elder = run_one(busy);
    const auto suspect = submit(Wanted::job());
    finish(busy, run_one(busy), suspected());
    const auto behind = submit(Wanted::job());

    EXPECT_EQ(jobs_of(claim(busy)), std::vector{behind});
    EXPECT_EQ(job(suspect).state, JobState::ready);
    finish(busy, elder, success());
}

TEST_P(StoreContract, a_suspect_is_taken_by_the_worker_that_suspected_it_once_that_is_empty) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto elder = run_one(worker);
    const auto suspect = submit(Wanted::job());
    finish(worker, run_one(worker), suspected());
    EXPECT_TRUE(claim(worker).empty());
    finish(worker, elder, success());

    EXPECT_EQ(jobs_of(claim(worker)), std::vector{suspect});
}

TEST_P(StoreContract, a_suspect_does_not_wait_for_ever_for_an_empty_session) {
    // P3: a worker that is always busy would starve it.
    const auto busy = open_session();
    submit(Wanted::job());
    run_one(busy);
    const auto suspect = submit(Wanted::job());
    finish(busy, run_one(busy), suspected());
    pass_with_heartbeats(timing.suspect_alone - seconds(2));
    EXPECT_TRUE(claim(busy).empty());
    pass_with_heartbeats(seconds(3));

    EXPECT_EQ(jobs_of(claim(busy)), std::vector{suspect});
}

TEST_P(StoreContract, what_a_person_has_released_is_no_suspect_any_more) {
    const auto busy = open_session();
    submit(Wanted::job());
    run_one(busy);
    const auto once = submit(Wanted::once());
    finish(busy, run_one(busy), suspected());
    EXPECT_EQ(job(once).state, JobState::quarantined);
    commit({DealWithQuarantined{once, QuarantineAction::release, true}});

    EXPECT_EQ(jobs_of(claim(busy)), std::vector{once});
}

}  // namespace
}  // namespace perdure::contract
