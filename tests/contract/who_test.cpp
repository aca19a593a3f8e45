// Who submitted a job, what people did to it, and what attempts ask for from inside (W1, W2, P2).
#include "core/job/submit.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

const Who ann{"ann", 1001};
const Who root{"root", 0};
const Who token{"token deploy", std::nullopt};

JobSpec by(const Who& who, JobSpec spec = Wanted::job()) {
    keep_submitter(spec, who);
    return spec;
}

class WhoContract : public StoreContract {
protected:
    ChangeReply submit_as(std::optional<ByAttempt> by, JobSpec spec = Wanted::job()) {
        if (by) spec.parent = by->attempt;
        auto change = submit_of(std::move(spec));
        change.by = by;
        return apply(change);
    }
    ChangeReply cancel_as(JobId id, const ByAttempt& by) { return apply(Cancel{id, "ann", by}); }
};

TEST_P(WhoContract, a_job_keeps_who_submitted_it) {
    const auto id = submit(by(ann));
    EXPECT_EQ(job(id).spec->submitted_by, ann);
    EXPECT_EQ(job(submit(by(token))).spec->submitted_by, token);
    EXPECT_EQ(job(submit(Wanted::job())).spec->submitted_by, Who{});
    const auto worker = open_session();
    for (const auto& given : claim(worker))
        if (given.attempt.job == id) {
            EXPECT_EQ(given.spec->submitted_by, ann);
        }
}

TEST_P(WhoContract, a_callback_is_whose_who_has_asked_for_it) {
    auto wanted = Wanted::job();
    wanted.callbacks = {{Trigger::end, std::make_shared<const JobSpec>(Wanted::job())}};
    const auto id = submit(by(ann, wanted));
    const AddCallback added{
        JobId{next_id()}, id, {Trigger::end, std::make_shared<const JobSpec>(by(root))}};
    ASSERT_TRUE(apply(added));
    ASSERT_TRUE(apply(Cancel{id, "bob"}));
    const auto made = job(id).made;
    ASSERT_EQ(made.size(), 2U);
    EXPECT_EQ(job(made[0].job).spec->submitted_by, ann);
    EXPECT_EQ(job(made[1].job).spec->submitted_by, root);
}

TEST_P(WhoContract, what_people_did_is_kept_with_the_job) {
    const auto id = submit(Wanted::job());
    ASSERT_TRUE(apply(Hold{id, true, "ann"}));
    ASSERT_TRUE(apply(Hold{id, true, "bob"})) << "it is held: nothing has changed";
    ASSERT_TRUE(apply(Hold{id, false, "bob"}));
    ASSERT_TRUE(apply(Cancel{id, "token deploy"}));
    ASSERT_TRUE(apply(Cancel{id, "eve"})) << "it has ended";
    const std::vector<Act> acts = {{ActKind::hold, "ann", wall},
                                   {ActKind::unhold, "bob", wall},
                                   {ActKind::cancel, "token deploy", wall}};
    EXPECT_EQ(job(id).acts, acts);
}

TEST_P(WhoContract, a_kill_is_ordered_by_the_first_who_did) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    run_one(worker);
    for (const auto* who : {"ann", "bob"}) ASSERT_TRUE(apply(Cancel{id, who}));
    EXPECT_EQ(job(id).acts, (std::vector<Act>{{ActKind::cancel, "ann", wall}}));
}

TEST_P(WhoContract, what_is_done_about_quarantine_is_kept_through_generations) {
    const auto worker = open_session();
    auto wanted = Wanted::job();
    wanted.effects = Effects::once;
    const auto id = submit(wanted);
    finish(worker, run_one(worker), crash());
    ASSERT_EQ(state(id), JobState::quarantined);
    ASSERT_TRUE(apply(DealWithQuarantined{id, QuarantineAction::release, true, "ann"}));
    finish(worker, run_one(worker), crash());
    ASSERT_TRUE(apply(DealWithQuarantined{id, QuarantineAction::discard, true, "bob"}));
    const std::vector<Act> acts = {{ActKind::release, "ann", wall},
                                   {ActKind::discard, "bob", wall}};
    EXPECT_EQ(job(id).acts, acts);
}

TEST_P(WhoContract, so_many_acts_are_kept_and_no_more) {
    const auto id = submit(Wanted::job());
    for (std::size_t i = 0; i < acts_max; ++i) {
        ASSERT_TRUE(apply(Hold{id, true, std::to_string(i)}));
        ASSERT_TRUE(apply(Hold{id, false, "ann"}));
    }
    const auto acts = job(id).acts;
    ASSERT_EQ(acts.size(), acts_max);
    EXPECT_EQ(acts.front().by, std::to_string(acts_max / 2));
    EXPECT_EQ(acts.back().kind, ActKind::unhold);
}

// U3: a worker that runs each job as its submitter is not given what it could not run.
TEST_P(WhoContract, a_worker_takes_the_jobs_of_those_alone_as_whom_it_can_run_them) {
    const auto of_ann = submit(by(ann));
    const auto of_root = submit(by(root));
    const auto of_token = submit(by(token));
    const auto ids = [](const std::vector<Assignment>& given) {
        std::vector<JobId> jobs;
        for (const auto& one : given) jobs.push_back(one.attempt.job);
        return jobs;
    };
    const auto worker = [&](const std::string& name, TakesFrom from) {
        return open_session({.name = name, .offer = {.takes_from = from}});
    };
    const auto accounts = worker("accounts", TakesFrom::accounts);
    EXPECT_EQ(ids(claim(accounts)), std::vector{of_ann});
    const auto roots = worker("roots", TakesFrom::accounts_and_root);
    EXPECT_EQ(ids(claim(roots)), std::vector{of_root});
    EXPECT_EQ(state(of_token), JobState::ready);
    EXPECT_EQ(ids(claim(open_session())), std::vector{of_token});
    EXPECT_EQ(session(roots).offer.takes_from, TakesFrom::accounts_and_root);
}

TEST_P(WhoContract, an_attempt_that_runs_may_submit_and_cancel_what_it_has_submitted) {
    const auto worker = open_session();
    const auto other = submit(Wanted::job());
    const auto attempt = run_one(worker);
    ASSERT_EQ(attempt.job, other);
    const ByAttempt inside{worker, attempt};
    const auto child = get<Submitted>(submit_as(inside)).id;
    EXPECT_EQ(job(child).spec->parent, attempt);
    const auto stranger = submit(Wanted::job());
    EXPECT_TRUE(refused(cancel_as(stranger, inside), Errc::not_found));
    EXPECT_EQ(get<Cancelled>(cancel_as(child, inside)).kind, CancelDecision::Kind::end_now);
    EXPECT_EQ(state(stranger), JobState::ready);
}

// [P2]: no child job of any other attempt.
TEST_P(WhoContract, a_replaced_attempt_can_neither_submit_nor_cancel) {
    const auto worker = open_session();
    submit(Wanted::job());
    const auto first = run_one(worker);
    const ByAttempt inside{worker, first};
    auto keyed = Wanted::job();
    keyed.idempotency_key = "k";
    const auto child = get<Submitted>(submit_as(inside, keyed)).id;
    lose(first);
    const auto second = open_session({.name = "worker-2"});
    pass_with_heartbeats(minutes(1));  // it ran alone: that is taken for a crash, which waits
    sweep();
    AttemptKey replaced;
    for (const auto& given : claim(second)) {
        ASSERT_TRUE(start(second, given.attempt));
        if (given.attempt.job == first.job) replaced = given.attempt;
    }
    ASSERT_GT(replaced.epoch, first.epoch);
    SubmitAll batch{{submit_of(Wanted::job())}, inside};
    const auto fenced = audit().fenced;
    EXPECT_TRUE(refused(submit_as(inside), Errc::fenced));
    EXPECT_TRUE(refused(submit_as(inside, keyed), Errc::fenced)) << "also what it asked before";
    EXPECT_TRUE(refused(apply(batch), Errc::fenced));
    EXPECT_TRUE(refused(cancel_as(child, inside), Errc::fenced));
    EXPECT_EQ(audit().fenced, fenced + 4);
    EXPECT_TRUE(submit_as(ByAttempt{second, replaced}));
    EXPECT_TRUE(refused(submit_as(ByAttempt{worker, replaced}), Errc::fenced))
        << "the attempt of another session";
}

TEST_P(WhoContract, an_attempt_that_has_ended_or_not_started_asks_for_nothing) {
    const auto worker = open_session();
    submit(Wanted::keyed("a"));
    const auto asks = claim_one(worker);
    EXPECT_TRUE(refused(submit_as(ByAttempt{worker, asks}), Errc::fenced));
    ASSERT_TRUE(start(worker, asks));
    EXPECT_TRUE(submit_as(ByAttempt{worker, asks}));
    finish(worker, asks, success());
    EXPECT_TRUE(refused(submit_as(ByAttempt{worker, asks}), Errc::fenced));
    EXPECT_TRUE(refused(submit_as(ByAttempt{worker, {JobId{next_id()}, Epoch{1}}}), Errc::fenced));
}

INSTANTIATE_TEST_SUITE_P(Stores, WhoContract, testing::ValuesIn(store_factories()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace perdure::contract
