#include "sim/world/sim_store.h"

#include <algorithm>
#include <utility>

#include "base/probe.h"

namespace perdure::sim {
namespace {

// The connection's view of one operation under way.
template <class Reply>
struct Pending {
    std::optional<Result<Reply>> answer;
    std::optional<Ticket> waiting;
};

template <class Reply>
void answer(World& world, const std::shared_ptr<Pending<Reply>>& pending, Result<Reply> reply) {
    if (pending->answer) return;
    pending->answer = std::move(reply);
    if (pending->waiting) world.wake(*pending->waiting);
}

template <class Reply>
Task<void> execute(SimDatabase& database, std::function<Task<Result<Reply>>(Store&)> operation,
                   std::shared_ptr<Pending<Reply>> pending, bool reply_is_lost, Message seen) {
    const auto timeline = database.timeline();
    auto reply = co_await operation(database.inner());
    if (reply_is_lost) co_return;
    auto& world = database.world();
    seen.leg = Message::Leg::committed;
    seen.go_on = [&database, &world, pending, timeline, reply] {
        world.after(database.delay(), Life{}, [&database, &world, pending, timeline, reply] {
            // The connection broke while the reply was on its way.
            if (database.timeline() != timeline)
                answer<Reply>(world, pending, error(Errc::outcome_unknown, "connection lost"));
            else
                answer<Reply>(world, pending, reply);
        });
    };
    const bool taken = database.tap() && database.tap()->takes(seen);
    if (!taken) seen.go_on();
}

struct TouchedJob {
    JobId operator()(const Submit& c) const { return c.id; }
    JobId operator()(const Start& c) const { return c.attempt.job; }
    JobId operator()(const Report& c) const { return c.attempt.job; }
    JobId operator()(const Progress& c) const { return c.attempt.job; }
    JobId operator()(const Cancel& c) const { return c.job; }
    JobId operator()(const Hold& c) const { return c.job; }
    JobId operator()(const DealWithQuarantined& c) const { return c.job; }
    JobId operator()(const AddCallback& c) const { return c.job; }
    template <class Other>
    JobId operator()(const Other&) const {
        return JobId{};
    }
};

// Jobs that a worker has named: any of them may have come back, or begun to run.
struct ListedJobs {
    const std::vector<Listed>* operator()(const Heartbeat& c) const { return &c.attempts; }
    const std::vector<Listed>* operator()(const OpenSession& c) const { return &c.on_disk; }
    template <class Other>
    const std::vector<Listed>* operator()(const Other&) const {
        return nullptr;
    }
};

// Jobs that a change has found by itself.
struct FoundJobs {
    std::vector<JobId>& touched;

    void operator()(const Claimed& r) const {
        for (const auto& assignment : r.assignments) touched.push_back(assignment.attempt.job);
    }
    void operator()(const HeartbeatTaken& r) const { take(r.ended); }
    void operator()(const SessionOpened& r) const { take(r.ended); }
    void operator()(const Swept& r) const {
        for (const auto& attempt : r.attempts) touched.push_back(attempt.attempt.job);
        for (const auto& waiting : r.waiting) touched.push_back(waiting.newest.job);
    }
    template <class Other>
    void operator()(const Other&) const {}

private:
    void take(const std::vector<EndedAttempt>& ended) const {
        for (const auto& one : ended) touched.push_back(one.attempt.job);
    }
};

void note_touched(const Group& group, const GroupReply& reply, std::vector<JobId>& touched) {
    for (const auto& change : group.changes) {
        if (const auto job = std::visit(TouchedJob{}, change)) touched.push_back(job);
        if (const auto* listed = std::visit(ListedJobs{}, change))
            for (const auto& entry : *listed) touched.push_back(entry.attempt.job);
    }
    for (const auto& answer : reply.replies)
        if (answer) std::visit(FoundJobs{touched}, *answer);
}

bool sweeps(const Group& group) {
    return std::any_of(group.changes.begin(), group.changes.end(),
                       [](const Change& change) { return std::holds_alternative<Sweep>(change); });
}

bool has_poison(const Group& group) {
    return std::any_of(group.changes.begin(), group.changes.end(), [](const Change& change) {
        const auto is_poison = [](const Submit& s) { return s.spec->kind == poison_kind; };
        if (const auto* all = std::get_if<SubmitAll>(&change))
            return std::any_of(all->jobs.begin(), all->jobs.end(), is_poison);
        const auto* submit = std::get_if<Submit>(&change);
        return submit && is_poison(*submit);
    });
}

Task<Result<GroupReply>> commit_and_note(SimDatabase& database,
                                         std::shared_ptr<const Group> group) {
    auto reply = co_await database.inner().commit(*group);
    if (reply) note_touched(*group, *reply, database.touched());
    co_return reply;
}

}  // namespace

SimDatabase::SimDatabase(World& world, const Plan& plan, Store& inner)
    : world_(world), plan_(plan), inner_(inner), rng_(world.split_rng()) {}

void SimDatabase::go_down(Duration length) {
    down_until_ = std::max(down_until_, world_.now() + length);
    ++timeline_;  // every connection breaks
}

void SimDatabase::crash() {
    if (auto* embedded = dynamic_cast<EmbeddedStore*>(&inner_)) embedded->crash();
}

void SimDatabase::fail_over(Duration length) { go_down(length); }

Duration SimDatabase::delay() {
    const bool slow = faults_on_ && plan_.has(Fault::slow_store) && rng_.chance(0.02);
    if (slow) ++faults_;
    return slow ? rng_.skewed(milliseconds(50), seconds(4))
                : rng_.skewed(microseconds(50), milliseconds(3));
}

bool SimDatabase::draws(Fault fault) {
    const bool hit = faults_on_ && plan_.has(fault) && rng_.chance(plan_.store_fault);
    if (hit) ++faults_;
    return hit;
}

template <class Reply>
Task<Result<Reply>> SimStore::remote(Operation<Reply> operation) {
    co_return co_await remote<Reply>(std::move(operation), std::nullopt, {});
}

template <class Reply>
Task<Result<Reply>> SimStore::remote(Operation<Reply> operation,
                                     std::optional<SimDatabase::Lost> lost, std::string what) {
    auto& world = database_.world();
    auto pending = std::make_shared<Pending<Reply>>();
    auto& database = database_;
    const auto arrival = database_.delay();
    Message seen{.leg = Message::Leg::commit, .what = std::move(what), .sender = server_.value};
    seen.break_off = [&world, pending] {
        answer<Reply>(world, pending, error(Errc::outcome_unknown, "the reply was lost"));
    };
    auto start = [&database, &world, operation, pending, seen, reply_is_lost = lost.has_value()] {
        if (database.is_down()) {
            answer<Reply>(world, pending, error(Errc::unavailable, "the store is down"));
            return;
        }
        world.spawn(execute<Reply>(database, operation, pending, reply_is_lost, seen));
    };
    using Lost = SimDatabase::Lost;
    auto executed_at = arrival;
    if (lost == Lost::executed_later) executed_at = arrival + database_.draw_later();
    seen.go_on = start;
    const bool taken = database_.tap() && database_.tap()->takes(seen);
    if (lost != Lost::never_executed && !taken) world.after(executed_at, Life{}, start);
    if (lost) world.after(arrival + database_.delay(), Life{}, seen.break_off);
    co_await suspend([this, mine = pending.get()](Suspended me) {
        mine->waiting = database_.world().park(server_, std::move(me));
    });
    pending->waiting.reset();
    co_return std::move(*pending->answer);
}

Task<Result<ServerOpened>> SimStore::open_server(ServerId server, WallTime wall) {
    return remote<ServerOpened>([=](Store& store) { return store.open_server(server, wall); });
}

Task<Result<GroupReply>> SimStore::commit(Group group) {
    if (database_.draws(Fault::abort_group)) {
        co_await database_.world().sleep(server_, database_.delay());
        co_return error(Errc::conflict, "aborted by another transaction");
    }
    if (sweeps(group) && database_.applies_late())
        co_await database_.world().sleep(server_, database_.draw_later());
    if (has_poison(group)) {
        co_await database_.world().sleep(server_, database_.delay());
        co_return error(Errc::corrupt, "a row that the store cannot take");
    }
    std::optional<SimDatabase::Lost> lost;
    if (database_.draws(Fault::unknown_outcome)) lost = database_.draw_lost();
    if (lost == SimDatabase::Lost::executed_later) reached<"commit_after_its_reply_was_lost">();
    auto shared = std::make_shared<const Group>(std::move(group));
    Operation<GroupReply> operation = [&database = database_, shared](Store&) {
        return commit_and_note(database, shared);
    };
    auto names = database_.tap() ? names_of(*shared) : std::string{};
    co_return co_await remote<GroupReply>(std::move(operation), lost, std::move(names));
}

Task<Result<LastGroup>> SimStore::resolve_unknown(ServerId server, std::uint64_t fence) {
    Operation<LastGroup> operation = [=](Store& store) {
        return store.resolve_unknown(server, fence);
    };
    auto last = co_await remote<LastGroup>(std::move(operation), std::nullopt, "resolve_unknown ");
    // Back for a moment only: whatever was committed without an answer is not answered now either.
    if (last && database_.draws(Fault::store_down)) database_.go_down_again();
    co_return last;
}

Task<Result<ServiceView>> SimStore::service() {
    return remote<ServiceView>([](Store& store) { return store.service(); });
}

Task<Result<SessionView>> SimStore::session(SessionId session, JobId runs_behind) {
    return remote<SessionView>([=](Store& store) { return store.session(session, runs_behind); });
}

Task<Result<std::optional<SessionId>>> SimStore::latest_session(StateDirectory directory) {
    return remote<std::optional<SessionId>>(
        [=](Store& store) { return store.latest_session(directory); });
}

Task<Result<OverdueView>> SimStore::overdue(WallTime wall, std::uint32_t limit) {
    return remote<OverdueView>([=](Store& store) { return store.overdue(wall, limit); });
}

Task<Result<OwnerView>> SimStore::owner(SessionId session) {
    return remote<OwnerView>([=](Store& store) { return store.owner(session); });
}

Task<Result<std::vector<JobView>>> SimStore::jobs(std::vector<JobId> ids, AttemptWindow attempts) {
    return remote<std::vector<JobView>>([=](Store& store) { return store.jobs(ids, attempts); });
}

Task<Result<std::optional<JobId>>> SimStore::job_of_key(std::string tenant,
                                                        std::string idempotency_key) {
    return remote<std::optional<JobId>>(
        [=](Store& store) { return store.job_of_key(tenant, idempotency_key); });
}

Task<Result<AuditView>> SimStore::audit(AuditPlace after, std::uint32_t limit) {
    return remote<AuditView>([=](Store& store) { return store.audit(after, limit); });
}

}  // namespace perdure::sim
