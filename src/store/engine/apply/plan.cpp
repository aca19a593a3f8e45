// Which rows a group will want. It is a guess that saves round trips, and never more than that:
// what it leaves out is loaded when it is missed (state/group_rows.h).
#include <algorithm>
#include <variant>
#include <vector>

#include "store/engine/apply/apply.h"

namespace perdure::store {
namespace {

// No group asks for more jobs at once, whatever its changes list.
constexpr std::size_t planned_max = 10'000;

class Planning {
public:
    Planning(State& state, Wanted& wanted) : state_(state), wanted_(wanted) {}

    void operator()(const Submit& change) {
        const auto& spec = *change.spec;
        want_asking(change.by);
        want(change.id);
        if (spec.idempotency_key) want(KeyName{spec.tenant, *spec.idempotency_key});
        for (const auto& after : spec.after) want(after.job);
    }
    void operator()(const SubmitAll& change) {
        want_asking(change.by);
        for (const auto& job : change.jobs) (*this)(job);
    }
    void operator()(const Heartbeat& change) {
        // What its session owns is in memory, as far as it is looked at.
        const auto& owned = state_.runs_of(change.session);
        if (change.attempts.size() <= owned.size()) return;
        for (const auto& listed : change.attempts) want(listed.attempt.job);
    }
    void operator()(const OpenSession& change) {
        for (const auto& listed : change.on_disk) want(listed.attempt.job);
        const auto previous = state_.latest_session(change.directory);
        for (const auto& [key, mark] : state_.runs_of(previous.value_or(SessionId{})))
            want(key.second);
    }
    void operator()(const Sweep& change) {
        for (const auto id : change.waiting) want_to_move(id);
        for (const auto& permit : change.permits) want(permit);
    }
    void operator()(const Start& change) { want(change.attempt.job); }
    void operator()(const Progress& change) { want(change.attempt.job); }
    void operator()(const Report& change) { want_to_move(change.attempt.job); }
    void operator()(const Cancel& change) {
        want_asking(change.by);
        want_to_move(change.job);
    }
    void operator()(const Hold& change) { want_to_move(change.job); }
    void operator()(const DealWithQuarantined& change) { want_to_move(change.job); }
    void operator()(const AddCallback& change) {
        want(change.job);
        if (!state_.rows.loaded().added.contains(change.job)) wanted_.added.insert(change.job);
    }
    // What claims take is read by the line.
    template <class Other>
    void operator()(const Other&) {}

private:
    void want(JobId id) {
        if (state_.is_unloaded(id) && wanted_.jobs.size() < planned_max) wanted_.jobs.insert(id);
    }
    void want_asking(const std::optional<ByAttempt>& by) {
        if (by) want(by->attempt.job);
    }
    // And the job that has it.
    void want(const KeyName& key) {
        if (state_.pending->keys.contains(key)) return;
        const auto& keys = state_.rows.loaded().keys;
        const auto found = keys.find(key);
        if (found == keys.end()) {
            wanted_.keys.insert(key);
        } else if (const auto* row = found->second.known(); row && *row && !(*row)->gone) {
            want((*row)->job);
        }
    }
    void want(const Permit& permit) {
        if (state_.shapes.total(JobState::blocked) == 0) return;
        const auto& known = state_.rows.loaded();
        const PermitLine all{permit, 0};
        const auto shapes = known.shapes_blocked.find(all);
        if (shapes == known.shapes_blocked.end()) {
            wanted_.shapes_blocked.emplace(all, GroupRows::shapes_read_max);
            return;
        }
        const auto offered = std::min(state_.holders.max(permit), promotion_window) + 1;
        for (const auto shape : rows_of(shapes->second)) {
            const PermitLine line{permit, shape};
            if (!known.wanting.contains(line)) wanted_.wanting.emplace(line, offered);
            const auto blocked = known.blocked.find(line);
            if (blocked == known.blocked.end())
                wanted_.blocked.emplace(line, BlockedQuery{{}, GroupRows::blocked_read_min});
            else if (const auto& first = rows_of(blocked->second); !first.empty())
                want(first.front().job);
        }
    }
    // It may end: then whoever waits for it, or for what it holds, is wanted as well.
    void want_to_move(JobId id) {
        const JobRow* job = state_.loaded(id);
        if (!job) job = state_.rows.peek(id);
        if (!job) return want(id);
        for (const auto& permit : job->permits) want(permit);
        if (job->watched == false) return;
        const auto& known = state_.rows.loaded();
        const auto waiters = known.waiters.find(id);
        if (!known.added.contains(id)) wanted_.added.insert(id);
        if (waiters == known.waiters.end()) {
            wanted_.waiters.emplace(id, waiters_read_max);
            return;
        }
        for (const auto waiter : rows_of(waiters->second)) {
            want(waiter);
            if (!known.facts.contains(waiter)) wanted_.facts.insert(waiter);
        }
    }
    static constexpr std::uint32_t waiters_read_max = 100;

    template <class Row>
    static const std::vector<Row>& rows_of(const LoadedRow<Loaded::Some<Row>>& answer) {
        static const std::vector<Row> none;
        const auto* known = answer.known();
        return known ? known->rows : none;
    }

    State& state_;
    Wanted& wanted_;
};

}  // namespace

void plan(State& state, const Group& group, std::size_t from, Wanted& wanted) {
    Planning planning(state, wanted);
    for (auto i = from; i < group.changes.size(); ++i) std::visit(planning, group.changes[i]);
}

}  // namespace perdure::store
