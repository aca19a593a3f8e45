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
    return {.exit_codes = {try_later}, .times = 2, .then = LastResort::quarantine};
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
    const auto id = submit(with_rules({{.exit_codes = {3}, .then = LastResort::quarantine}, rest}));
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

// From here on: a worker's own policy.

std::shared_ptr<const PolicyChoice> worker_policy(PolicyName base, std::vector<CustomRule> rules) {
    PolicyChoice policy{.name = base, .rules = std::move(rules), .level = PolicyLevel::worker};
    return std::make_shared<const PolicyChoice>(std::move(policy));
}

std::shared_ptr<const PolicyChoice> patient_worker() {
    return worker_policy(PolicyName::default_,
                         {{.causes = {Cause::exit, Cause::worker_lost}, .times = 2}});
}

JobSpec chosen_by(PolicyLevel level) {
    auto spec = Wanted::job();
    spec.policy.level = level;
    return spec;
}

TEST_P(StoreContract, the_policy_of_a_worker_judges_what_has_inherited_the_servers) {
    for (const auto level :
         {PolicyLevel::job, PolicyLevel::kind, PolicyLevel::queue, PolicyLevel::server}) {
        const std::string name(to_string(level));
        const auto worker = open_session({.name = "worker-of-" + name, .policy = patient_worker()});
        const auto id = submit(chosen_by(level));
        finish(worker, run_one(worker), exit_with(1));
        const bool by_worker = level == PolicyLevel::server;
        EXPECT_EQ(state(id), by_worker ? JobState::ready : JobState::failed) << name;
        EXPECT_EQ(last_attempt(id).rule, by_worker ? "custom/1" : "default/own_failure") << name;
        EXPECT_EQ(matched(last_attempt(id)), by_worker ? 1 : 0) << name;
        EXPECT_EQ(last_attempt(id).end->policy_fingerprint != 0, by_worker) << name;
    }
}

TEST_P(StoreContract, the_policy_of_a_worker_is_stored_with_its_session) {
    auto policy = *patient_worker();
    policy.custom = "patient";
    const auto worker = open_session({.policy = std::make_shared<const PolicyChoice>(policy)});
    submit(chosen_by(PolicyLevel::server));
    run_one(worker);
    ASSERT_TRUE(session(worker).policy);
    EXPECT_EQ(*session(worker).policy, policy);
    EXPECT_EQ(deciding_policy(session(worker).runs.front()).custom, "patient");
    EXPECT_EQ(send_heartbeat(worker).answer, HeartbeatAnswer::accept);
    EXPECT_EQ(*session(worker).policy, policy) << "also when its row was written again";
    EXPECT_FALSE(session(open_session({.name = "plain"})).policy);
}

TEST_P(StoreContract, a_server_decides_for_a_dead_worker_by_that_workers_policy) {
    const auto worker = open_session({.policy = worker_policy(PolicyName::never, {})});
    const auto id = submit(chosen_by(PolicyLevel::server));
    lose(run_one(worker));
    EXPECT_EQ(state(id), JobState::quarantined);
    EXPECT_EQ(job(id).rule, "never/interrupted");
}

TEST_P(StoreContract, retries_stay_the_jobs_own_on_every_worker) {
    const auto worker = open_session(
        {.policy = worker_policy(PolicyName::forever, {{.causes = {Cause::oom}, .times = 1}})});
    auto spec = chosen_by(PolicyLevel::server);
    spec.policy.retries = 1;
    spec.policy.retry_wait = Duration{};
    const auto id = submit(std::move(spec));
    finish(worker, run_one(worker), exit_with(1));
    ASSERT_EQ(state(id), JobState::ready);
    EXPECT_EQ(last_attempt(id).rule, "any/retries");
    finish(worker, run_one(worker), exit_with(1));
    EXPECT_EQ(state(id), JobState::failed);
}

// E3, whoever says "again".
TEST_P(StoreContract, effects_guard_also_what_the_policy_of_a_worker_says) {
    const auto worker = open_session({.policy = patient_worker()});
    auto spec = chosen_by(PolicyLevel::server);
    spec.effects = Effects::once;
    const auto id = submit(std::move(spec));
    lose(run_one(worker));
    EXPECT_EQ(state(id), JobState::quarantined);
    EXPECT_EQ(job(id).rule, "P4/may_have_run");
}

// Q4: going from worker to worker gives nobody more runs.
TEST_P(StoreContract, every_workers_policy_counts_all_ends) {
    const auto patient = open_session({.name = "patient", .policy = patient_worker()});
    const auto id = submit(chosen_by(PolicyLevel::server));
    finish(patient, run_one(patient), exit_with(1));
    ASSERT_EQ(state(id), JobState::ready);
    // The same rule in another place, and another one in its place.
    const auto other = open_session(
        {.name = "other",
         .policy = worker_policy(PolicyName::default_, {{.causes = {Cause::oom}, .times = 5},
                                                        {.causes = {Cause::exit}, .times = 1}})});
    const auto attempt = run_one(other);
    ASSERT_TRUE(job(id).run);
    EXPECT_EQ(job(id).run->counts.of_rule(1), 0U);
    EXPECT_EQ(job(id).run->counts.of_rule(2), 1U);
    finish(other, attempt, exit_with(1));
    EXPECT_EQ(state(id), JobState::failed) << "the second exit, and it gives one more run";
    EXPECT_EQ(job(id).rule, "custom/2");
}

TEST_P(StoreContract, a_worker_without_a_policy_counts_what_others_have_judged) {
    const auto patient =
        open_session({.name = "patient",
                      .policy = worker_policy(PolicyName::default_,
                                              {{.causes = {Cause::crash_signal}, .times = 9}})});
    const auto id = submit(chosen_by(PolicyLevel::server));
    for (int run = 0; run < 2; ++run) {
        finish(patient, run_one(patient), crash());
        ASSERT_EQ(state(id), JobState::ready);
    }
    const auto plain = open_session({.name = "plain"});
    finish(plain, run_one(plain), crash());
    EXPECT_EQ(state(id), JobState::quarantined) << "its third crash [P6]";
    EXPECT_EQ(job(id).rule, "default/crash");
}

TEST_P(StoreContract, what_goes_over_is_judged_by_its_newest_owners_policy) {
    const auto first = open_session({.policy = worker_policy(PolicyName::never, {})});
    const auto id = submit(chosen_by(PolicyLevel::server));
    const auto attempt = run_one(first);
    const auto heir = takeover_of(first, {.policy = patient_worker()});
    ASSERT_TRUE(apply(heir).has_value());
    lose(attempt);
    EXPECT_EQ(state(id), JobState::ready);
    EXPECT_EQ(last_attempt(id).rule, "custom/1");
}

TEST_P(StoreContract, a_late_word_is_judged_by_the_policy_of_the_worker_that_was_lost) {
    const auto worker = open_session({.policy = patient_worker()});
    const auto id = submit(chosen_by(PolicyLevel::server));
    const auto attempt = run_one(worker);
    lose(attempt);
    const auto next =
        open_session({.name = "next", .policy = worker_policy(PolicyName::never, {})});
    EXPECT_EQ(get<Reported>(report(worker, attempt, exit_with(1))).answer, ReportAnswer::correct);
    EXPECT_EQ(last_attempt(id).rule, "custom/1");
    finish(next, run_one(next), exit_with(1));
    EXPECT_EQ(job(id).rule, "never/fail");
}

}  // namespace
}  // namespace perdure::contract
