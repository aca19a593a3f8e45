// After: jobs that wait for others to end, and go on in the transaction that ends them [P7] (K2).
#include <algorithm>

#include "ports/catalogue.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

class AfterOthers : public StoreContract {
protected:
    static JobSpec after(std::vector<After> others, JobSpec spec = Wanted::job()) {
        spec.after = std::move(others);
        return spec;
    }

    // Claimed and started, whoever else is in line.
    AttemptKey run_this(SessionId worker, JobId id) {
        for (const auto& assignment : claim(worker)) {
            EXPECT_TRUE(start(worker, assignment.attempt).has_value());
        }
        return {id, job(id).epoch};
    }

    SubmitAll batch_of(std::vector<JobSpec> specs) {
        SubmitAll batch;
        for (auto& spec : specs) batch.jobs.push_back(submit_of(std::move(spec)));
        return batch;
    }
};

TEST_P(AfterOthers, a_job_waits_until_the_other_has_succeeded) {
    const auto worker = open_session();
    const auto first = submit(Wanted::job());
    const auto second = submit(after({{first}}));
    EXPECT_EQ(state(second), JobState::waiting);
    EXPECT_EQ(job(second).queue_deadline, now() + job(second).spec->timeouts.queue);
    const auto attempt = run_one(worker);
    EXPECT_TRUE(claim(worker).empty());
    const auto reply = commit({Report{worker, attempt, success(), nullptr}});
    EXPECT_TRUE(reply.work_appeared);
    EXPECT_EQ(state(second), JobState::ready);
    const auto assignments = claim(worker);
    ASSERT_EQ(assignments.size(), 1U);
    ASSERT_EQ(assignments.front().inputs.size(), 1U);
    EXPECT_EQ(assignments.front().inputs.front().job, first);
    EXPECT_EQ(assignments.front().inputs.front().state, JobState::succeeded);
}

TEST_P(AfterOthers, each_end_lets_go_on_or_cancels_as_the_table_says) {
    struct Row {
        Trigger on;
        bool after_success, after_failure, after_cancel;
    };
    const Row table[] = {{Trigger::success, true, false, false},
                         {Trigger::failure, false, true, false},
                         {Trigger::end, true, true, true}};
    const auto worker = open_session({.slots = 100});
    for (const auto& row : table) {
        for (const int way : {0, 1, 2}) {
            const auto first = submit(Wanted::once());
            const auto second = submit(after({{first, row.on}}, Wanted::once()));
            const auto attempt = run_this(worker, first);
            if (way == 2) {
                EXPECT_TRUE(apply(Cancel{first}).has_value());
            }
            finish(worker, attempt, way == 0 ? success() : exit_with(1));
            const bool goes_on = way == 0   ? row.after_success
                                 : way == 1 ? row.after_failure
                                            : row.after_cancel;
            const auto view = job(second);
            EXPECT_EQ(view.state, goes_on ? JobState::ready : JobState::cancelled);
            if (goes_on) continue;
            EXPECT_EQ(view.cause, Cause::cancelled);
            EXPECT_EQ(view.rule, "C4/after_did_not_hold");
        }
    }
}

TEST_P(AfterOthers, a_barrier_goes_on_after_the_last_of_all) {
    const auto worker = open_session();
    const auto a = submit(Wanted::job());
    const auto b = submit(Wanted::job());
    const auto joined = submit(after({{a}, {b, Trigger::end}}));
    const auto first = run_one(worker);
    const auto second = run_one(worker);
    finish(worker, first, success());
    EXPECT_EQ(state(joined), JobState::waiting);
    finish(worker, second, exit_with(2));
    EXPECT_EQ(state(joined), JobState::ready);
    const auto inputs = claim(worker).front().inputs;
    ASSERT_EQ(inputs.size(), 2U);
    EXPECT_EQ(inputs[0].job, a);
    EXPECT_EQ(inputs[1].job, b);
    EXPECT_EQ(inputs[1].exit_code, 2);
}

TEST_P(AfterOthers, a_barrier_goes_on_once_when_both_parts_end_in_one_group) {
    const auto worker = open_session();
    const auto a = submit(Wanted::job());
    const auto b = submit(Wanted::job());
    const auto joined = submit(after({{a}, {b}}));
    const auto first = run_one(worker);
    const auto second = run_one(worker);
    const auto replies = commit(
        {Report{worker, first, success(), nullptr}, Report{worker, second, success(), nullptr}});
    for (const auto& reply : replies.replies) EXPECT_TRUE(reply.has_value());
    EXPECT_EQ(state(joined), JobState::ready);
    EXPECT_EQ(claim(worker).size(), 1U);
}

TEST_P(AfterOthers, a_cancel_goes_down_the_whole_chain_in_one_transaction) {
    std::vector<JobId> chain{submit(Wanted::job())};
    for (int i = 0; i < 1'000; ++i) chain.push_back(submit(after({{chain.back()}})));
    const auto tidy = submit(after({{chain.back(), Trigger::end}}));
    EXPECT_TRUE(apply(Cancel{chain.front()}).has_value());
    for (const auto id : chain) EXPECT_EQ(state(id), JobState::cancelled);
    EXPECT_EQ(state(tidy), JobState::ready);
}

TEST_P(AfterOthers, a_cancel_by_after_fires_callbacks_like_any_other) {
    const auto first = submit(Wanted::job());
    auto spec = after({{first}});
    spec.callbacks = {{Trigger::end, std::make_shared<const JobSpec>(Wanted::job())},
                      {Trigger::failure, std::make_shared<const JobSpec>(Wanted::job())}};
    const auto second = submit(spec);
    EXPECT_TRUE(apply(Cancel{first}).has_value());
    ASSERT_EQ(job(second).made.size(), 1U);
    EXPECT_EQ(job(second).made.front().number, 0U);
}

TEST_P(AfterOthers, what_has_ended_before_counts_at_once) {
    const auto worker = open_session();
    const auto first = submit(Wanted::job());
    finish(worker, run_one(worker), success());
    const auto fits = get<Submitted>(apply(submit_of(after({{first}}))));
    EXPECT_EQ(fits.state, JobState::ready);
    const auto not_so = get<Submitted>(apply(submit_of(after({{first, Trigger::failure}}))));
    EXPECT_EQ(not_so.state, JobState::cancelled);
    EXPECT_EQ(state(not_so.id), JobState::cancelled);
}

TEST_P(AfterOthers, it_goes_to_its_date_if_that_is_still_ahead) {
    const auto worker = open_session();
    const auto first = submit(Wanted::job());
    auto spec = after({{first}});
    spec.run_at = wall + hours(1);
    const auto second = submit(spec);
    EXPECT_EQ(state(second), JobState::waiting);
    finish(worker, run_one(worker), success());
    EXPECT_EQ(state(second), JobState::scheduled);
}

TEST_P(AfterOthers, who_waits_too_long_expires) {
    const auto first = submit(Wanted::job());
    auto spec = after({{first}});
    spec.timeouts.queue = minutes(1);
    const auto second = submit(spec);
    pass(minutes(1) - microseconds(1));
    EXPECT_TRUE(overdue().waiting.empty());
    pass(microseconds(1));
    sweep();
    EXPECT_EQ(state(second), JobState::expired);
    EXPECT_TRUE(apply(Cancel{first}).has_value());
    EXPECT_EQ(state(second), JobState::expired);
}

TEST_P(AfterOthers, an_unknown_job_cannot_be_waited_for) {
    EXPECT_TRUE(refused(apply(submit_of(after({{JobId{next_id()}}}))), Errc::invalid));
    auto elsewhere = Wanted::job();
    elsewhere.tenant = "other";
    const auto other = submit(elsewhere);
    EXPECT_TRUE(refused(apply(submit_of(after({{other}}))), Errc::invalid));
}

TEST_P(AfterOthers, a_batch_names_its_earlier_jobs_and_no_later_ones) {
    const auto worker = open_session();
    auto batch = batch_of({Wanted::job(), Wanted::job()});
    batch.jobs.push_back(submit_of(after({{batch.jobs[0].id}, {batch.jobs[1].id}})));
    const auto reply = get<BatchSubmitted>(apply(batch));
    ASSERT_EQ(reply.jobs.size(), 3U);
    EXPECT_EQ(reply.jobs[2].state, JobState::waiting);
    std::swap(batch.jobs[0], batch.jobs[2]);
    for (auto& job : batch.jobs) job.id = JobId{next_id()};
    auto spec = *batch.jobs[0].spec;
    spec.after = {{batch.jobs[1].id}};
    batch.jobs[0].spec = std::make_shared<const JobSpec>(spec);
    const auto refused_one = get<BatchSubmitted>(apply(batch)).refused;
    ASSERT_TRUE(refused_one);
    EXPECT_EQ(refused_one->index, 0U);
    EXPECT_EQ(refused_one->why.code, Errc::invalid);
    EXPECT_EQ(claim(worker).size(), 2U);
}

// Nothing of another tenant can be waited for, whether the batch makes that job or finds it.
TEST_P(AfterOthers, a_batch_waits_for_no_job_of_another_tenant) {
    auto others = Wanted::job();
    others.tenant = "other";
    others.idempotency_key = "k";
    for (const bool is_there_already : {false, true}) {
        if (is_there_already) submit(others);
        auto batch = batch_of({others});
        batch.jobs.push_back(submit_of(after({{batch.jobs[0].id}})));
        const auto jobs_before = audit().jobs.size();
        const auto refused_one = get<BatchSubmitted>(apply(batch)).refused;
        ASSERT_TRUE(refused_one) << is_there_already;
        EXPECT_EQ(refused_one->index, 1U);
        EXPECT_EQ(refused_one->why.code, Errc::invalid);
        EXPECT_EQ(audit().jobs.size(), jobs_before);
    }
}

TEST_P(AfterOthers, a_batch_means_the_job_that_was_there_already) {
    auto known = Wanted::job();
    known.idempotency_key = "k";
    const auto first = submit(known);
    auto batch = batch_of({known});
    batch.jobs.push_back(submit_of(after({{batch.jobs[0].id}})));
    const auto reply = get<BatchSubmitted>(apply(batch));
    ASSERT_EQ(reply.jobs.size(), 2U);
    EXPECT_EQ(reply.jobs[0].id, first);
    EXPECT_EQ(job(reply.jobs[1].id).awaited.front().after.job, first);
    EXPECT_EQ(job(reply.jobs[1].id).spec->after.front().job, first);
}

TEST_P(AfterOthers, a_person_holds_and_lets_go_a_waiting_job) {
    const auto worker = open_session();
    const auto first = submit(Wanted::job());
    const auto second = submit(after({{first}}));
    const auto third = submit(after({{first}}));
    for (const auto id : {second, third}) {
        EXPECT_TRUE(apply(Hold{id, true}).has_value());
        EXPECT_EQ(state(id), JobState::blocked);
    }
    EXPECT_TRUE(apply(Hold{second, false}).has_value());
    EXPECT_EQ(state(second), JobState::waiting);
    finish(worker, run_one(worker), success());
    EXPECT_EQ(state(second), JobState::ready);
    EXPECT_EQ(state(third), JobState::blocked);
    EXPECT_TRUE(apply(Hold{third, false}).has_value());
    EXPECT_EQ(state(third), JobState::ready);
}

TEST_P(AfterOthers, what_a_person_holds_is_cancelled_all_the_same_if_the_other_does_not_fit) {
    const auto first = submit(Wanted::job());
    const auto second = submit(after({{first}}));
    EXPECT_TRUE(apply(Hold{second, true}).has_value());
    EXPECT_TRUE(apply(Cancel{first}).has_value());
    EXPECT_EQ(state(second), JobState::cancelled);
}

TEST_P(AfterOthers, a_waiting_job_can_be_cancelled) {
    const auto worker = open_session();
    const auto first = submit(Wanted::job());
    const auto second = submit(after({{first}}));
    EXPECT_TRUE(apply(Cancel{second}).has_value());
    EXPECT_EQ(state(second), JobState::cancelled);
    finish(worker, run_one(worker), success());
    EXPECT_EQ(state(second), JobState::cancelled);
    EXPECT_EQ(job(second).rule, "E1/not_started");
}

TEST_P(AfterOthers, quarantine_is_a_failure_and_what_follows_it_stays) {
    const auto worker = open_session();
    const auto first = submit(Wanted::once());
    const auto on_success = submit(after({{first}}));
    const auto on_failure = submit(after({{first, Trigger::failure}}));
    lose(run_one(worker));
    EXPECT_EQ(state(on_success), JobState::cancelled);
    EXPECT_EQ(state(on_failure), JobState::ready);
    EXPECT_TRUE(apply(DealWithQuarantined{first, QuarantineAction::release, true}).has_value());
    EXPECT_EQ(state(submit(after({{first, Trigger::failure}}))), JobState::waiting);
}

TEST_P(AfterOthers, what_was_waited_for_is_kept_when_the_other_is_removed) {
    const auto worker = open_session();
    const auto first = submit(Wanted::job());
    auto spec = after({{first}});
    spec.timeouts.queue = days(100);
    const auto second = submit(spec);
    const Evidence left{.result = "[1]"};
    const auto attempt = run_one(worker);
    EXPECT_TRUE(apply(Report{worker, attempt, success(), std::make_shared<const Evidence>(left)})
                    .has_value());
    pass(timing.retention);
    EXPECT_EQ(get<Forgotten>(apply(ForgetEnded{10})).jobs, std::vector{first});
    EXPECT_EQ(job(second).awaited.front().ended->result, "[1]");
}

TEST_P(AfterOthers, removing_one_that_never_went_on_leaves_the_other_alone) {
    const auto worker = open_session({.slots = 1});
    auto spec = Wanted::job();
    spec.timeouts.queue = days(100);
    const auto first = submit(spec);
    const auto second = submit(after({{first}}));
    EXPECT_TRUE(apply(Cancel{second}).has_value());
    pass(timing.retention);
    EXPECT_EQ(get<Forgotten>(apply(ForgetEnded{10})).jobs, std::vector{second});
    EXPECT_EQ(send_heartbeat(worker).answer, HeartbeatAnswer::accept);
    finish(worker, run_one(worker), success());
    EXPECT_EQ(state(first), JobState::succeeded);
}

TEST_P(AfterOthers, what_waits_is_counted_and_listed) {
    const auto first = submit(Wanted::job());
    const auto second = submit(after({{first}}));
    auto& catalogue = dynamic_cast<Catalogue&>(store());
    const auto page = *run(catalogue.list({.states = {JobState::waiting}}));
    ASSERT_EQ(page.jobs.size(), 1U);
    EXPECT_EQ(page.jobs.front().id, second);
    const auto queues = run(read_overview(catalogue, "default"))->queues;
    ASSERT_EQ(queues.size(), 1U);
    EXPECT_EQ(queues.front().jobs[static_cast<std::size_t>(JobState::waiting)], 1U);
}

INSTANTIATE_TEST_SUITE_P(Stores, AfterOthers, testing::ValuesIn(store_factories()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace perdure::contract
