#include "tests/contract/contract.h"

#include <algorithm>
#include <tuple>

#include "core/job/submit.h"
#include "tests/contract/audit.h"

namespace perdure::contract {

AttemptEnd success() {
    return {.cause = Cause::exit, .ran = Ran::yes, .succeeded = true, .reported = true};
}
AttemptEnd exit_with(std::int32_t code) {
    return {.cause = Cause::exit, .ran = Ran::yes, .reported = true, .exit_code = code};
}
AttemptEnd crash() {
    return {.cause = Cause::crash_signal, .ran = Ran::yes, .reported = true, .exit_code = 11};
}
AttemptEnd conflict_with_somebody() {
    return {.cause = Cause::conflict, .ran = Ran::yes, .reported = true};
}
AttemptEnd wants_to_run_at(WallTime date) {
    return {.cause = Cause::verdict_at, .ran = Ran::yes, .reported = true, .at = date};
}
AttemptEnd did_not_run() { return {.cause = Cause::shim_failed, .ran = Ran::no, .reported = true}; }

JobSpec Wanted::job() {
    JobSpec spec;
    spec.kind = "work";
    return spec;
}
JobSpec Wanted::keyed(const std::string& key) {
    auto spec = job();
    spec.key = key;
    return spec;
}
JobSpec Wanted::limited(const std::string& limit) {
    auto spec = job();
    spec.limits = {limit};
    return spec;
}
JobSpec Wanted::once() {
    auto spec = job();
    spec.effects = Effects::once;
    return spec;
}
JobSpec Wanted::resumable() {
    auto spec = job();
    spec.effects = Effects::resumable;
    return spec;
}

StoreContract::StoreContract(const Timing& with) : timing(with), store_(GetParam().make(timing)) {
    server = open_server();
    other_server = open_server();
}

void StoreContract::TearDown() {
    expect_sound(audit());
    EXPECT_TRUE(overdue().free_permits.empty()) << "a job is blocked on a thing nobody is offered";
}

TestServer StoreContract::open_server() {
    const ServerId id{next_id()};
    const auto opened = run(store().open_server(id, wall));
    EXPECT_TRUE(opened.has_value());
    return {.id = id, .last_group = opened->last_group, .fence = opened->fence};
}

Group StoreContract::group(const TestServer& by, std::vector<Change> changes) {
    return {.server = by.id,
            .number = by.last_group + 1,
            .fence = by.fence,
            .id_high_water = last_id_,
            .wall = wall,
            .changes = std::move(changes)};
}

GroupReply StoreContract::commit(TestServer& by, std::vector<Change> changes) {
    const auto count = changes.size();
    auto reply = run(store().commit(group(by, std::move(changes))));
    if (!reply) {
        ADD_FAILURE() << "the group was refused: " << reply.error().what;
        return {.replies = std::vector<ChangeReply>(count, reply.error())};
    }
    EXPECT_EQ(reply->replies.size(), count);
    ++by.last_group;
    return std::move(*reply);
}

ChangeReply StoreContract::apply(Change change) {
    return commit({std::move(change)}).replies.front();
}

ServiceTime StoreContract::now() { return run(store().service())->clock.now; }

void StoreContract::pass(Duration time) {
    const auto clock = run(store().service())->clock;
    auto next = clock;
    ++next.tick;
    next.now = clock.now + time;
    EXPECT_TRUE(apply(Tick{clock.tick, next}).has_value());
}

void StoreContract::pass_with_heartbeats(Duration time) {
    const auto step = timing.heartbeat;
    for (auto rest = time; rest > Duration{}; rest = rest - step) {
        pass(std::min(rest, step));
        for (const auto id : sessions_) {
            if (session(id).open) std::ignore = send_heartbeat(id);
        }
    }
}

Submit StoreContract::submit_of(JobSpec spec) {
    const auto hash = body_hash(spec);
    return {JobId{next_id()}, std::make_shared<const JobSpec>(std::move(spec)), hash};
}

JobId StoreContract::submit(JobSpec spec) {
    return get<Submitted>(apply(submit_of(std::move(spec)))).id;
}

JobView StoreContract::job(JobId id) {
    const auto found = run(store().jobs({id}));
    EXPECT_TRUE(found.has_value());
    if (found->size() != 1) {
        ADD_FAILURE() << "there is no job " << id.text();
        return {};
    }
    return found->front();
}

AttemptView StoreContract::last_attempt(JobId id) {
    const auto attempts = job(id).attempts;
    if (attempts.empty()) {
        ADD_FAILURE() << "there is no attempt";
        return {};
    }
    return attempts.back();
}

void StoreContract::define_limit(const std::string& name, std::uint32_t max) {
    EXPECT_TRUE(apply(DefineLimit{"default", name, max}).has_value());
}

StateDirectory StoreContract::directory_of(const Worker& worker) {
    return {.machine = worker.name, .boot = worker.boot, .device = 1, .inode = 2};
}

OpenSession StoreContract::open_session_of(const Worker& worker) {
    return {.session = SessionId{next_id()},
            .directory = directory_of(worker),
            .life = 1,
            .worker = worker.name,
            .slots = worker.slots,
            .offer = worker.offer,
            .lease = timing.lease,
            .policy = worker.policy};
}

SessionId StoreContract::open_session(const Worker& worker) {
    const auto change = open_session_of(worker);
    EXPECT_TRUE(apply(change).has_value());
    EXPECT_EQ(get<StreamOpened>(apply(OpenStream{change.session})).stream, 1U);
    sessions_.push_back(change.session);
    return change.session;
}

OpenSession StoreContract::takeover_of(SessionId previous, const Worker& worker) {
    auto change = open_session_of(worker);
    change.life = session(previous).life + 1;
    change.on_disk = heartbeat_of(previous).attempts;
    sessions_.push_back(change.session);
    return change;
}

Heartbeat StoreContract::heartbeat_of(SessionId id) {
    const auto view = session(id);
    Heartbeat heartbeat{.session = id,
                        .number = view.heartbeat + 1,
                        .seen = view.assignments,
                        .slots = view.slots,
                        .offer = view.offer,
                        .lease = timing.lease};
    using Phase = Listed::Phase;
    for (const auto& r : view.runs)
        heartbeat.attempts.push_back(
            {.attempt = r.attempt,
             .assignment = r.assignment,
             .phase = r.state == JobState::running ? Phase::running : Phase::unstarted});
    return heartbeat;
}

HeartbeatTaken StoreContract::list(SessionId id, AttemptKey attempt, Listed::Phase phase) {
    auto heartbeat = heartbeat_of(id);
    heartbeat.attempts.push_back({.attempt = attempt, .phase = phase});
    return send(heartbeat);
}

SessionView StoreContract::session(SessionId id) {
    const auto view = run(store().session(id));
    EXPECT_TRUE(view.has_value());
    return view ? *view : SessionView{};
}

ChangeReply StoreContract::try_claim(SessionId id, std::uint32_t max) {
    return apply(Claim{.session = id, .stream = session(id).stream, .max = max});
}

std::vector<Assignment> StoreContract::claim(SessionId id, std::uint32_t max) {
    return get<Claimed>(try_claim(id, max)).assignments;
}

AttemptKey StoreContract::claim_one(SessionId id) {
    const auto assignments = claim(id, 1);
    if (assignments.size() != 1) {
        ADD_FAILURE() << "there was nothing to claim";
        return {};
    }
    return assignments.front().attempt;
}

ChangeReply StoreContract::start(SessionId id, AttemptKey attempt) {
    return apply(Start{id, attempt});
}

AttemptKey StoreContract::run_one(SessionId id) {
    const auto attempt = claim_one(id);
    EXPECT_TRUE(start(id, attempt).has_value());
    return attempt;
}

ChangeReply StoreContract::report(SessionId id, AttemptKey attempt, const AttemptEnd& end) {
    return apply(Report{id, attempt, end});
}

void StoreContract::finish(SessionId id, AttemptKey attempt, const AttemptEnd& end) {
    EXPECT_EQ(get<Reported>(report(id, attempt, end)).answer, ReportAnswer::accept);
}

ChangeReply StoreContract::progress(SessionId id, AttemptKey attempt, Progress::Kind kind,
                                    const std::string& checkpoint) {
    return apply(Progress{kind, id, attempt, checkpoint, ++progress_number_});
}

OverdueView StoreContract::overdue(std::uint32_t limit) {
    const auto view = run(store().overdue(wall, limit));
    EXPECT_TRUE(view.has_value());
    return *view;
}

Swept StoreContract::told() {
    auto sweep = sweep_of(overdue());
    sweep.report_only = true;
    return get<Swept>(apply(sweep));
}

void StoreContract::lose(AttemptKey attempt) {
    const auto view = job(attempt.job);
    ASSERT_TRUE(view.run.has_value());
    const auto ends = session(view.run->session).lease_deadline + view.run->terms.release_after;
    pass(ends - now());
    sweep();
    EXPECT_FALSE(job(attempt.job).run.has_value());
}

AuditView StoreContract::audit() {
    const auto view = run(read_whole_audit(store()));
    EXPECT_TRUE(view.has_value());
    return *view;
}

testing::AssertionResult refused(const ChangeReply& reply, Errc code) {
    if (reply.is(code)) return testing::AssertionSuccess();
    if (reply) return testing::AssertionFailure() << "it was not refused";
    return testing::AssertionFailure()
           << "it was refused as " << to_string(reply.error().code) << ": " << reply.error().what;
}

}  // namespace perdure::contract
