#include "store/sqlite/tables/place_tables.h"

#include <algorithm>

#include "store/engine/rows/codec.h"

namespace perdure::store::sqlite {
namespace {

using sql::avoided;
using sql::avoided_until;
using sql::Behind;
using sql::is_in_first_line;
using sql::is_noted;
using sql::order_of;
using sql::rank_of;

// The columns that Loader::ready_job() takes, the job, and those of Loader::whole_ready_job().
constexpr int line_job = 7;
constexpr int line_asked = 8;
constexpr const char* line_of_places =
    "SELECT rank, since, queue_deadline, kept_until, avoid, avoid_until, life, job"
    " FROM ready WHERE shape = ? AND (rank, since, job) > (?, ?, ?)"
    " ORDER BY rank, since, job LIMIT ?";
constexpr const char* line_of_jobs =
    "SELECT rank, since, queue_deadline, kept_until, avoid, avoid_until, life, ready.job,"
    " job.shape, body_hash, body_hash_high, submitted_at, spec FROM ready"
    " LEFT JOIN job ON id = ready.job"
    " WHERE ready.shape = ? AND (rank, since, ready.job) > (?, ?, ?)"
    " ORDER BY rank, since, ready.job LIMIT ?";

constexpr const char* how_many_want =
    "SELECT count(*) FROM (SELECT 1 FROM want WHERE tenant = ? AND kind = ? AND name = ?"
    " AND shape = ? LIMIT ?)";

constexpr const char* whole_stretch =
    "DELETE FROM ready WHERE shape = ? AND (rank, since, job) >= (?, ?, ?)"
    " AND (rank, since, job) <= (?, ?, ?)";
constexpr const char* like_stretch =
    "DELETE FROM ready WHERE shape = ? AND rank = ? AND since = ? AND job BETWEEN ? AND ?";

}  // namespace

PlaceTables::PlaceTables(Connection& c, Loader& load)
    : load_(load),
      insert_job_(c, "INSERT INTO job (id, shape, body_hash, body_hash_high, submitted_at, spec)",
                  6, {0, 2, 3, 5}),
      insert_ready_(c,
                    "INSERT INTO ready (shape, rank, since, job, queue_deadline, kept_until, avoid,"
                    " avoid_until, wake_at, life)",
                    10, {3, 9}),
      insert_run_(c,
                  "INSERT INTO run (job, session, assignment, state, confirm_deadline, kill_order,"
                  " wake_at, life)",
                  8, {0, 2, 7}),
      insert_outcome_(
          c,
          "INSERT INTO outcome (job, state, cause, rule, may_have_run, discarded, ended_at,"
          " ended_on, forget_at, life)",
          10, {0, 9}),
      insert_timer_(c,
                    "INSERT INTO timer (job, due, date, avoid, wake_at, life)"
                    " VALUES (?, ?, ?, ?, ?, ?)"),
      insert_blocked_(c,
                      "INSERT INTO blocked (job, tenant, kind, name, shape, rank, since,"
                      " queue_deadline, avoid, avoid_until, wake_at, life)"
                      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      insert_wait_(c, "INSERT INTO wait (job, queue_deadline, wake_at, life) VALUES (?, ?, ?, ?)"),
      delete_wait_(c, "DELETE FROM wait WHERE job = ?"),
      delete_timer_(c, "DELETE FROM timer WHERE job = ?"),
      delete_ready_(c, "DELETE FROM ready WHERE shape = ? AND rank = ? AND since = ? AND job = ?"),
      delete_blocked_(c, "DELETE FROM blocked WHERE job = ?"),
      insert_line_(c, "INSERT INTO line (job, rank, since) VALUES (?, ?, ?)"),
      delete_line_(c, "DELETE FROM line WHERE job = ?"),
      insert_want_(c, "INSERT INTO want (tenant, kind, name, shape, job) VALUES (?, ?, ?, ?, ?)"),
      delete_want_(c,
                   "DELETE FROM want WHERE tenant = ? AND kind = ? AND name = ? AND shape = ?"
                   " AND job = ?"),
      line_after_(c, line_of_places),
      whole_line_after_(c, line_of_jobs),
      next_shape_(c,
                  "SELECT shape FROM blocked WHERE tenant = ? AND kind = ? AND name = ?"
                  " AND shape > ? AND kind IS NOT NULL ORDER BY shape LIMIT 1"),
      blocked_line_(c,
                    "SELECT rank, since, job FROM blocked WHERE tenant = ? AND kind = ?"
                    " AND name = ? AND shape = ? AND kind IS NOT NULL"
                    " AND (rank, since, job) > (?, ?, ?) ORDER BY rank, since, job"),
      wanting_(c, how_many_want),
      kept_(c, "SELECT job FROM ready WHERE kept_until IS NOT NULL ORDER BY job"),
      delete_stretch_(c, whole_stretch),
      delete_like_stretch_(c, like_stretch),
      run_row_(c, "SELECT session, life FROM run WHERE job = ?"),
      run_exit_(c, "run", "job"),
      outcome_exit_(c, "outcome", "job"),
      history_(c),
      wakes_(c),
      forget_notes_(c) {}

// All leave before anybody enters: nobody new is then in the midst of those who leave together.
void PlaceTables::save(const std::vector<JobRow*>& jobs, JobId& at) {
    leave(jobs, at);
    for (auto* job : jobs) {
        if (one_by_one_) at = job->id;
        enter(*job);
        if (one_by_one_) finish_inserts();
    }
    at = {};
    finish_inserts();
    forget_notes_.finish();
}

void PlaceTables::finish_inserts() {
    insert_job_.finish();
    insert_ready_.finish();
    insert_run_.finish();
    insert_outcome_.finish();
}

bool PlaceTables::may_leave_in_a_stretch(const JobRow& job) const {
    return !one_by_one_ && job.read_as > unchanged_since_ && job.stored &&
           std::holds_alternative<Ready>(*job.stored);
}

void PlaceTables::leave(const std::vector<JobRow*>& jobs, JobId& at) {
    at = {};
    std::vector<const JobRow*> from_lines;
    for (const auto* job : jobs) {
        if (!job->stored) continue;
        if (std::holds_alternative<Run>(*job->stored) && !one_by_one_) {
            run_exit_.add(job->id);
        } else if (may_leave_in_a_stretch(*job)) {
            erase_notes(*job, std::get<Ready>(*job->stored));
            from_lines.push_back(job);
        } else {
            at = job->id;
            erase(*job, *job->stored);
            at = {};
        }
    }
    leave_lines(from_lines);
    run_exit_.finish();
}

void PlaceTables::leave_lines(std::vector<const JobRow*>& jobs) {
    for (const auto& stretch : sql::stretches_of(jobs)) leave(stretch);
}

void PlaceTables::leave(const Stretch& stretch) {
    const auto& first = std::get<Ready>(*stretch.first->stored).stay.order;
    const auto& last = std::get<Ready>(*stretch.last->stored).stay.order;
    // Most got in line in the same tick, with the same priority.
    const bool are_alike = rank_of(first) == rank_of(last) && first.since == last.since;
    const auto shape = stretch.first->shape;
    const int left =
        are_alike
            ? delete_like_stretch_.run({shape, rank_of(first), first.since, first.job, last.job})
            : delete_stretch_.run({shape, rank_of(first), first.since, first.job, rank_of(last),
                                   last.since, last.job});
    if (left != stretch.jobs) fail_corrupt("a line is not as it was read");
}

void PlaceTables::enter(JobRow& job) {
    if (!job.stored)
        insert_job_.add({job.id, job.shape, job.body_hash.low, sql::high_of(job.body_hash),
                         job.submitted_at, Value::blob(encode(*job.spec))});
    const auto save = [&](AttemptRow& attempt) {
        if (attempt.unsaved) history_.save(job.id, attempt);
        attempt.unsaved = false;
    };
    for (auto& attempt : job.older) save(attempt);
    for (std::size_t i = 0; i + 1 < job.attempts.size(); ++i) save(job.attempts[i]);
    insert(job);
    job.mark_stored();
}

void PlaceTables::insert_ready(const JobRow& job, const Ready& ready, std::string_view life) {
    const auto& order = ready.stay.order;
    const auto rank = rank_of(order);
    const auto wake = wake_at(job).value_or(ready.stay.queue_deadline);
    unchanged_since_ = rows_read_;
    insert_ready_.add({job.shape, rank, order.since, job.id, ready.stay.queue_deadline,
                       ready.kept_until, avoided(ready.stay), avoided_until(ready.stay), wake,
                       Value::blob(life)});
    if (!is_in_first_line(job, order)) insert_line_.run_one({job.id, rank, order.since});
    wakes_.add(wake, job.shape, rank, order.since);
    if (!job.wants_its_things()) return;
    for (const auto& thing : job.things)
        insert_want_.run_one({thing.tenant, code(thing.kind), thing.name, job.shape, job.id});
}

void PlaceTables::insert(const JobRow& job) {
    const auto life = encode_life(job);
    if (const auto* ready = job.in<Ready>()) {
        insert_ready(job, *ready, life);
    } else if (const auto* timer = job.in<Timer>()) {
        insert_timer_.run_one(
            {job.id, timer->due, timer->date, timer->avoid, wake_at(job), Value::blob(life)});
    } else if (const auto* blocked = job.in<Blocked>()) {
        const auto& stay = blocked->stay;
        const Value kind = blocked->on ? Value(code(blocked->on->kind)) : Value(nullptr);
        const Value name = blocked->on ? Value(blocked->on->name) : Value(nullptr);
        insert_blocked_.run_one({job.id, job.spec->tenant, kind, name, job.shape,
                                 rank_of(stay.order), stay.order.since, stay.queue_deadline,
                                 avoided(stay), avoided_until(stay), wake_at(job),
                                 Value::blob(life)});
    } else if (const auto* wait_row = job.in<Wait>()) {
        insert_wait_.run_one({job.id, wait_row->queue_deadline, wake_at(job), Value::blob(life)});
    } else if (const auto* run = job.in<Run>()) {
        const auto ordered = run->recalled ? std::optional(Cause::evicted) : run->order;
        const Value order = ordered ? Value(code(*ordered)) : Value(nullptr);
        insert_run_.add({job.id, run->session, run->assignment, code(run->state),
                         run->confirm_deadline, order, wake_at(job), Value::blob(life)});
    } else if (const auto* outcome = job.in<Outcome>()) {
        insert_outcome_.add({job.id, code(outcome->state), code(outcome->cause), outcome->rule,
                             outcome->may_have_run, outcome->discarded, outcome->ended_at,
                             outcome->ended_on, outcome->forget_at, Value::blob(life)});
        if (!is_noted(job, *outcome)) forget_notes_.add(outcome->forget_at, job.id);
    }
}

void PlaceTables::erase_ready(const JobRow& job, const Ready& ready) {
    const auto& order = ready.stay.order;
    delete_ready_.run_one({job.shape, rank_of(order), order.since, job.id});
    erase_notes(job, ready);
}

// What is noted elsewhere about a job in line.
void PlaceTables::erase_notes(const JobRow& job, const Ready& ready) {
    const auto& order = ready.stay.order;
    if (!is_in_first_line(job, order)) delete_line_.run_one({job.id});
    if (!job.wants_its_things(ready)) return;
    for (const auto& thing : job.things)
        delete_want_.run_one({thing.tenant, code(thing.kind), thing.name, job.shape, job.id});
}

void PlaceTables::erase(const JobRow& job, const PlaceRow& place) {
    switch (place_of(state_of(place)).place) {
        case Place::timer: return delete_timer_.run_one({job.id});
        case Place::ready: return erase_ready(job, std::get<Ready>(place));
        case Place::blocked: return delete_blocked_.run_one({job.id});
        case Place::run: return run_exit_.leave(job.id);
        case Place::outcome: return outcome_exit_.leave(job.id);
        case Place::wait: return delete_wait_.run_one({job.id});
    }
}

// Those that have ended leave their place together.
void PlaceTables::leave_for_good(const JobRow& job) {
    if (!job.stored) return;
    const bool has_ended = std::holds_alternative<Outcome>(*job.stored);
    if (has_ended && !one_by_one_)
        outcome_exit_.add(job.id);
    else
        erase(job, *job.stored);
}

void PlaceTables::forget(const std::vector<ForgottenJob>& jobs, JobId& at) {
    for (const auto& forgotten : jobs) {
        at = forgotten.job.id;
        leave_for_good(forgotten.job);
        if (forgotten.is_large) continue;
        history_.remove(forgotten.job.id);
        if (one_by_one_) history_.finish_removal();
    }
    at = {};
    outcome_exit_.finish();
    history_.finish_removal();
    // While its row is there, no range goes over what it leaves.
    for (const auto& forgotten : jobs)
        if (forgotten.is_large) history_.remove_without_history(forgotten.job.id);
}

Found PlaceTables::line_after(const LineQuery& query) {
    auto& line = query.jobs_are_loaded ? line_after_ : whole_line_after_;
    const Behind behind(query.behind);
    return line.query({query.shape, behind.rank, behind.since, behind.job, query.max});
}

std::uint32_t PlaceTables::read_line(const LineQuery& query, const TakeRow& take) {
    ++rows_read_;  // what is read now does not follow what was read before
    auto row = line_after(query);
    JobId id;
    const LoadRow load = [&] {
        return query.jobs_are_loaded ? load_.ready_job(id, row)
                                     : load_.whole_ready_job(id, row, line_asked);
    };
    std::uint32_t rows = 0;
    for (; row.next(); ++rows) {
        id = JobId{row.bits(line_job)};
        take(order_of(row.number(0), row.number(1), id), ++rows_read_, load);
    }
    return rows;
}

std::vector<ShapeId> PlaceTables::shapes_blocked_on(const Thing& thing, ShapeId behind,
                                                    std::uint32_t max) {
    std::vector<ShapeId> shapes;
    // From shape to shape: a million jobs behind one key are one step.
    while (shapes.size() < max) {
        auto row = next_shape_.query({thing.tenant, code(thing.kind), thing.name, behind});
        if (!row.next()) break;
        behind = row.number(0);
        shapes.push_back(behind);
    }
    return shapes;
}

void PlaceTables::find_blocked(const Thing& thing, ShapeId shape,
                               const std::optional<ClaimOrder>& behind,
                               const std::function<bool(const ClaimOrder&)>& is_it) {
    const Behind from(behind);
    auto row = blocked_line_.query(
        {thing.tenant, code(thing.kind), thing.name, shape, from.rank, from.since, from.job});
    while (row.next())
        if (is_it(order_of(row.number(0), row.number(1), JobId{row.bits(2)}))) return;
}

std::uint32_t PlaceTables::wanting(const Thing& thing, ShapeId shape, std::uint32_t enough) {
    auto row = wanting_.query({thing.tenant, code(thing.kind), thing.name, shape, enough});
    return row.next() ? static_cast<std::uint32_t>(row.number(0)) : 0;
}

std::vector<JobId> PlaceTables::kept() {
    std::vector<JobId> jobs;
    auto row = kept_.query({});
    while (row.next()) jobs.push_back({row.bits(0)});
    return jobs;
}

SessionId PlaceTables::owner_of_damaged_run(JobId job) {
    auto row = run_row_.query({job});
    if (!row.next()) return {};
    return sql::owner_in_run(row);
}

}  // namespace perdure::store::sqlite
