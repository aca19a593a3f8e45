// Submitting and idempotency [P1] (C5).
#include "tests/contract/audit.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

TEST_P(StoreContract, a_submitted_job_is_ready_and_has_a_deadline) {
    pass(seconds(3));
    auto spec = Wanted::job();
    spec.args = R"({"n":1})";
    const auto change = submit_of(spec);
    const auto submitted = get<Submitted>(apply(change));
    EXPECT_EQ(submitted.id, change.id);
    EXPECT_TRUE(submitted.created);
    EXPECT_EQ(submitted.state, JobState::ready);

    const auto view = job(change.id);
    EXPECT_EQ(view.state, JobState::ready);
    EXPECT_EQ(view.epoch, Epoch{0});
    EXPECT_EQ(view.generation, 1U);
    EXPECT_EQ(view.submitted_at, now());
    EXPECT_EQ(view.queue_deadline, now() + spec.timeouts.queue);
    EXPECT_FALSE(view.total_deadline.has_value());
    EXPECT_EQ(view.spec->args, spec.args);
    EXPECT_TRUE(view.attempts.empty());
}

TEST_P(StoreContract, a_job_with_a_date_ahead_is_scheduled) {
    auto spec = Wanted::job();
    spec.run_at = wall + hours(1);
    const auto reply = commit({submit_of(spec)});
    const auto submitted = get<Submitted>(reply.replies.front());
    EXPECT_EQ(submitted.state, JobState::scheduled);
    EXPECT_FALSE(reply.work_appeared);
    EXPECT_EQ(job(submitted.id).date, spec.run_at);
}

TEST_P(StoreContract, a_job_with_a_date_in_the_past_is_ready) {
    auto spec = Wanted::job();
    spec.run_at = wall;
    const auto reply = commit({submit_of(spec)});
    EXPECT_EQ(get<Submitted>(reply.replies.front()).state, JobState::ready);
    EXPECT_TRUE(reply.work_appeared);
}

TEST_P(StoreContract, the_total_timeout_counts_from_the_submit) {
    pass(seconds(3));
    auto spec = Wanted::job();
    spec.timeouts.total = hours(2);
    const auto id = submit(spec);
    const auto deadline = now() + hours(2);
    EXPECT_EQ(job(id).total_deadline, deadline);
    const auto worker = open_session();
    finish(worker, run_one(worker), crash());
    EXPECT_EQ(job(id).total_deadline, deadline);
}

TEST_P(StoreContract, the_same_idempotency_key_is_the_same_job) {
    auto spec = Wanted::job();
    spec.idempotency_key = "order-7";
    const auto first = submit(spec);
    const auto second = get<Submitted>(apply(submit_of(spec)));
    EXPECT_EQ(second.id, first);
    EXPECT_FALSE(second.created);
    EXPECT_EQ(second.state, JobState::ready);
    EXPECT_EQ(audit().jobs.size(), 1U);
}

TEST_P(StoreContract, the_same_idempotency_key_with_another_body_is_a_conflict) {
    auto spec = Wanted::job();
    spec.idempotency_key = "order-7";
    submit(spec);
    spec.args = "{}";
    EXPECT_TRUE(refused(apply(submit_of(spec)), Errc::conflict));
}

TEST_P(StoreContract, an_idempotency_key_outlives_the_end_of_its_job) {
    const auto worker = open_session();
    auto spec = Wanted::job();
    spec.idempotency_key = "order-7";
    const auto id = submit(spec);
    finish(worker, run_one(worker), success());
    const auto again = get<Submitted>(apply(submit_of(spec)));
    EXPECT_EQ(again.id, id);
    EXPECT_FALSE(again.created);
    EXPECT_EQ(again.state, JobState::succeeded);
}

TEST_P(StoreContract, an_idempotency_key_belongs_to_one_tenant) {
    auto spec = Wanted::job();
    spec.idempotency_key = "order-7";
    const auto first = submit(spec);
    spec.tenant = "other";
    const auto second = submit(spec);
    EXPECT_NE(first, second);
    EXPECT_EQ(*run(store().job_of_key("default", "order-7")), first);
    EXPECT_EQ(*run(store().job_of_key("other", "order-7")), second);
    EXPECT_FALSE(run(store().job_of_key("default", "order-8"))->has_value());
}

TEST_P(StoreContract, two_submits_of_one_key_in_one_group_make_one_job) {
    auto spec = Wanted::job();
    spec.idempotency_key = "order-7";
    const auto reply = commit({submit_of(spec), submit_of(spec)});
    EXPECT_EQ(get<Submitted>(reply.replies[0]).id, get<Submitted>(reply.replies[1]).id);
    EXPECT_EQ(audit().jobs.size(), 1U);
}

TEST_P(StoreContract, the_very_same_submit_again_gets_the_first_answer) {
    auto spec = Wanted::job();
    spec.idempotency_key = "order-7";
    for (const auto& change : {submit_of(Wanted::job()), submit_of(spec)}) {
        const auto first = get<Submitted>(apply(change));
        const auto second = get<Submitted>(apply(change));
        EXPECT_EQ(second.id, first.id);
        EXPECT_TRUE(second.created);
    }
    EXPECT_EQ(audit().jobs.size(), 2U);
}

TEST_P(StoreContract, an_id_that_exists_with_another_body_is_a_conflict) {
    const auto first = submit_of(Wanted::job());
    ASSERT_TRUE(apply(first).has_value());
    auto second = submit_of(Wanted::once());
    second.id = first.id;
    EXPECT_TRUE(refused(apply(second), Errc::conflict));
    EXPECT_EQ(job(first.id).spec->effects, Effects::repeatable);
}

TEST_P(StoreContract, a_limit_must_be_defined_before_a_job_names_it) {
    EXPECT_TRUE(refused(apply(submit_of(Wanted::limited("gpu"))), Errc::invalid));
    define_limit("gpu", 1);
    EXPECT_TRUE(apply(submit_of(Wanted::limited("gpu"))).has_value());
    auto spec = Wanted::limited("gpu");
    spec.tenant = "other";
    EXPECT_TRUE(refused(apply(submit_of(spec)), Errc::invalid));
}

TEST_P(StoreContract, a_refused_submit_does_not_take_its_idempotency_key) {
    auto spec = Wanted::limited("gpu");
    spec.idempotency_key = "order-7";
    EXPECT_TRUE(refused(apply(submit_of(spec)), Errc::invalid));
    define_limit("gpu", 1);
    EXPECT_TRUE(get<Submitted>(apply(submit_of(spec))).created);
}

TEST_P(StoreContract, a_batch_is_submitted_whole) {
    auto keyed = Wanted::job();
    keyed.idempotency_key = "k";
    const auto old = submit(keyed);
    auto fresh = Wanted::job();
    fresh.idempotency_key = "fresh";
    const SubmitAll batch{
        {submit_of(Wanted::job()), submit_of(keyed), submit_of(fresh), submit_of(fresh)}};
    const auto answer = get<BatchSubmitted>(apply(batch));
    ASSERT_FALSE(answer.refused);
    ASSERT_EQ(answer.jobs.size(), 4U);
    EXPECT_TRUE(answer.jobs[0].created);
    EXPECT_FALSE(answer.jobs[1].created);
    EXPECT_EQ(answer.jobs[1].id, old);
    EXPECT_TRUE(answer.jobs[2].created);
    EXPECT_FALSE(answer.jobs[3].created);
    EXPECT_EQ(answer.jobs[3].id, answer.jobs[2].id);
    for (const auto& made : answer.jobs) EXPECT_EQ(state(made.id), JobState::ready);
    // After a lost reply the very same batch gets the same answer.
    const auto again = get<BatchSubmitted>(apply(batch));
    ASSERT_EQ(again.jobs.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(again.jobs[i].id, answer.jobs[i].id);
}

// The first job that cannot be had, and of that the first reason: id, key, limits, what it waits
// for. As if they were submitted one after another.
TEST_P(StoreContract, a_batch_with_several_faults_is_refused_for_the_first) {
    auto twin = Wanted::job();
    twin.idempotency_key = "twin";
    auto bad_twin = Wanted::limited("nobody-defined-it");
    bad_twin.idempotency_key = "twin";
    bad_twin.after = {{JobId{next_id()}, Trigger::end}};
    auto waits = Wanted::job();
    waits.after = bad_twin.after;
    auto unlimited_waits = Wanted::limited("nobody-defined-it");
    unlimited_waits.after = bad_twin.after;
    const auto refusal = [&](std::vector<Submit> jobs) {
        const auto answer = get<BatchSubmitted>(apply(SubmitAll{std::move(jobs)}));
        EXPECT_TRUE(answer.refused.has_value());
        return answer.refused.value_or(BatchSubmitted::Refused{});
    };
    auto refused = refusal({submit_of(twin), submit_of(bad_twin), submit_of(waits)});
    EXPECT_EQ(refused.index, 1U);
    EXPECT_EQ(refused.why.code, Errc::conflict) << refused.why.what;
    refused = refusal({submit_of(unlimited_waits), submit_of(twin), submit_of(bad_twin)});
    EXPECT_EQ(refused.index, 0U);
    EXPECT_NE(refused.why.what.find("nobody-defined-it"), std::string::npos);
    auto same_id = submit_of(bad_twin);
    const auto first = submit_of(Wanted::job());
    same_id.id = first.id;
    refused = refusal({first, submit_of(twin), same_id});
    EXPECT_EQ(refused.index, 2U);
    EXPECT_NE(refused.why.what.find("id"), std::string::npos) << refused.why.what;
}

TEST_P(StoreContract, one_bad_job_refuses_its_whole_batch) {
    auto keyed = Wanted::job();
    keyed.idempotency_key = "k";
    submit(keyed);
    auto other_body = keyed;
    other_body.priority = 1;
    auto twin = Wanted::job();
    twin.idempotency_key = "twin";
    auto other_twin = twin;
    other_twin.priority = 1;
    const std::pair<std::vector<JobSpec>, Errc> table[] = {
        {{Wanted::job(), other_body}, Errc::conflict},
        {{Wanted::job(), Wanted::limited("nobody-defined-it")}, Errc::invalid},
        {{twin, other_twin}, Errc::conflict},
    };
    for (const auto& [specs, code] : table) {
        SubmitAll batch;
        for (const auto& spec : specs) batch.jobs.push_back(submit_of(spec));
        const auto answer = get<BatchSubmitted>(apply(batch));
        ASSERT_TRUE(answer.refused);
        EXPECT_EQ(answer.refused->index, 1U);
        EXPECT_EQ(answer.refused->why.code, code);
        EXPECT_TRUE(answer.jobs.empty());
        for (const auto& made : batch.jobs) {
            auto found = run(store().jobs({made.id}));
            EXPECT_TRUE(found.has_value() && found->empty()) << "nothing may be left of it";
        }
    }
    EXPECT_TRUE(get<Submitted>(apply(submit_of(twin))).created);
}

// A row that an earlier release has left: its hash is short.
Submit as_before(Submit submit) {
    submit.old_hash = old_body_hash({*submit.spec});
    submit.body_hash = {.low = *submit.old_hash, .is_short = true};
    return submit;
}
Submit as_now(Submit submit) {
    submit.old_hash = old_body_hash({*submit.spec});
    return submit;
}

TEST_P(StoreContract, a_key_of_an_earlier_release_is_the_same_job_for_the_same_body) {
    auto spec = Wanted::job();
    spec.idempotency_key = "before";
    auto other = spec;
    other.args = R"({"other":1})";
    const auto first = get<Submitted>(apply(as_before(submit_of(spec))));
    EXPECT_TRUE(first.created);
    const auto again = get<Submitted>(apply(as_now(submit_of(spec))));
    EXPECT_FALSE(again.created);
    EXPECT_EQ(again.id, first.id);
    EXPECT_TRUE(refused(apply(as_now(submit_of(other))), Errc::conflict));
    const auto batch = get<BatchSubmitted>(apply(SubmitAll{{as_now(submit_of(spec))}}));
    ASSERT_FALSE(batch.refused);
    EXPECT_EQ(batch.jobs.at(0).id, first.id);

    // The key keeps its short hash when its job is removed.
    EXPECT_TRUE(apply(Cancel{first.id}).has_value());
    pass(days(15));
    EXPECT_EQ(get<Forgotten>(apply(ForgetEnded{10})).jobs, std::vector{first.id});
    EXPECT_TRUE(refused(apply(as_now(submit_of(spec))), Errc::gone));
    EXPECT_TRUE(refused(apply(as_now(submit_of(other))), Errc::conflict));
}

// In a batch of an earlier release: what waits for an earlier job was asked for by another id.
TEST_P(StoreContract, a_batch_of_an_earlier_release_is_found_with_what_waits_in_it) {
    const auto pair = [&] {
        auto first = Wanted::job();
        first.idempotency_key = "first";
        auto second = Wanted::job();
        second.idempotency_key = "second";
        second.after = {{JobId{}}};
        const std::vector<AfterEarlier> earlier_first = {{0, 0}};
        std::vector submits = {submit_of(first), submit_of(second)};
        submits[1].old_hash = old_body_hash({*submits[1].spec, {}, earlier_first});
        submits[1].body_hash = body_hash(AskedBody{*submits[1].spec, {}, earlier_first});
        second.after.front().job = submits[0].id;
        submits[1].spec = std::make_shared<const JobSpec>(second);
        submits[0].old_hash = old_body_hash({*submits[0].spec});
        return submits;
    };
    auto before = pair();
    for (auto& submit : before) submit.body_hash = {.low = *submit.old_hash, .is_short = true};
    const auto made = get<BatchSubmitted>(apply(SubmitAll{before}));
    const auto found = get<BatchSubmitted>(apply(SubmitAll{pair()}));
    ASSERT_FALSE(made.refused || found.refused);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(found.jobs.at(i).id, made.jobs.at(i).id);
        EXPECT_FALSE(found.jobs.at(i).created);
    }
}

TEST_P(StoreContract, bodies_that_differ_in_either_half_of_their_hash_are_different) {
    auto spec = Wanted::job();
    spec.idempotency_key = "halves";
    const auto first = submit_of(spec);
    EXPECT_TRUE(get<Submitted>(apply(first)).created);
    for (const bool in_high : {false, true}) {
        auto other = submit_of(spec);
        ++(in_high ? other.body_hash.high : other.body_hash.low);
        EXPECT_TRUE(refused(apply(other), Errc::conflict));
        other.id = first.id;
        EXPECT_TRUE(refused(apply(other), Errc::conflict));
    }
    EXPECT_EQ(get<Submitted>(apply(submit_of(spec))).id, first.id);
}

TEST_P(StoreContract, one_id_in_a_batch_is_one_body) {
    const auto first = submit_of(Wanted::job());
    auto second = submit_of(Wanted::job());
    second.id = first.id;
    ++second.body_hash.high;
    const auto refused = get<BatchSubmitted>(apply(SubmitAll{{first, second}}));
    ASSERT_TRUE(refused.refused);
    EXPECT_EQ(refused.refused->index, 1U);
    EXPECT_EQ(refused.refused->why.code, Errc::conflict);

    const auto same = get<BatchSubmitted>(apply(SubmitAll{{first, first}}));
    ASSERT_FALSE(same.refused);
    EXPECT_EQ(same.jobs.at(0).id, same.jobs.at(1).id);
}

}  // namespace
}  // namespace perdure::contract
