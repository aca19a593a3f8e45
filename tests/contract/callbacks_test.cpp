// Callbacks: the end of a job and the jobs that it makes are one transaction [P7] (K1, E2).
#include <algorithm>
#include <set>

#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

Callback on(Trigger on, JobSpec spec) {
    return {on, std::make_shared<const JobSpec>(std::move(spec))};
}

JobSpec of_kind(const std::string& kind) {
    auto spec = Wanted::job();
    spec.kind = kind;
    return spec;
}

class Callbacks : public StoreContract {
protected:
    // One callback for each way to end.
    static JobSpec watched(JobSpec spec = Wanted::job()) {
        spec.callbacks = {on(Trigger::success, of_kind("success")),
                          on(Trigger::failure, of_kind("failure")),
                          on(Trigger::end, of_kind("end"))};
        return spec;
    }

    // The kinds of the callbacks that this generation's end has made.
    std::vector<std::string> made(JobId id, std::uint32_t generation = 1) {
        std::vector<std::string> kinds;
        for (const auto& callback : job(id).made) {
            if (callback.generation != generation) continue;
            const auto view = job(callback.job);
            EXPECT_EQ(view.spec->callback_of, (CallbackOf{id, generation, callback.number}));
            kinds.push_back(view.spec->kind);
        }
        return kinds;
    }

    CallbackAdded add(JobId to, Callback callback) {
        return get<CallbackAdded>(apply(AddCallback{JobId{next_id()}, to, std::move(callback)}));
    }

    JobId quarantined(SessionId worker, const JobSpec& spec) {
        const auto id = submit(spec);
        lose(run_one(worker));
        EXPECT_EQ(state(id), JobState::quarantined);
        return id;
    }
};

using Kinds = std::vector<std::string>;

TEST_P(Callbacks, a_success_makes_those_of_success_and_end) {
    const auto worker = open_session();
    const auto id = submit(watched());
    const auto attempt = run_one(worker);
    EXPECT_TRUE(job(id).made.empty());
    finish(worker, attempt, success());
    EXPECT_EQ(made(id), (Kinds{"success", "end"}));
}

TEST_P(Callbacks, a_failure_makes_those_of_failure_and_end) {
    const auto worker = open_session();
    const auto id = submit(watched());
    finish(worker, run_one(worker), exit_with(3));
    EXPECT_EQ(state(id), JobState::failed);
    EXPECT_EQ(made(id), (Kinds{"failure", "end"}));
}

TEST_P(Callbacks, what_is_tried_again_has_not_ended) {
    const auto worker = open_session();
    const auto id = submit(watched());
    finish(worker, run_one(worker), crash());
    EXPECT_EQ(state(id), JobState::scheduled);
    EXPECT_TRUE(job(id).made.empty());
}

TEST_P(Callbacks, a_cancelled_job_makes_those_of_end_alone) {
    const auto worker = open_session();
    const auto waiting = submit(watched());
    EXPECT_TRUE(apply(Cancel{waiting}).has_value());
    EXPECT_EQ(made(waiting), Kinds{"end"});
    auto asking = watched(Wanted::once());
    asking.priority = 0;
    const auto claimed = submit(asking);
    claim_one(worker);
    EXPECT_TRUE(apply(Cancel{claimed}).has_value());
    EXPECT_EQ(state(claimed), JobState::cancelled);
    EXPECT_EQ(made(claimed), Kinds{"end"});
}

TEST_P(Callbacks, an_expired_job_makes_those_of_failure_and_end) {
    auto spec = watched();
    spec.timeouts.queue = minutes(1);
    const auto id = submit(spec);
    pass(minutes(1));
    sweep();
    EXPECT_EQ(state(id), JobState::expired);
    EXPECT_EQ(made(id), (Kinds{"failure", "end"}));
}

TEST_P(Callbacks, a_total_timeout_makes_those_of_failure_and_end) {
    auto spec = watched();
    spec.timeouts.total = minutes(1);
    const auto id = submit(spec);
    pass(minutes(1));
    sweep();
    EXPECT_EQ(state(id), JobState::failed);
    EXPECT_EQ(made(id), (Kinds{"failure", "end"}));
}

TEST_P(Callbacks, a_sweep_that_gives_a_job_up_makes_those_of_failure_and_end) {
    const auto worker = open_session();
    const auto id = quarantined(worker, watched(Wanted::once()));
    EXPECT_EQ(made(id), (Kinds{"failure", "end"}));
}

TEST_P(Callbacks, a_takeover_that_ends_a_job_makes_them) {
    const auto worker = open_session();
    const auto id = submit(watched(Wanted::once()));
    run_one(worker);
    auto heir = takeover_of(worker, {});
    heir.on_disk.clear();
    EXPECT_TRUE(apply(heir).has_value());
    EXPECT_EQ(state(id), JobState::quarantined);
    EXPECT_EQ(made(id), (Kinds{"failure", "end"}));
}

TEST_P(Callbacks, each_generation_makes_its_own) {
    const auto worker = open_session();
    const auto id = quarantined(worker, watched(Wanted::once()));
    EXPECT_TRUE(apply(DealWithQuarantined{id, QuarantineAction::release, true}).has_value());
    EXPECT_TRUE(made(id, 2).empty());
    const auto again = open_session({.name = "worker-2"});
    const auto claimed = claim(again);
    const auto own = std::find_if(claimed.begin(), claimed.end(),
                                  [&](const auto& a) { return a.attempt.job == id; });
    ASSERT_TRUE(own != claimed.end());
    EXPECT_TRUE(start(again, own->attempt).has_value());
    finish(again, own->attempt, success());
    EXPECT_EQ(made(id, 1), (Kinds{"failure", "end"}));
    EXPECT_EQ(made(id, 2), (Kinds{"success", "end"}));
}

TEST_P(Callbacks, an_accepted_result_is_an_end_of_its_own) {
    const auto worker = open_session();
    const auto id = quarantined(worker, watched(Wanted::once()));
    const Evidence left{.result = "42"};
    const Report late{worker, {id, Epoch{1}}, success(), std::make_shared<const Evidence>(left)};
    EXPECT_TRUE(apply(late).has_value());
    EXPECT_TRUE(made(id, 2).empty());
    EXPECT_TRUE(apply(DealWithQuarantined{id, QuarantineAction::accept, false}).has_value());
    EXPECT_EQ(made(id, 2), (Kinds{"success", "end"}));
    const auto input = *job(job(id).made.back().job).awaited.front().ended;
    EXPECT_EQ(input.generation, 2U);
    EXPECT_EQ(input.state, JobState::succeeded);
    EXPECT_EQ(input.result, "42");
}

TEST_P(Callbacks, a_discarded_job_has_ended_before) {
    const auto worker = open_session();
    const auto id = quarantined(worker, watched(Wanted::once()));
    EXPECT_TRUE(apply(DealWithQuarantined{id, QuarantineAction::discard, false}).has_value());
    EXPECT_EQ(job(id).made.size(), 2U);
}

TEST_P(Callbacks, callbacks_have_callbacks) {
    const auto worker = open_session();
    auto second = of_kind("second");
    second.callbacks = {on(Trigger::end, of_kind("third"))};
    auto spec = Wanted::job();
    spec.callbacks = {on(Trigger::success, second)};
    const auto id = submit(spec);
    finish(worker, run_one(worker), success());
    const auto child = job(id).made.front().job;
    EXPECT_EQ(made(id), Kinds{"second"});
    EXPECT_TRUE(job(child).made.empty());
    finish(worker, run_one(worker), exit_with(1));
    EXPECT_EQ(made(child), Kinds{"third"});
}

TEST_P(Callbacks, a_callback_is_a_job_like_any_other) {
    const auto worker = open_session();
    define_limit("gpu", 1);
    auto later = Wanted::limited("gpu");
    later.run_at = wall + hours(1);
    later.queue = "mail";
    auto spec = Wanted::job();
    spec.callbacks = {on(Trigger::end, later), on(Trigger::end, of_kind("now"))};
    const auto id = submit(spec);
    const auto attempt = run_one(worker);
    const auto reply = commit({Report{worker, attempt, success(), nullptr}});
    EXPECT_TRUE(reply.work_appeared);
    const auto view = job(id);
    ASSERT_EQ(view.made.size(), 2U);
    EXPECT_EQ(state(view.made[0].job), JobState::scheduled);
    EXPECT_EQ(job(view.made[0].job).spec->queue, "mail");
    EXPECT_EQ(state(view.made[1].job), JobState::ready);
    EXPECT_EQ(claim_one(worker).job, view.made[1].job);
}

TEST_P(Callbacks, ids_are_never_drawn_twice_also_when_the_wall_clock_steps_back) {
    const auto worker = open_session();
    std::set<JobId> ids;
    for (int i = 0; i < 3; ++i) {
        const auto id = submit(watched());
        const auto claimed = claim(worker);
        const auto own = std::find_if(claimed.begin(), claimed.end(),
                                      [&](const auto& a) { return a.attempt.job == id; });
        ASSERT_TRUE(own != claimed.end());
        finish(worker, own->attempt, success());
        for (const auto& callback : job(id).made) EXPECT_TRUE(ids.insert(callback.job).second);
        wall = wall - hours(1);
    }
    EXPECT_EQ(ids.size(), 6U);
}

TEST_P(Callbacks, a_callback_gets_how_its_job_has_ended) {
    const auto worker = open_session();
    const auto id = submit(watched());
    const auto attempt = run_one(worker);
    const Evidence left{.result = R"({"n":1})"};
    EXPECT_TRUE(apply(Report{worker, attempt, success(), std::make_shared<const Evidence>(left)})
                    .has_value());
    const auto assignments = claim(worker);
    ASSERT_EQ(assignments.size(), 2U);
    const Input expected{.job = id,
                         .generation = 1,
                         .state = JobState::succeeded,
                         .cause = Cause::exit,
                         .exit_code = 0,
                         .result = R"({"n":1})"};
    for (const auto& assignment : assignments) {
        EXPECT_EQ(assignment.inputs, std::vector{expected});
        EXPECT_EQ(job(assignment.attempt.job).run->inputs, std::vector{expected});
    }
}

TEST_P(Callbacks, what_a_callback_was_given_outlives_its_job) {
    const auto worker = open_session();
    auto spec = Wanted::job();
    spec.callbacks = {on(Trigger::end, of_kind("end"))};
    const auto id = submit(spec);
    finish(worker, run_one(worker), exit_with(7));
    const auto child = job(id).made.front().job;
    pass(timing.retention);
    const auto forgotten = get<Forgotten>(apply(ForgetEnded{10})).jobs;
    EXPECT_EQ(forgotten, std::vector{id});
    EXPECT_EQ(job(child).awaited.front().ended->exit_code, 7);
}

TEST_P(Callbacks, a_limit_of_a_callback_must_be_defined) {
    auto spec = Wanted::job();
    spec.callbacks = {on(Trigger::end, Wanted::limited("nowhere"))};
    EXPECT_TRUE(refused(apply(submit_of(spec)), Errc::invalid));
    const auto id = submit(Wanted::job());
    EXPECT_TRUE(refused(
        apply(AddCallback{JobId{next_id()}, id, on(Trigger::end, Wanted::limited("nowhere"))}),
        Errc::invalid));
    EXPECT_TRUE(job(id).added.empty());
}

TEST_P(Callbacks, one_that_is_added_before_the_end_is_made_by_it) {
    const auto worker = open_session();
    const auto id = submit(watched());
    const auto attempt = run_one(worker);
    const auto added = add(id, on(Trigger::success, of_kind("added")));
    EXPECT_EQ(added.number, 3U);
    EXPECT_FALSE(added.made);
    EXPECT_EQ(add(id, on(Trigger::failure, of_kind("not this"))).number, 4U);
    finish(worker, attempt, success());
    EXPECT_EQ(made(id), (Kinds{"success", "end", "added"}));
}

TEST_P(Callbacks, one_that_is_added_after_the_end_is_made_at_once) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    finish(worker, run_one(worker), success());
    const auto added = add(id, on(Trigger::end, of_kind("added")));
    ASSERT_TRUE(added.made);
    EXPECT_EQ(state(*added.made), JobState::ready);
    EXPECT_FALSE(add(id, on(Trigger::failure, of_kind("not this"))).made);
    EXPECT_EQ(made(id), Kinds{"added"});
}

TEST_P(Callbacks, one_that_is_added_in_the_instant_of_the_end_is_made_in_either_order) {
    const auto worker = open_session();
    for (const bool added_first : {true, false}) {
        const auto id = submit(Wanted::once());
        const auto claimed = claim(worker);
        const auto own = std::find_if(claimed.begin(), claimed.end(),
                                      [&](const auto& a) { return a.attempt.job == id; });
        ASSERT_TRUE(own != claimed.end());
        EXPECT_TRUE(start(worker, own->attempt).has_value());
        const Change add = AddCallback{JobId{next_id()}, id, on(Trigger::end, of_kind("added"))};
        const Change end = Report{worker, own->attempt, success(), nullptr};
        const auto replies = commit(added_first ? std::vector{add, end} : std::vector{end, add});
        for (const auto& reply : replies.replies) EXPECT_TRUE(reply.has_value());
        EXPECT_EQ(made(id), Kinds{"added"});
    }
}

TEST_P(Callbacks, the_same_asking_again_adds_nothing) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const AddCallback asking{JobId{next_id()}, id, on(Trigger::end, of_kind("added"))};
    EXPECT_EQ(get<CallbackAdded>(apply(asking)).number, 0U);
    EXPECT_EQ(get<CallbackAdded>(apply(asking)).number, 0U);
    finish(worker, run_one(worker), success());
    EXPECT_EQ(made(id), Kinds{"added"});
    EXPECT_EQ(get<CallbackAdded>(apply(asking)).made, job(id).made.front().job);
    EXPECT_EQ(made(id), Kinds{"added"});
}

TEST_P(Callbacks, an_added_one_counts_from_its_generation_on) {
    const auto worker = open_session();
    const auto id = quarantined(worker, Wanted::once());
    EXPECT_TRUE(apply(DealWithQuarantined{id, QuarantineAction::release, true}).has_value());
    EXPECT_FALSE(add(id, on(Trigger::end, of_kind("added"))).made);
    EXPECT_TRUE(apply(Cancel{id}).has_value());
    EXPECT_TRUE(made(id, 1).empty());
    EXPECT_EQ(made(id, 2), Kinds{"added"});
}

TEST_P(Callbacks, a_job_has_so_many_callbacks_and_no_more) {
    const auto id = submit(watched());
    for (std::size_t i = 3; i < callbacks_max; ++i) add(id, on(Trigger::end, of_kind("added")));
    const AddCallback more{JobId{next_id()}, id, on(Trigger::end, of_kind("more"))};
    EXPECT_TRUE(refused(apply(more), Errc::invalid));
    EXPECT_TRUE(refused(
        apply(AddCallback{JobId{next_id()}, JobId{next_id()}, on(Trigger::end, of_kind("more"))}),
        Errc::not_found));
}

INSTANTIATE_TEST_SUITE_P(Stores, Callbacks, testing::ValuesIn(store_factories()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace perdure::contract
