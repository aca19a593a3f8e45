// What the writer knows at its start. A row that cannot be understood is noted and left out; but
// what it may stand for is kept: a run keeps its slot, a holder its key or limit (C9).
#include "store/sqlite/damage/row_name.h"
#include "store/sqlite/rows/codec.h"
#include "store/sqlite/state/state.h"

namespace perdure::sqlite {
namespace {

// Who owns the attempt of a row in `run`, if anything in it says so.
std::optional<SessionId> owner_in(std::string_view life) {
    JobRow job;
    try {
        decode_life(life, job);
    } catch (const Failure&) {
        return std::nullopt;
    }
    if (job.attempts.empty()) return std::nullopt;
    return job.attempts.back().session();
}

}  // namespace

void State::load_all() {
    service = copies_.service();
    servers_ = copies_.servers();
    for (auto& row : load.sessions(book)) sessions_.emplace(row.id, std::move(row));
    highest_job_ = {static_cast<std::uint64_t>(connection.number("SELECT max(id) FROM job"))};
    load_directories();
    load_runs();
    check_kept();
    check_holders();
    holding_.clear();
}

void State::load_directories() {
    Statement directories(connection, "SELECT machine, device, inode, session FROM directory");
    auto row = directories.query({});
    while (row.next()) {
        const SessionId session{row.bits(3)};
        latest_sessions_[{row.text(0), row.bits(1), row.bits(2)}] = session;
        if (sessions_.contains(session)) continue;
        book.note({"directory", row_name({row.text(0), row.number(1), row.number(2)}),
                   "its session is not there, or cannot be understood"});
    }
}

void State::load_runs() {
    Statement all(connection,
                  "SELECT session, assignment, job, state, confirm_deadline, life FROM run");
    auto row = all.query({});
    while (row.next()) {
        const JobId id{row.bits(2)};
        holding_.insert(id);
        const auto* job = readable(id);
        const auto* run = job ? job->in<Run>() : nullptr;
        if (run && !session(run->session)) {
            book.isolate(id, "it runs in a session that is not there, or cannot be understood");
            run = nullptr;
        }
        if (!run) {
            note_damaged_run(row, id);
            continue;
        }
        runs_[run->session][{run->assignment, id}] = {run->state, late_from(*run)};
        check_run(id, *job);
    }
}

// It keeps the slot of its session, as far as anybody can tell whose that is.
void State::note_damaged_run(const Found& row, JobId id) {
    book.isolate(id, "its row in `run` cannot be understood");
    const auto owner = owner_in(row.bytes(5)).value_or(SessionId{row.bits(0)});
    runs_[owner][{row.bits(1), id}] = {JobState::running, ServiceTime{}};
}

// Who runs has its things, whatever the rows say: nobody else may take them.
void State::check_run(JobId id, const JobRow& job) {
    for (const auto& thing : job.things) {
        if (holders.is_held_by(thing, id)) continue;
        holders.hold_without_row(thing, id);
        const bool is_key = thing.kind == Thing::Kind::key;
        book.note({is_key ? "key_holder" : "limit_holder",
                   row_name({thing.tenant, thing.name, "?"}),
                   "job " + id.text() + " must hold it, and there is no such row", id});
    }
}

void State::check_kept() {
    Statement kept(connection, "SELECT job FROM ready WHERE kept_until IS NOT NULL");
    auto row = kept.query({});
    while (row.next()) {
        const JobId id{row.bits(0)};
        holding_.insert(id);
        const auto* job = readable(id);
        const auto* ready = job ? job->in<Ready>() : nullptr;
        if (ready && ready->kept_until) check_run(id, *job);
    }
}

void State::check_holders() {
    holders.for_each([&](const Thing& thing, std::uint32_t slot, JobId job) {
        if (holding_.contains(job)) return;
        const bool is_key = thing.kind == Thing::Kind::key;
        RowKey key{thing.tenant, thing.name};
        if (!is_key) key.emplace_back(std::int64_t{slot});
        book.note({is_key ? "key_holder" : "limit_holder", row_name(key),
                   "job " + job.text() + " neither runs nor keeps it: it counts as taken", job});
    });
}

}  // namespace perdure::sqlite
