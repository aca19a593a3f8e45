// The author's own rules: which one judges an end, how often, and what is remembered of it.
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

constexpr std::int32_t try_later = 75;

JobSpec with_rules(std::vector<CustomRule> rules) {
    auto spec = Wanted::job();
    spec.policy.rules = std::move(rules);
    return spec;
}

CustomRule twice_on_try_later() {
    return {.exit_codes = {try_later}, .times = 2, .then = Then::quarantine};
}

std::uint8_t matched(const AttemptView& attempt) { return attempt.end->matched; }

TEST_P(StoreContract, a_rule_judges_as_often_as_it_says_and_then_ends_the_job) {
    const auto worker = open_session();
    const auto id = submit(with_rules({twice_on_try_later()}));
    for (int run = 0; run < 2; ++run) {
        finish(worker, run_one(worker), exit_with(try_later));
        EXPECT_EQ(state(id), JobState::ready);
        EXPECT_EQ(last_attempt(id).rule, "custom/1");
    }
    finish(worker, run_one(worker), exit_with(try_later));
    const auto view = job(id);
    EXPECT_EQ(view.state, JobState::quarantined);
    EXPECT_EQ(view.rule, "custom/1");
    for (const auto& attempt : view.attempts) EXPECT_EQ(matched(attempt), 1);
}

TEST_P(StoreContract, the_first_rule_that_fits_judges) {
    const auto worker = open_session();
    CustomRule rest{.causes = {Cause::exit}, .times = 5, .wait = seconds(30)};
    const auto id = submit(with_rules({{.exit_codes = {3}, .then = Then::quarantine}, rest}));
    finish(worker, run_one(worker), exit_with(4));
    EXPECT_EQ(state(id), JobState::scheduled);
    EXPECT_EQ(matched(last_attempt(id)), 2);
    pass_with_heartbeats(seconds(31));
    sweep();
    finish(worker, run_one(worker), exit_with(3));
    EXPECT_EQ(state(id), JobState::quarantined);
    EXPECT_EQ(matched(last_attempt(id)), 1);
}

TEST_P(StoreContract, what_no_rule_judges_is_judged_by_the_built_in_policy) {
    const auto worker = open_session();
    const auto id = submit(with_rules({twice_on_try_later()}));
    finish(worker, run_one(worker), exit_with(1));
    EXPECT_EQ(state(id), JobState::failed);
    EXPECT_EQ(job(id).rule, "default/own_failure");
    EXPECT_EQ(matched(last_attempt(id)), 0);
}

// Each budget is its own: what a rule judged leaves the retries of the job untouched.
TEST_P(StoreContract, an_end_counts_for_the_rule_that_judged_it_and_for_nothing_else) {
    const auto worker = open_session();
    auto spec = with_rules({twice_on_try_later()});
    spec.policy.retries = 1;
    spec.policy.retry_wait = Duration{};
    const auto id = submit(std::move(spec));
    for (const auto code : {try_later, 1, try_later}) {
        finish(worker, run_one(worker), exit_with(code));
        EXPECT_EQ(state(id), JobState::ready) << code;
    }
    finish(worker, run_one(worker), exit_with(1));
    EXPECT_EQ(state(id), JobState::failed);
}

TEST_P(StoreContract, a_text_is_looked_for_in_what_the_worker_reports) {
    const auto worker = open_session();
    const auto id = submit(with_rules({{.text = "quota", .times = 1}}));
    const Evidence evidence{.last_lines = "sorry: over quota\n"};
    const Report said{worker, run_one(worker), exit_with(1),
                      std::make_shared<const Evidence>(evidence)};
    EXPECT_EQ(get<Reported>(apply(said)).next->kind, Next::Kind::again_now);
    EXPECT_EQ(matched(last_attempt(id)), 1);
    finish(worker, run_one(worker), exit_with(1));  // it has printed nothing this time
    EXPECT_EQ(state(id), JobState::failed);
    EXPECT_EQ(matched(last_attempt(id)), 0);
}

TEST_P(StoreContract, a_server_decides_for_a_dead_worker_by_the_authors_rule) {
    const auto worker = open_session();
    const auto id = submit(with_rules({{.causes = {Cause::worker_lost}, .times = 1}}));
    lose(run_one(worker));
    EXPECT_EQ(state(id), JobState::ready);
    EXPECT_EQ(last_attempt(id).rule, "custom/1");
    const auto next = open_session({.name = "worker-2"});
    lose(run_one(next));
    EXPECT_EQ(state(id), JobState::failed);
    EXPECT_EQ(job(id).rule, "custom/1");
}

TEST_P(StoreContract, a_corrected_end_is_judged_anew) {
    const auto worker = open_session();
    const auto id = submit(with_rules(
        {{.causes = {Cause::worker_lost}, .times = 3}, {.exit_codes = {try_later}, .times = 3}}));
    const auto attempt = run_one(worker);
    lose(attempt);
    EXPECT_EQ(matched(last_attempt(id)), 1);
    ASSERT_TRUE(report(worker, attempt, exit_with(try_later)).has_value());
    EXPECT_EQ(matched(last_attempt(id)), 2);
}

TEST_P(StoreContract, a_release_gives_every_rule_its_runs_again) {
    const auto worker = open_session();
    const auto id = submit(with_rules({twice_on_try_later()}));
    for (int run = 0; run < 3; ++run) finish(worker, run_one(worker), exit_with(try_later));
    ASSERT_EQ(state(id), JobState::quarantined);
    ASSERT_TRUE(apply(DealWithQuarantined{id, QuarantineAction::release}).has_value());
    for (int run = 0; run < 2; ++run) {
        finish(worker, run_one(worker), exit_with(try_later));
        EXPECT_EQ(state(id), JobState::ready);
    }
    finish(worker, run_one(worker), exit_with(try_later));
    EXPECT_EQ(state(id), JobState::quarantined);
}

// E3, whoever says "again".
TEST_P(StoreContract, effects_guard_also_what_a_rule_says) {
    const auto worker = open_session();
    auto spec = with_rules({{.causes = {Cause::worker_lost}, .times = 3}});
    spec.effects = Effects::once;
    const auto id = submit(std::move(spec));
    lose(run_one(worker));
    EXPECT_EQ(state(id), JobState::quarantined);
    EXPECT_EQ(job(id).rule, "P4/may_have_run");
}

}  // namespace
}  // namespace perdure::contract
