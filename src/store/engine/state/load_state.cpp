// What the engine knows at its start. A row that cannot be understood is noted and left out; but
// what it may stand for is kept: a run keeps its slot, a holder its key or limit (C9).
#include <utility>

#include "store/engine/row_name.h"
#include "store/engine/state/state.h"

namespace perdure::store {
namespace {

// Of numbers that are no ids, too.
std::int64_t as_stored(std::uint64_t number) { return static_cast<std::int64_t>(number); }

const char* holder_table(const Permit& permit) {
    return permit.kind == Permit::Kind::key ? "key_holder" : "limit_holder";
}

}  // namespace

State::State(Tables& of, const Timing& t, const QueueWeights& weights, DamageBook& b,
             Contents contents)
    : timing(t),
      tables(of),
      rows(of),
      book(b),
      shapes(contents, pending, b),
      fronts(shapes, weights),
      holders(contents, pending, b),
      relations(rows, pending),
      debts(contents, pending),
      service_(contents.service),
      lines_(rows, jobs_),
      highest_job_(contents.highest_job),
      servers_(std::move(contents.servers)) {
    written_tick_ = service.clock.tick;
    Holding holding;
    take_sessions(contents);
    take_runs(contents, holding);
    check_kept(holding);
    const bool may_stand_still = !contents.pauses.empty() && !lines_.kept().empty();
    if (may_stand_still) debts.owe_kept({});
    check_holders(holding);
}

void State::take_sessions(Contents& contents) {
    for (auto& row : contents.sessions) sessions_.emplace(row.id, std::move(row));
    for (const auto id : contents.noted)
        if (sessions_.contains(id)) changed_sessions_.insert(id);
    for (const auto& [place, session] : contents.directories) {
        latest_sessions_[place] = session;
        if (sessions_.contains(session)) continue;
        const auto& [machine, device, inode] = place;
        book.note({"directory", row_name({machine, as_stored(device), as_stored(inode)}),
                   "its session is not there, or cannot be understood"});
    }
}

void State::take_runs(const Contents& contents, Holding& holding) {
    for (const auto& entry : contents.runs) {
        const auto id = entry.job;
        holding.insert(id);
        const auto* job = readable(id);
        const auto* run = job ? job->in<Run>() : nullptr;
        if (run && !session(run->session)) {
            book.isolate(id, "it runs in a session that is not there, or cannot be understood");
            run = nullptr;
        }
        if (!run) {
            note_damaged_run(entry);
            continue;
        }
        runs_[run->session][{run->assignment, id}] = mark_of(*job, *run);
        ++running_;
        check_run(id, *job);
    }
}

// It keeps the slot of its session, as far as anybody can tell whose that is.
void State::note_damaged_run(const Contents::RunOf& run) {
    book.isolate(run.job, "its row in `run` cannot be understood");
    const auto owner = tables.lines().owner_of_damaged_run(run.job);
    const Run unknown{.session = owner, .state = JobState::running};
    runs_[owner][{run.assignment, run.job}] = {unknown, Terms{}, ServiceTime{}};
    ++running_;
}

// Who runs has its permits, whatever the rows say: nobody else may take them.
void State::check_run(JobId id, const JobRow& job) {
    for (const auto& permit : job.permits) {
        if (holders.is_held_by(permit, id)) continue;
        holders.hold_without_row(permit, id);
        book.note({holder_table(permit), row_name({permit.tenant, permit.name, "?"}),
                   "job " + id.text() + " must hold it, and there is no such row", id});
    }
}

void State::check_kept(Holding& holding) {
    for (const auto id : tables.lines().kept()) {
        holding.insert(id);
        lines_.note_kept(id);
        const auto* job = readable(id);
        const auto* ready = job ? job->in<Ready>() : nullptr;
        if (ready && ready->kept_until) check_run(id, *job);
    }
}

void State::check_holders(const Holding& holding) {
    holders.for_each([&](const Permit& permit, std::uint32_t slot, JobId job) {
        if (holding.contains(job)) return;
        RowKey key{permit.tenant, permit.name};
        if (permit.kind == Permit::Kind::limit) key.emplace_back(std::int64_t{slot});
        book.note({holder_table(permit), row_name(key),
                   "job " + job.text() + " neither runs nor keeps it: it counts as taken", job});
    });
}

}  // namespace perdure::store
