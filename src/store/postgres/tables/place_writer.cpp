#include "store/postgres/tables/place_writer.h"

#include <algorithm>
#include <array>

#include "store/engine/rows/codec.h"
#include "store/postgres/db/binary.h"
#include "store/postgres/db/types.h"
#include "store/sql/tables/forget_row.h"
#include "store/sql/tables/load.h"

namespace perdure::store::postgres {
namespace {

using sql::code;
using sql::rank_of;
using sql::Value;

// A statement of its own pays from so many rows on.
constexpr int stretch_min = 4;

constexpr const char* counted_stretch =
    "WITH gone AS (DELETE FROM ready WHERE shape = $1 AND (rank, since, job) >= ($2, $3, $4)"
    " AND (rank, since, job) <= ($5, $6, $7) RETURNING 1)"
    " SELECT 1 / (count(*) = $8)::int FROM gone";
constexpr const char* counted_like_stretch =
    "WITH gone AS (DELETE FROM ready WHERE shape = $1 AND rank = $2 AND since = $3"
    " AND job BETWEEN $4 AND $5 RETURNING 1) SELECT 1 / (count(*) = $6)::int FROM gone";
// Answers where the piece ended, and how many there were.
constexpr const char* tidy_sql =
    "WITH piece AS (SELECT wake_at, shape, rank, since, ctid AS at FROM ready_wake"
    " WHERE (wake_at, shape, rank, since) > ($1, $2, $3, $4)"
    " ORDER BY wake_at, shape, rank, since LIMIT $5),"
    " gone AS (DELETE FROM ready_wake WHERE ctid = ANY (ARRAY (SELECT p.at FROM piece p WHERE NOT"
    " EXISTS (SELECT FROM ready r WHERE r.shape = p.shape AND r.rank = p.rank"
    " AND r.since = p.since AND r.wake_at = p.wake_at))))"
    " SELECT wake_at, shape, rank, since, count(*) OVER () FROM piece"
    " ORDER BY wake_at DESC, shape DESC, rank DESC, since DESC LIMIT 1";

const std::vector<std::string> ready_key = {"shape", "rank", "since", "job"};
const std::vector<std::string> want_key = {"tenant", "kind", "name", "shape", "job"};

class Numbers {
public:
    Numbers(std::initializer_list<std::int64_t> numbers) {
        binary_.reserve(numbers.size());
        for (const auto number : numbers) {
            binary_.push_back(big_endian(number));
            parameters_.add({binary_.back().data(), binary_.back().size()});
        }
    }
    const Parameters& parameters() const { return parameters_; }

private:
    std::vector<std::array<char, 8>> binary_;
    Parameters parameters_;
};

std::int64_t bits(JobId id) { return static_cast<std::int64_t>(id.value); }

Many leaving(const std::string& table) {
    return {delete_of(table, "job"), "n", Many::Counted::yes};
}
Many of_gone(const std::string& table) {
    return {"DELETE FROM " + table + " WHERE job = ANY($1)", "n"};
}

}  // namespace

PlaceWriter::PlaceWriter()
    : leave_timer_(leaving("timer")),
      leave_ready_(delete_of_keys("ready", ready_key), "nnnn", Many::Counted::yes),
      leave_blocked_(leaving("blocked")),
      leave_wait_(leaving("wait")),
      leave_run_(leaving("run")),
      leave_outcome_(leaving("outcome")),
      leave_line_(leaving("line")),
      leave_want_(delete_of_keys("want", want_key), "tntnn", Many::Counted::yes),
      job_(
          insert_of("job", "id, shape, priority, body_hash, body_hash_high, submitted_at, spec", 7),
          "nnnnnnb"),
      ready_(insert_of("ready",
                       "shape, rank, since, job, queue_deadline, kept_until, avoid, avoid_until,"
                       " wake_at, life",
                       10),
             "nnnnnnnnnb"),
      line_(insert_of("line", "job, rank, since", 3), "nnn"),
      wake_(insert_of("ready_wake", "wake_at, shape, rank, since", 4, "ON CONFLICT DO NOTHING"),
            "nnnn"),
      want_(insert_of("want", "tenant, kind, name, shape, job", 5), "tntnn"),
      timer_(insert_of("timer", "job, due, date, avoid, wake_at, life", 6), "nnnnnb"),
      blocked_(insert_of("blocked",
                         "job, tenant, kind, name, shape, rank, since, queue_deadline, avoid,"
                         " avoid_until, wake_at, life",
                         12),
               "ntntnnnnnnnb"),
      wait_(insert_of("wait", "job, queue_deadline, wake_at, life", 4), "nnnb"),
      run_(insert_of("run",
                     "job, epoch, session, assignment, state, confirm_deadline, kill_order,"
                     " wake_at, life",
                     9),
           "nnnnnnnnb"),
      outcome_(insert_of("outcome",
                         "job, epoch, state, cause, rule, may_have_run, discarded, ended_at,"
                         " ended_on, forget_at, life",
                         11),
               "nnnntnnnnnb"),
      attempt_(insert_of("attempt", "job, epoch, body", 3,
                         "ON CONFLICT (job, epoch) DO UPDATE SET body = excluded.body"),
               "nnb"),
      // The same job may end twice in one tick: distances from the key can be put in a row.
      note_(insert_of("forget", "forget_at, job, others", 3,
                      "ON CONFLICT (forget_at, job) DO UPDATE SET others = forget.others ||"
                      " excluded.others"),
            "nnb"),
      note_gone_(delete_of_keys("forget", {"forget_at", "job"}), "nn", Many::Counted::yes),
      note_left_(insert_of("forget", "forget_at, job, others", 3), "nnb"),
      gone_job_(delete_of("job", "id"), "n", Many::Counted::yes),
      gone_attempt_(of_gone("attempt")),
      gone_large_(of_gone("large")),
      gone_ledger_(of_gone("recovery")) {
    leave_stretch_ = {.sql = counted_stretch, .types = std::vector<Oid>(8, type_int8)};
    leave_like_stretch_ = {.sql = counted_like_stretch, .types = std::vector<Oid>(6, type_int8)};
    tidy_ = {.sql = tidy_sql, .types = std::vector<Oid>(5, type_int8)};
}

void PlaceWriter::save(Connection& connection, const std::vector<JobRow*>& jobs) {
    std::vector<const JobRow*> from_lines;
    for (const auto* job : jobs) {
        if (!job->stored) continue;
        if (may_leave_in_a_range(*job)) {
            erase_notes(*job, std::get<Ready>(*job->stored));
            from_lines.push_back(job);
        } else {
            leave(*job);
        }
    }
    leave_lines(connection, from_lines);
    send_leaving(connection);
    for (auto* job : jobs) enter(*job);
    send_entering(connection);
}

void PlaceWriter::save_one_by_one(Connection& connection, const std::vector<JobRow*>& jobs,
                                  JobId& at) {
    for (const auto* job : jobs) {
        at = job->id;
        if (job->stored) leave(*job);
        send_leaving(connection);
        connection.collect();
    }
    for (auto* job : jobs) {
        at = job->id;
        enter(*job);
        send_entering(connection);
        connection.collect();
    }
    at = {};
}

bool PlaceWriter::may_leave_in_a_range(const JobRow& job) const {
    return job.read_as > unchanged_since_ && std::holds_alternative<Ready>(*job.stored);
}

void PlaceWriter::leave_lines(Connection& connection, std::vector<const JobRow*>& jobs) {
    for (const auto& range : sql::stretches_of(jobs)) leave(connection, range);
}

void PlaceWriter::leave(Connection& connection, const sql::LineRange& range) {
    const auto& first = std::get<Ready>(*range.first->stored).entry.order;
    const auto& last = std::get<Ready>(*range.last->stored).entry.order;
    // Most got in line in the same tick, with the same priority.
    const bool are_alike = rank_of(first) == rank_of(last) && first.since == last.since;
    const auto shape = range.first->shape;
    if (are_alike) {
        const Numbers numbers{shape,           rank_of(first), first.since.us,
                              bits(first.job), bits(last.job), range.jobs};
        return connection.send(leave_like_stretch_, numbers.parameters());
    }
    const Numbers numbers{shape,         rank_of(first), first.since.us, bits(first.job),
                          rank_of(last), last.since.us,  bits(last.job), range.jobs};
    connection.send(leave_stretch_, numbers.parameters());
}

// What is noted elsewhere about a job in line.
void PlaceWriter::erase_notes(const JobRow& job, const Ready& ready) {
    const auto& order = ready.entry.order;
    if (!sql::is_in_first_line(job, order)) leave_line_.add({job.id});
    if (!job.wants_its_permits(ready)) return;
    for (const auto& permit : job.permits)
        leave_want_.add({permit.tenant, code(permit.kind), permit.name, job.shape, job.id});
}

void PlaceWriter::leave(const JobRow& job) {
    switch (place_of(state_of(*job.stored)).place) {
        case Place::timer: return leave_timer_.add({job.id});
        case Place::ready: {
            const auto& ready = std::get<Ready>(*job.stored);
            const auto& order = ready.entry.order;
            leave_ready_.add({job.shape, rank_of(order), order.since, job.id});
            return erase_notes(job, ready);
        }
        case Place::blocked: return leave_blocked_.add({job.id});
        case Place::run: return leave_run_.add({job.id});
        case Place::outcome: return leave_outcome_.add({job.id});
        case Place::wait: return leave_wait_.add({job.id});
    }
}

void PlaceWriter::send_leaving(Connection& connection) {
    for (auto* many : {&leave_run_, &leave_ready_, &leave_line_, &leave_want_, &leave_timer_,
                       &leave_blocked_, &leave_wait_, &leave_outcome_})
        many->send(connection);
}

void PlaceWriter::enter(JobRow& job) {
    if (!job.stored)
        job_.add({job.id, job.shape, std::int64_t{job.spec->priority}, job.body_hash.low,
                  sql::high_of(job.body_hash), job.submitted_at, Value::blob(encode(*job.spec))});
    const auto save = [&](AttemptRow& attempt) {
        if (attempt.unsaved)
            attempt_.add({job.id, attempt.epoch.value, Value::blob(encode(attempt))});
        attempt.unsaved = false;
    };
    for (auto& attempt : job.older) save(attempt);
    for (std::size_t i = 0; i + 1 < job.attempts.size(); ++i) save(job.attempts[i]);
    insert(job);
    job.mark_stored();
}

void PlaceWriter::insert_ready(const JobRow& job, const Ready& ready, std::string_view life) {
    const auto& order = ready.entry.order;
    const auto rank = rank_of(order);
    const auto wake = wake_at(job).value_or(ready.entry.queue_deadline);
    unchanged_since_ = rows_read_;
    ready_.add({job.shape, rank, order.since, job.id, ready.entry.queue_deadline, ready.kept_until,
                sql::avoided(ready.entry), sql::avoided_until(ready.entry), wake,
                Value::blob(life)});
    if (!sql::is_in_first_line(job, order)) line_.add({job.id, rank, order.since});
    add_wake(wake, job.shape, rank, order.since);
    if (!job.wants_its_permits()) return;
    for (const auto& permit : job.permits)
        want_.add({permit.tenant, code(permit.kind), permit.name, job.shape, job.id});
}

void PlaceWriter::add_wake(ServiceTime wake_at, ShapeId shape, std::int64_t rank,
                           ServiceTime since) {
    const Wake wake{wake_at.us, shape, rank, since.us};
    if (wake == last_wake_) return;  // mostly
    last_wake_ = wake;
    if (wakes_written_.insert(wake).second) wake_.add({wake_at, shape, rank, since});
}

void PlaceWriter::insert(const JobRow& job) {
    const auto life = encode_life(job);
    const auto bytes = Value::blob(life);
    if (const auto* ready = job.in<Ready>()) {
        insert_ready(job, *ready, life);
    } else if (const auto* timer = job.in<Timer>()) {
        timer_.add({job.id, timer->due, timer->date, timer->avoid, wake_at(job), bytes});
    } else if (const auto* blocked = job.in<Blocked>()) {
        const auto& entry = blocked->entry;
        const Value kind = blocked->on ? Value(code(blocked->on->kind)) : Value(nullptr);
        const Value name = blocked->on ? Value(blocked->on->name) : Value(nullptr);
        blocked_.add({job.id, job.spec->tenant, kind, name, job.shape, rank_of(entry.order),
                      entry.order.since, entry.queue_deadline, sql::avoided(entry),
                      sql::avoided_until(entry), wake_at(job), bytes});
    } else if (const auto* wait = job.in<Wait>()) {
        wait_.add({job.id, wait->queue_deadline, wake_at(job), bytes});
    } else if (const auto* run = job.in<Run>()) {
        const auto ordered = run->recalled ? std::optional(Cause::evicted) : run->kill_cause;
        const Value order = ordered ? Value(code(*ordered)) : Value(nullptr);
        run_.add({job.id, run->epoch.value, run->session, run->assignment, code(run->state),
                  run->confirm_deadline, order, wake_at(job), bytes});
    } else if (const auto* outcome = job.in<Outcome>()) {
        outcome_.add({job.id, job.epoch.value, code(outcome->state), code(outcome->cause),
                      outcome->rule, outcome->may_have_run, outcome->discarded, outcome->ended_at,
                      outcome->ended_on, outcome->forget_at, bytes});
        if (!sql::is_noted(job, *outcome)) notes_[outcome->forget_at].push_back(job.id);
    }
}

void PlaceWriter::write_note(Many& into, ServiceTime forget_at, const std::vector<JobId>& jobs) {
    for (std::size_t i = 0; i < jobs.size(); i += sql::jobs_in_note_max) {
        const auto count = std::min(sql::jobs_in_note_max, jobs.size() - i);
        const auto others = sql::encode_forget_note(jobs.data() + i, count);
        into.add({forget_at, jobs[i], Value::blob(others)});
    }
}

void PlaceWriter::send_entering(Connection& connection) {
    for (auto& [forget_at, jobs] : notes_) {
        std::sort(jobs.begin(), jobs.end());
        write_note(note_, forget_at, jobs);
    }
    notes_.clear();
    for (auto* many : {&job_, &attempt_, &ready_, &line_, &wake_, &want_, &timer_, &blocked_,
                       &wait_, &run_, &outcome_, &note_})
        many->send(connection);
}

void PlaceWriter::forget(Connection& connection, const std::vector<ForgottenJob>& jobs) {
    for (const auto& [job, is_large, has_awaited, has_added, has_made] : jobs) {
        if (job.stored) leave(job);
        gone_job_.add({job.id});
        if (is_large) continue;  // the rest is owed (C8)
        for (auto* many : {&gone_attempt_, &gone_large_, &gone_ledger_}) many->add({job.id});
    }
    send_leaving(connection);
    for (auto* many : {&gone_attempt_, &gone_large_, &gone_ledger_, &gone_job_})
        many->send(connection);
}

void PlaceWriter::take_notes(Connection& connection, const std::vector<TakenNote>& notes) {
    for (const auto& [forget_at, first, left] : notes) {
        note_gone_.add({forget_at, first});
        write_note(note_left_, forget_at, left);
    }
    note_gone_.send(connection);
    note_left_.send(connection);
}

// Faster than they are written, so that they cannot pile up.
void PlaceWriter::tidy_ready_deadlines(Connection& connection) {
    const auto batch = static_cast<std::int64_t>(2 * wakes_written_.size() + 8);
    wakes_written_.clear();
    last_wake_ = {};
    const auto& [at, shape, rank, since] = tidied_;
    const Numbers numbers{at, shape, rank, since, batch};
    connection.send(tidy_, numbers.parameters(), [this, batch](ResultPtr result) {
        ResultRows rows(std::move(result));
        tidied_ = Wake{INT64_MIN, 0, 0, 0};
        if (rows.next() && rows.number(4) == batch)
            tidied_ = {rows.number(0), rows.number(1), rows.number(2), rows.number(3)};
    });
}

}  // namespace perdure::store::postgres
