#include "store/sqlite/tables/place_tables.h"

#include <algorithm>

#include "store/engine/rows/codec.h"

namespace perdure::store::sqlite {
namespace {

using sql::avoided;
using sql::avoided_until;
using sql::is_in_first_line;
using sql::is_noted;
using sql::rank_of;

constexpr const char* whole_range =
    "DELETE FROM ready WHERE shape = ? AND (rank, since, job) >= (?, ?, ?)"
    " AND (rank, since, job) <= (?, ?, ?)";
constexpr const char* like_range =
    "DELETE FROM ready WHERE shape = ? AND rank = ? AND since = ? AND job BETWEEN ? AND ?";

// Neighbours one after the other: what is put here and there between other rows divides pages
// again and again.
std::vector<JobRow*> in_order_of_tables(std::vector<JobRow*> jobs) {
    const auto key = [](const JobRow* job) {
        return std::pair{job->in<Ready>() ? job->shape : 0, job->id};
    };
    const auto by_key = [&](const JobRow* a, const JobRow* b) { return key(a) < key(b); };
    if (!std::is_sorted(jobs.begin(), jobs.end(), by_key))
        std::sort(jobs.begin(), jobs.end(), by_key);
    return jobs;
}

}  // namespace

PlaceTables::PlaceTables(Connection& c, Loader& load)
    : lines_(c, load),
      insert_job_(c, "INSERT INTO job (id, shape, body_hash, body_hash_high, submitted_at, spec)",
                  6, {0, 2, 3, 5}),
      insert_ready_(c,
                    "INSERT INTO ready (shape, rank, since, job, queue_deadline, kept_until, avoid,"
                    " avoid_until, wake_at, life)",
                    10, {3, 9}),
      insert_run_(c,
                  "INSERT INTO run (job, session, assignment, state, confirm_deadline, kill_order,"
                  " wake_at, life)",
                  8, {0, 1, 2, 7}),
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
      delete_range_(c, whole_range),
      delete_like_range_(c, like_range),
      run_exit_(c, "run", "job"),
      outcome_exit_(c, "outcome", "job"),
      history_(c),
      ready_deadlines_(c),
      retention_queue_(c) {}

// All leave before anybody enters: nobody new is then in the midst of those who leave together.
void PlaceTables::save(const std::vector<JobRow*>& jobs, JobId& at) {
    leave(jobs, at);
    for (auto* job : in_order_of_tables(jobs)) {
        if (one_by_one_) at = job->id;
        enter(*job);
        if (one_by_one_) finish_inserts();
    }
    at = {};
    finish_inserts();
    retention_queue_.finish();
}

void PlaceTables::finish_inserts() {
    insert_job_.finish();
    insert_ready_.finish();
    insert_run_.finish();
    insert_outcome_.finish();
}

bool PlaceTables::may_leave_in_a_range(const JobRow& job) const {
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
        } else if (may_leave_in_a_range(*job)) {
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
    for (const auto& range : sql::stretches_of(jobs)) leave(range);
}

void PlaceTables::leave(const LineRange& range) {
    const auto& first = std::get<Ready>(*range.first->stored).entry.order;
    const auto shape = range.first->shape;
    if (range.jobs == 1)
        return delete_ready_.run_one({shape, rank_of(first), first.since, first.job});
    const auto& last = std::get<Ready>(*range.last->stored).entry.order;
    // Most got in line in the same tick, with the same priority.
    const bool are_alike = rank_of(first) == rank_of(last) && first.since == last.since;
    const int left =
        are_alike
            ? delete_like_range_.run({shape, rank_of(first), first.since, first.job, last.job})
            : delete_range_.run({shape, rank_of(first), first.since, first.job, rank_of(last),
                                 last.since, last.job});
    if (left != range.jobs) fail_corrupt("a line is not as it was read");
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
    const auto& order = ready.entry.order;
    const auto rank = rank_of(order);
    const auto wake = wake_at(job).value_or(ready.entry.queue_deadline);
    unchanged_since_ = lines_.rows_read();
    insert_ready_.add({job.shape, rank, order.since, job.id, ready.entry.queue_deadline,
                       ready.kept_until, avoided(ready.entry), avoided_until(ready.entry), wake,
                       Value::blob(life)});
    if (!is_in_first_line(job, order)) insert_line_.run_one({job.id, rank, order.since});
    ready_deadlines_.add(wake, job.shape, rank, order.since);
    if (!job.wants_its_permits()) return;
    for (const auto& permit : job.permits)
        insert_want_.run_one({permit.tenant, code(permit.kind), permit.name, job.shape, job.id});
}

void PlaceTables::insert(const JobRow& job) {
    const auto life = encode_life(job);
    if (const auto* ready = job.in<Ready>()) {
        insert_ready(job, *ready, life);
    } else if (const auto* timer = job.in<Timer>()) {
        insert_timer_.run_one(
            {job.id, timer->due, timer->date, timer->avoid, wake_at(job), Value::blob(life)});
    } else if (const auto* blocked = job.in<Blocked>()) {
        const auto& entry = blocked->entry;
        const Value kind = blocked->on ? Value(code(blocked->on->kind)) : Value(nullptr);
        const Value name = blocked->on ? Value(blocked->on->name) : Value(nullptr);
        insert_blocked_.run_one({job.id, job.spec->tenant, kind, name, job.shape,
                                 rank_of(entry.order), entry.order.since, entry.queue_deadline,
                                 avoided(entry), avoided_until(entry), wake_at(job),
                                 Value::blob(life)});
    } else if (const auto* wait_row = job.in<Wait>()) {
        insert_wait_.run_one({job.id, wait_row->queue_deadline, wake_at(job), Value::blob(life)});
    } else if (const auto* run = job.in<Run>()) {
        const auto ordered = run->recalled ? std::optional(Cause::evicted) : run->kill_cause;
        const Value order = ordered ? Value(code(*ordered)) : Value(nullptr);
        insert_run_.add({job.id, run->session, run->assignment, code(run->state),
                         run->confirm_deadline, order, wake_at(job), Value::blob(life)});
    } else if (const auto* outcome = job.in<Outcome>()) {
        insert_outcome_.add({job.id, code(outcome->state), code(outcome->cause), outcome->rule,
                             outcome->may_have_run, outcome->discarded, outcome->ended_at,
                             outcome->ended_on, outcome->forget_at, Value::blob(life)});
        if (!is_noted(job, *outcome)) retention_queue_.add(outcome->forget_at, job.id);
    }
}

void PlaceTables::erase_ready(const JobRow& job, const Ready& ready) {
    const auto& order = ready.entry.order;
    delete_ready_.run_one({job.shape, rank_of(order), order.since, job.id});
    erase_notes(job, ready);
}

// What is noted elsewhere about a job in line.
void PlaceTables::erase_notes(const JobRow& job, const Ready& ready) {
    const auto& order = ready.entry.order;
    if (!is_in_first_line(job, order)) delete_line_.run_one({job.id});
    if (!job.wants_its_permits(ready)) return;
    for (const auto& permit : job.permits)
        delete_want_.run_one({permit.tenant, code(permit.kind), permit.name, job.shape, job.id});
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

}  // namespace perdure::store::sqlite
