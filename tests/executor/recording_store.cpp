#include "tests/executor/recording_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace perdure::executor {
namespace {

template <class Kind>
bool has(const Group& group) {
    return std::any_of(group.changes.begin(), group.changes.end(),
                       [](const Change& change) { return std::holds_alternative<Kind>(change); });
}

// A row that no store can read: the group that has it fails as a whole.
bool is_poisoned(const Group& group) {
    return std::any_of(group.changes.begin(), group.changes.end(), [](const Change& change) {
        const auto* submit = std::get_if<Submit>(&change);
        return submit && submit->spec->kind == "poison";
    });
}

}  // namespace

void RecordingStore::note_group(const Group& group) {
    trace_.add(fmt::format("commit {} fence {}", group.number, group.fence));
    for (const auto& change : group.changes) trace_.add("  " + trace_.of(change));
}

void RecordingStore::note_error(const Error& error) {
    trace_.add(fmt::format("  = {}", to_string(error.code)));
}

std::optional<Error> RecordingStore::fault_before(const Group& group) {
    if (is_poisoned(group)) return error(Errc::corrupt, "poison");
    if (fault_ == StoreFault::lost_but_done) return std::nullopt;
    const auto fault = std::exchange(fault_, std::nullopt);
    if (fault == StoreFault::aborted) return error(Errc::conflict, "aborted");
    if (fault == StoreFault::lost_and_not_done) return error(Errc::outcome_unknown, "lost");
    if (fault == StoreFault::down) return error(Errc::unavailable, "down");
    return std::nullopt;
}

std::optional<Error> RecordingStore::fault_after() {
    if (!std::exchange(fault_, std::nullopt)) return std::nullopt;
    return error(Errc::outcome_unknown, "lost");
}

Task<Result<GroupReply>> RecordingStore::commit(Group group) {
    note_group(group);
    if (auto fault = fault_before(group)) {
        note_error(*fault);
        co_return *fault;
    }
    const bool round_ends = has<TakeKeeper>(group);
    auto reply = co_await inner_.commit(std::move(group));
    if (auto fault = fault_after()) {
        note_error(*fault);
        co_return *fault;
    }
    if (!reply) {
        note_error(reply.error());
        co_return reply;
    }
    for (const auto& answer : reply->replies) trace_.add("  = " + trace_.of(answer));
    if (reply->work_appeared) trace_.add("  = work appeared");
    if (round_ends) {
        ++round_;
        co_await prompter_(round_);
    }
    co_return reply;
}

Task<Result<ServerOpened>> RecordingStore::open_server(ServerId server, WallTime wall) {
    auto opened = co_await inner_.open_server(server, wall);
    if (opened)
        trace_.add(fmt::format("open server = number {} last group {} fence {}", opened->number,
                               opened->last_group, opened->fence));
    co_return opened;
}

Task<Result<LastGroup>> RecordingStore::resolve_unknown(ServerId server, std::uint64_t fence) {
    auto last = co_await inner_.resolve_unknown(server, fence);
    if (last)
        trace_.add(fmt::format("settle unknown fence {} = last group {} fence {}", fence,
                               last->last_group, last->fence));
    co_return last;
}

Task<Result<ServiceView>> RecordingStore::service() {
    auto view = co_await inner_.service();
    if (view)
        trace_.add(fmt::format("service = tick {} at {} us, {}, keeper epoch {}", view->clock.tick,
                               view->clock.now.us, view->idle ? "idle" : "busy",
                               view->keeper.epoch));
    co_return view;
}

Task<Result<SessionView>> RecordingStore::session(SessionId session, JobId runs_behind) {
    auto view = co_await inner_.session(session, runs_behind);
    trace_.add("session = " + (view ? trace_.of(*view) : "none"));
    co_return view;
}

Task<Result<std::optional<SessionId>>> RecordingStore::latest_session(StateDirectory directory) {
    auto latest = co_await inner_.latest_session(std::move(directory));
    trace_.add("latest session = " + (latest && *latest ? trace_.name(**latest) : "none"));
    co_return latest;
}

Task<Result<OverdueView>> RecordingStore::overdue(WallTime wall, std::uint32_t limit) {
    auto view = co_await inner_.overdue(wall, limit);
    if (view) trace_.add("overdue = " + trace_.of(*view));
    co_return view;
}

Task<Result<OwnerView>> RecordingStore::owner(SessionId session) {
    auto view = co_await inner_.owner(session);
    trace_.add("owner = " + (view ? view->worker : "none"));
    co_return view;
}

Task<Result<std::vector<JobView>>> RecordingStore::jobs(std::vector<JobId> ids,
                                                        AttemptWindow attempts) {
    auto views = co_await inner_.jobs(std::move(ids), attempts);
    trace_.add("jobs");
    if (views)
        for (const auto& view : *views) trace_.add("  = " + trace_.of(view));
    co_return views;
}

Task<Result<std::optional<JobId>>> RecordingStore::job_of_key(std::string tenant,
                                                              std::string idempotency_key) {
    return inner_.job_of_key(std::move(tenant), std::move(idempotency_key));
}

Task<Result<AuditView>> RecordingStore::audit(AuditPlace after, std::uint32_t limit) {
    return inner_.audit(std::move(after), limit);
}

}  // namespace perdure::executor
