// Random histories: groups of changes, sensible, late and absurd ones, drawn from a seed. After
// each of them the store must be sound and have answered what the model answers [P12] [P3].
#include <array>
#include <random>
#include <utility>

#include "core/job/submit.h"
#include "tests/contract/audit.h"
#include "tests/contract/contract.h"
#include "tests/contract/reference/reference.h"

namespace perdure::contract {
namespace {

constexpr std::uint64_t histories = 20;
constexpr int groups = 250;
constexpr std::array names = {"worker-1", "worker-2", "worker-3"};

class RandomHistory : public StoreContract {
protected:
    RandomHistory() : model_(timing, queue_weights()), draw_(GetParam().seed) {
        both(server, {DefineLimit{"default", "gpu", 1}, DefineLimit{"default", "cpu", 2}});
    }

    // One group, in the store and in the model.
    void step() {
        std::vector<Change> changes;
        if (chance(4) && !late_.empty()) {
            changes = std::move(late_);
            late_.clear();
        }
        const auto count = 1 + below(3);
        for (std::uint64_t i = 0; i < count; ++i) changes.push_back(change());
        if (chance(3)) late_ = {sweep_of(overdue())};
        both(chance(2) ? server : other_server, std::move(changes));
        if (chance(10)) wall = wall + milliseconds(static_cast<std::int64_t>(below(5'000)));
    }

    void compare() {
        EXPECT_EQ(describe(audit()), describe(model_.audit()));
        EXPECT_EQ(describe(overdue()), describe(model_.overdue(wall)));
        for (const auto id : sessions_) {
            const auto mine = run(store().session(id));
            const auto theirs = model_.session(id);
            EXPECT_EQ(mine ? describe(*mine) : "gone", theirs ? describe(*theirs) : "gone");
        }
        compare_catalogues();
        expect_sound(audit());
        EXPECT_TRUE(overdue().free_permits.empty());
    }

private:
    std::uint64_t below(std::uint64_t bound) { return draw_() % bound; }
    bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
    template <class Values>
    auto pick(const Values& values) {
        return values[below(values.size())];
    }

    void compare_catalogues() {
        auto& catalogue = dynamic_cast<Catalogue&>(store());
        EXPECT_EQ(describe(*run(read_overview(catalogue, "default"))),
                  describe(model_.overview("default")));
        JobFilter filter{.limit = static_cast<std::uint32_t>(1 + below(9))};
        for (auto states = below(4); states > 0; --states)
            filter.states.push_back(places[below(places.size())].state);
        if (chance(3)) filter.queue = "mail";
        if (chance(5)) filter.key = "a";
        if (chance(5)) filter.cause = Cause::crash_signal;
        if (chance(5)) filter.ended_before = wall;
        filter.undealt = chance(3);
        if (chance(2) && !jobs_.empty()) filter.before = pick(jobs_);
        EXPECT_EQ(describe(*run(catalogue.list(filter))), describe(model_.list(filter)));
        compare_ledgers(catalogue);
    }

    void compare_ledgers(Catalogue& catalogue) {
        RecoveryFilter filter{.limit = static_cast<std::uint32_t>(1 + below(9))};
        if (chance(3) && !jobs_.empty()) filter.job = pick(jobs_);
        if (chance(3)) filter.cause = pick(std::array{Cause::worker_lost, Cause::crash_signal});
        if (chance(3)) filter.detector = static_cast<Detector>(below(detector_names.size()));
        if (chance(3)) filter.incident = static_cast<Incident>(below(incident_names.size()));
        if (chance(3)) filter.since = wall - seconds(5);
        if (chance(2)) filter.before = below(40);
        EXPECT_EQ(describe(*run(catalogue.recoveries(filter))),
                  describe(model_.recoveries(filter)));
    }

    void both(TestServer& by, std::vector<Change> changes) {
        auto next = group(by, std::move(changes));
        if (GetParam().restarts) model_.begin_turns_anew();
        const auto answer = run(store().commit(next));
        const auto expected = model_.commit(next);
        ++by.last_group;
        ASSERT_TRUE(answer.has_value());
        EXPECT_EQ(describe(*answer), describe(expected));
    }

    Trigger any_on() { return pick(std::array{Trigger::success, Trigger::failure, Trigger::end}); }

    Callback callback(int depth) {
        auto wanted = Wanted::job();
        if (chance(3)) wanted.limits.push_back("cpu");
        if (chance(3)) wanted.queue = "mail";
        if (chance(4)) wanted.run_at = wall + milliseconds(static_cast<std::int64_t>(below(9'000)));
        if (depth < 2 && chance(2)) wanted.callbacks.push_back(callback(depth + 1));
        return {any_on(), std::make_shared<const JobSpec>(std::move(wanted))};
    }

    void relate(JobSpec& wanted) {
        for (auto count = chance(3) ? below(3) : 0; count > 0; --count)
            wanted.callbacks.push_back(callback(0));
        for (auto count = chance(3) ? below(3) : 0; count > 0 && !jobs_.empty(); --count)
            wanted.after.push_back({pick(jobs_), any_on()});
    }

    JobSpec spec() {
        auto wanted = Wanted::job();
        relate(wanted);
        wanted.priority = static_cast<std::uint8_t>(below(3));
        wanted.effects = pick(std::array{Effects::repeatable, Effects::repeatable,
                                         Effects::resumable, Effects::once});
        if (chance(3)) wanted.key = pick(std::array{"a", "b"});
        if (chance(3)) wanted.limits.push_back("gpu");
        if (chance(3)) wanted.limits.push_back("cpu");
        if (chance(2)) wanted.queue = pick(std::array{"mail", "heavy"});
        if (chance(2)) wanted.share = pick(std::array{"ann", "bob"});
        if (chance(4)) wanted.kind = "other";
        if (chance(2)) wanted.submitted_by = pick(std::array{Who{"ann", 1001}, Who{"root", 0}});
        if (chance(4)) wanted.parent = AttemptKey{any_job(), Epoch{1}};
        if (chance(5)) wanted.run_at = wall + milliseconds(static_cast<std::int64_t>(below(9'000)));
        if (chance(5)) wanted.idempotency_key = pick(std::array{"x", "y"});
        if (chance(4)) wanted.timeouts.total = seconds(20);
        if (chance(4)) wanted.timeouts.queue = seconds(5);
        if (chance(4)) wanted.policy.name = PolicyName::forever;
        if (chance(4) && wanted.effects != Effects::once) wanted.policy.retries = 2;
        if (chance(3)) wanted.policy.rules = {{.causes = {Cause::exit}, .times = 1}};
        if (chance(2)) wanted.policy.level = PolicyLevel::server;
        return wanted;
    }

    AttemptEnd end() {
        return pick(std::array{success(), success(), exit_with(1), crash(), did_not_run(),
                               conflict_with_somebody(), wants_to_run_at(wall + seconds(2))});
    }

    // Mostly a new one; also one that an end has made.
    JobId any_job() {
        if (jobs_.empty() || chance(50)) return JobId{next_id()};
        const auto few = std::min<std::size_t>(jobs_.size(), chance(2) ? 10 : jobs_.size());
        const auto id = jobs_[jobs_.size() - 1 - below(few)];
        if (!chance(3)) return id;
        const auto view = run(store().jobs({id}));
        return view->empty() || view->front().made.empty() ? id : pick(view->front().made).job;
    }
    // One that waits for a person, if there is one.
    JobId any_quarantined() {
        auto& catalogue = dynamic_cast<Catalogue&>(store());
        const auto page = run(catalogue.list({.states = {JobState::quarantined}, .undealt = true}));
        return page->jobs.empty() || chance(5) ? any_job() : pick(page->jobs).id;
    }
    SessionId any_session() {
        return sessions_.empty() || chance(50) ? SessionId{next_id()} : pick(sessions_);
    }

    // Mostly an attempt that the session has, or some attempt of some job.
    AttemptKey any_attempt(SessionId of) {
        const auto view = run(store().session(of));
        if (view && !view->runs.empty() && !chance(6)) return pick(view->runs).attempt;
        return {any_job(), Epoch{static_cast<std::uint32_t>(1 + below(3))}};
    }

    // Also of one and the same worker, from session to session.
    std::shared_ptr<const PolicyChoice> worker_policy() {
        PolicyChoice policy{.level = PolicyLevel::worker};
        const CustomRule crashes{.causes = {Cause::crash_signal, Cause::worker_lost}, .times = 2};
        const CustomRule exits{.causes = {Cause::exit}, .times = 2, .then = LastResort::quarantine};
        switch (below(4)) {
            case 0: return nullptr;
            case 1: policy.name = PolicyName::never; break;
            case 2: policy.rules = {crashes}; break;
            default: policy.rules = {exits, crashes}; break;
        }
        return std::make_shared<const PolicyChoice>(std::move(policy));
    }

    // Mostly everything.
    Offer offer() {
        Offer some;
        if (chance(3)) some.queues = {pick(std::array{"default", "mail"}), "heavy"};
        if (chance(3)) some.kinds = {pick(std::array{"work", "other"})};
        if (chance(3))
            some.takes_from = pick(std::array{TakesFrom::accounts, TakesFrom::accounts_and_root});
        return some;
    }

    Change open() {
        auto change = open_session_of({.name = pick(names), .slots = 3, .offer = offer()});
        change.policy = worker_policy();
        const auto latest = *run(store().latest_session(change.directory));
        if (chance(4)) change.directory.boot = "boot-2";
        if (latest && !chance(10)) {
            const auto current = session(*latest);
            change.life = current.life + 1;
            for (const auto& r : current.runs)
                if (!chance(3)) change.on_disk.push_back(listed(r.attempt, r.assignment));
            if (chance(4)) change.on_disk.push_back(listed(last_attempt_of_a_job(), 0));
        }
        if (chance(4)) change.away = seconds(1);
        sessions_to_be_ = change.session;
        return change;
    }

    Change submission() {
        SubmitAll batch;
        for (auto count = 1 + below(chance(3) ? 4 : 1); count > 0; --count) {
            batch.jobs.push_back(submit_of(spec()));
            jobs_.push_back(batch.jobs.back().id);
        }
        if (chance(4)) batch.by = asking();
        if (batch.jobs.size() > 1) return batch;
        batch.jobs.front().by = batch.by;
        return batch.jobs.front();
    }

    // Mostly as an attempt that runs, or did.
    ByAttempt asking() {
        const auto of = any_session();
        return {of, any_attempt(of)};
    }
    std::string who() { return pick(std::array{"", "ann", "token deploy"}); }
    Cancel cancel() {
        Cancel change{any_job(), who()};
        if (!chance(3)) return change;
        change.by = asking();
        return change;
    }

    // Some are too large to be kept in the attempt's own row.
    std::string text() {
        return "\"" + std::string(chance(3) ? 3'000 : 3, static_cast<char>('a' + below(26))) + "\"";
    }
    Report report(SessionId session, AttemptKey attempt) {
        Report said{session, attempt, end(), nullptr, milliseconds(5)};
        if (chance(2)) said.evidence = std::make_shared<const Evidence>(Evidence{.result = text()});
        return said;
    }

    Change tick() {
        const auto clock = run(store().service())->clock;
        auto advance = milliseconds(static_cast<std::int64_t>(below(2'000)));
        if (chance(20)) advance = timing.lease;
        if (chance(60)) {
            advance = timing.retention;
            wall = wall + advance;
        }
        ServiceTick next{clock.tick + 1, clock.now + advance, clock.grace_until};
        if (chance(10)) next.grace_until = next.now + timing.grace;
        Tick tick{chance(10) ? clock.tick + 1 : clock.tick, next};
        if (chance(5)) tick.leads_from = clock.now;
        return tick;
    }

    Change heartbeat(SessionId of) {
        const auto view = run(store().session(of));
        if (!view) return Heartbeat{.session = of, .number = 1, .lease = timing.lease};
        auto change = heartbeat_of(of);
        if (chance(10)) --change.number;
        if (chance(20)) change.content_hash = below(2);
        if (chance(6)) change.seen = below(change.seen + 1);
        if (chance(6)) change.lease = timing.detach_lease;
        change.draining = chance(6);
        for (auto& entry : change.attempts)
            if (chance(6)) entry = listed(entry.attempt, entry.assignment);
        std::erase_if(change.attempts, [&](const Listed&) { return chance(8); });
        if (chance(4)) change.attempts.push_back(listed(last_attempt_of_a_job(), 0));
        return change;
    }

    Listed listed(AttemptKey attempt, std::uint64_t assignment) {
        using Phase = Listed::Phase;
        return {attempt, assignment,
                pick(std::array{Phase::unstarted, Phase::running, Phase::ended})};
    }
    // Of whoever had it; mostly its newest.
    AttemptKey last_attempt_of_a_job() {
        const auto id = any_job();
        const auto view = run(store().jobs({id}));
        if (view->empty() || view->front().epoch == Epoch{}) return {id, Epoch{0}};
        return {id, view->front().epoch};
    }

    // A message about a job's newest attempt from its last owner, who may have lost it.
    Change from_the_dead() {
        const auto view = run(store().jobs({any_job()}));
        if (view->empty() || view->front().attempts.empty()) return tick();
        const auto& last = view->front().attempts.back();
        const AttemptKey attempt{view->front().id, last.epoch};
        if (chance(3) || !run(store().session(last.session))) return report(last.session, attempt);
        auto change = heartbeat_of(last.session);
        change.attempts.push_back(listed(attempt, last.assignment));
        return change;
    }

    Change by_a_worker() {
        const auto of = any_session();
        const auto view = run(store().session(of));
        switch (below(12)) {
            case 0:
            case 1:
            case 2: return Claim{of, view ? view->stream : 0, 3};
            case 3:
            case 4: return Start{of, any_attempt(of)};
            case 5:
            case 6: return report(of, any_attempt(of));
            case 7:
                return Progress{chance(2) ? Progress::Kind::begin : Progress::Kind::checkpoint, of,
                                any_attempt(of), text(), below(10)};
            case 8: return chance(3) ? Change{EndSession{of}} : Change{OpenStream{of}};
            case 9: return from_the_dead();
            default: return heartbeat(of);
        }
    }

    Change keeper() {
        const auto role = run(store().service())->keeper;
        return TakeKeeper{chance(3) ? KeeperRole{} : role,
                          {pick(std::array{server, other_server}).id, role.epoch + 1, {}}};
    }

    Change by_a_person() {
        using Action = QuarantineAction;
        switch (below(12)) {
            case 11: return keeper();
            case 9:
            case 10: return AddCallback{JobId{next_id()}, any_job(), callback(0)};
            // All at once: who goes first of those that ended together is each store's affair.
            case 8: return ForgetEnded{1'000};
            case 0: return cancel();
            case 1: return Hold{any_job(), true, who()};
            case 2:
            case 3: return Hold{any_job(), false, who()};
            case 4:
            case 5:
                return DealWithQuarantined{any_quarantined(),
                                           pick(std::array{Action::release, Action::release,
                                                           Action::accept, Action::discard}),
                                           chance(2), who()};
            case 6: return PauseQueue{"default", "mail", chance(3)};
            default:
                return DefineLimit{"default", chance(2) ? "gpu" : "cpu",
                                   static_cast<std::uint32_t>(1 + below(3))};
        }
    }

    Change change() {
        // What is opened in one group can be used from the next one on.
        if (sessions_to_be_ && run(store().session(*sessions_to_be_)))
            sessions_.push_back(*std::exchange(sessions_to_be_, std::nullopt));
        switch (below(15)) {
            case 0: return open();
            case 1:
            case 2: return submission();
            case 3:
            case 4: return tick();
            case 5:
            case 6: return by_a_person();
            case 7: {
                Sweep sweep = sweep_of(overdue());
                if (chance(2)) sweep.waiting.push_back(any_job());
                return sweep;
            }
            default: return by_a_worker();
        }
    }

    reference::Reference model_;
    std::mt19937_64 draw_;
    std::vector<JobId> jobs_;
    std::vector<SessionId> sessions_;
    std::optional<SessionId> sessions_to_be_;
    std::vector<Change> late_;
};

TEST_P(RandomHistory, is_sound_and_answered_as_the_model_answers) {
    for (int i = 0; i < groups && !HasFailure(); ++i) {
        step();
        if (i % 5 == 0) compare();
    }
    compare();
}

std::vector<StoreFactory> with_seeds() {
    std::vector<StoreFactory> factories;
    for (auto factory : store_factories()) {
        auto most = histories;
        if (factory.name == "memory") most *= 10;   // cheap there
        if (factory.name == "postgres") most /= 4;  // each group is a few round trips
        for (factory.seed = 1; factory.seed <= most; ++factory.seed) factories.push_back(factory);
    }
    return factories;
}

INSTANTIATE_TEST_SUITE_P(Stores, RandomHistory, testing::ValuesIn(with_seeds()),
                         [](const auto& test) {
                             return test.param.name + "_" + std::to_string(test.param.seed);
                         });

}  // namespace
}  // namespace perdure::contract
