#include "store/postgres/tables/load_many.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "store/engine/rows/codec.h"
#include "store/sql/tables/load_relations.h"
#include "store/sql/tables/place_rows.h"

namespace perdure::store::postgres {
namespace {

using sql::code;
using sql::Found;

// Columns of each place as sql/tables/load.h takes them, the job behind them.
constexpr const char* run_of =
    "SELECT session, assignment, state, confirm_deadline, kill_order, life, job FROM run"
    " WHERE job = ANY($1)";
constexpr const char* outcome_of =
    "SELECT state, cause, rule, may_have_run, discarded, ended_at, ended_on, forget_at, life, job"
    " FROM outcome WHERE job = ANY($1)";
// Where it first got in line, or where `line` says.
constexpr const char* ready_of =
    "SELECT f.* FROM job j, LATERAL (SELECT rank, since, queue_deadline, kept_until, avoid,"
    " avoid_until, life, job FROM ready r WHERE r.shape = j.shape AND r.rank = 2 * j.priority + 1"
    " AND r.since = j.submitted_at AND r.job = j.id OFFSET 0) AS f WHERE j.id = ANY($1)"
    " UNION ALL"
    " SELECT f.* FROM line l, LATERAL (SELECT shape FROM job WHERE id = l.job OFFSET 0) AS j,"
    " LATERAL (SELECT rank, since, queue_deadline, kept_until, avoid, avoid_until, life, job"
    " FROM ready r WHERE r.shape = j.shape AND r.rank = l.rank AND r.since = l.since"
    " AND r.job = l.job OFFSET 0) AS f WHERE l.job = ANY($1)";
constexpr const char* timer_of =
    "SELECT due, date, avoid, life, job FROM timer WHERE job = ANY($1)";
constexpr const char* blocked_of =
    "SELECT kind, name, rank, since, queue_deadline, avoid, avoid_until, life, job FROM blocked"
    " WHERE job = ANY($1)";
constexpr const char* wait_of = "SELECT queue_deadline, life, job FROM wait WHERE job = ANY($1)";

// From shape to shape: a million jobs behind one key are one step.
constexpr const char* shapes_blocked_on =
    "WITH RECURSIVE s (shape, n) AS ("
    " (SELECT shape, 1 FROM blocked WHERE tenant = ?1 AND kind = ?2 AND name = ?3 AND shape > ?4"
    " AND kind IS NOT NULL ORDER BY shape LIMIT 1)"
    " UNION ALL SELECT (SELECT b.shape FROM blocked b WHERE b.tenant = ?1 AND b.kind = ?2"
    " AND b.name = ?3 AND b.shape > s.shape AND b.kind IS NOT NULL ORDER BY b.shape LIMIT 1),"
    " s.n + 1 FROM s WHERE s.shape IS NOT NULL AND s.n < ?5)"
    " SELECT shape FROM s WHERE shape IS NOT NULL ORDER BY shape";

// One that is not named leaves nothing.
template <class Row>
Loaded::Some<Row> some_of(std::vector<Row> rows, std::uint32_t max) {
    const bool is_all = rows.size() < max;
    return {std::move(rows), is_all};
}

// The rows of a result by the job in one of their columns.
std::multimap<JobId, int> rows_by_job(const PGresult* result, int column) {
    std::multimap<JobId, int> rows;
    const int count = PQntuples(result);
    for (int i = 0; i < count; ++i) {
        std::uint64_t id = 0;
        for (int b = 0; b < PQgetlength(result, i, column); ++b)
            id = id << 8 | static_cast<unsigned char>(PQgetvalue(result, i, column)[b]);
        rows.emplace(JobId{id}, i);
    }
    return rows;
}

// One row of a result.
class OneRow {
public:
    OneRow(const PGresult* result, int row) : rows_(result, row), found_(rows_) {}
    const Found& operator*() const { return found_; }

private:
    ResultRows rows_;
    Found found_;
};

}  // namespace

LoadMany::LoadMany(Connection& connection, sql::Loader& load)
    : connection_(connection),
      load_(load),
      asked_(
          "SELECT shape, body_hash, body_hash_high, submitted_at, spec, id FROM job"
          " WHERE id = ANY($1)",
          "n"),
      history_(
          "SELECT f.body, k.j, k.f FROM unnest($1, $2, $3) AS k (j, f, b), LATERAL (SELECT body"
          " FROM attempt WHERE job = k.j AND epoch >= k.f AND epoch < k.b ORDER BY epoch"
          " OFFSET 0) AS f",
          "nnn"),
      large_(
          "SELECT f.body, k.j, k.e, k.k FROM unnest($1, $2, $3) AS k (j, e, k), LATERAL (SELECT"
          " body FROM large WHERE job = k.j AND epoch = k.e AND kind = k.k OFFSET 0) AS f",
          "nnn"),
      keys_(
          "SELECT f.*, k.t, k.k FROM unnest($1, $2) AS k (t, k), LATERAL (SELECT job, body_hash,"
          " body_hash_high, gone_as, kept_until FROM idempotency WHERE tenant = k.t AND"
          " key = k.k OFFSET 0) AS f",
          "tt"),
      facts_(
          "SELECT on_end, state, other, job FROM awaited WHERE job = ANY($1)"
          " ORDER BY job, number",
          "n"),
      awaited_(
          "SELECT other, on_end, ended, job FROM awaited WHERE job = ANY($1)"
          " ORDER BY job, number",
          "n"),
      waiters_(
          "SELECT f.job, k.o FROM unnest($1, $2) AS k (o, m), LATERAL (SELECT DISTINCT job"
          " FROM awaited WHERE other = k.o AND state IS NULL ORDER BY job LIMIT k.m) AS f",
          "nn"),
      added_(
          "SELECT id, number, since_generation, on_end, spec, parent FROM callback"
          " WHERE parent = ANY($1) ORDER BY parent, number",
          "n"),
      made_(
          "SELECT f.job, k.p, k.g, k.n FROM unnest($1, $2, $3) AS k (p, g, n), LATERAL (SELECT"
          " job FROM made WHERE parent = k.p AND generation = k.g AND number = k.n OFFSET 0)"
          " AS f",
          "nnn"),
      shapes_blocked_(connection, shapes_blocked_on),
      blocked_(connection,
               "SELECT rank, since, job FROM blocked WHERE tenant = ? AND kind = ? AND name = ?"
               " AND shape = ? AND kind IS NOT NULL AND (rank, since, job) > (?, ?, ?)"
               " ORDER BY rank, since, job LIMIT ?"),
      wanting_(connection,
               "SELECT count(*) FROM (SELECT 1 FROM want WHERE tenant = ? AND kind = ? AND name = ?"
               " AND shape = ? LIMIT ?) AS some_of_them"),
      running_(connection, "SELECT job FROM run WHERE job > ? ORDER BY job LIMIT ?") {
    // The first that has it, has it: as sql::Loader looks for it.
    places_.push_back({sql::put_run, 6, {run_of, "n"}});
    places_.push_back({sql::put_outcome, 9, {outcome_of, "n"}});
    places_.push_back({sql::put_ready, 7, {ready_of, "n"}});
    places_.push_back({sql::put_timer, 4, {timer_of, "n"}});
    places_.push_back({sql::put_blocked, 8, {blocked_of, "n"}});
    places_.push_back({sql::put_wait, 2, {wait_of, "n"}});
    place_rows_.resize(places_.size());
}

void LoadMany::send_jobs(const std::set<JobId>& ids) {
    if (ids.empty()) return;
    for (const auto id : ids) {
        asked_.add({id});
        for (auto& place : places_) place.by_job.add({id});
    }
    asked_.send(connection_, [this](ResultPtr rows) { asked_rows_ = std::move(rows); });
    for (std::size_t i = 0; i < places_.size(); ++i)
        places_[i].by_job.send(connection_,
                               [this, i](ResultPtr rows) { place_rows_[i] = std::move(rows); });
}

void LoadMany::take_jobs(const std::set<JobId>& ids, Jobs& into) {
    if (ids.empty()) return;
    const auto asked = rows_by_job(asked_rows_.get(), 5);
    std::vector<std::multimap<JobId, int>> in_place;
    for (std::size_t i = 0; i < places_.size(); ++i)
        in_place.push_back(rows_by_job(place_rows_[i].get(), places_[i].job));
    const auto read = [&](JobId id) -> std::optional<JobRow> {
        const auto found = asked.find(id);
        if (found == asked.end()) return std::nullopt;
        auto job = load_.asked_of(id, *OneRow(asked_rows_.get(), found->second), 0);
        for (std::size_t i = 0; i < places_.size(); ++i) {
            const auto at = in_place[i].find(id);
            if (at == in_place[i].end()) continue;
            places_[i].put(*OneRow(place_rows_[i].get(), at->second), job);
            job.stored = job.place;
            return job;
        }
        fail_corrupt("job " + id.text() + " is in no place");
    };
    for (const auto id : ids)
        into.insert_or_assign(id, LoadedRow<std::optional<JobRow>>::of([&] { return read(id); }));
}

void LoadMany::load_running(Jobs& into) {
    constexpr std::int64_t piece = 5'000;
    std::int64_t last = 0;
    for (;;) {
        std::set<JobId> ids;
        running_.send({last, piece}, [&](ResultPtr result) {
            for (ResultRows rows(std::move(result)); rows.next();) {
                last = rows.number(0);
                ids.insert(JobId{static_cast<std::uint64_t>(last)});
            }
        });
        connection_.collect();
        if (ids.empty()) return;
        send_jobs(ids);
        connection_.collect();
        take_jobs(ids, into);
    }
}

void LoadMany::load_history(const Wanted& wanted, Loaded& into) {
    for (const auto& [name, before] : wanted.history)
        history_.add({name.first, name.second.value, before.value});
    history_.send(connection_, [&](ResultPtr result) {
        std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::string>> found;
        for (ResultRows rows(std::move(result)); rows.next();)
            found[{rows.number(1), rows.number(2)}].emplace_back(rows.bytes(0));
        for (const auto& [name, before] : wanted.history) {
            const auto& bodies = found[{static_cast<std::int64_t>(name.first.value),
                                        std::int64_t{name.second.value}}];
            const auto read = [&bodies, until = before] {
                Loaded::History history{until, {}};
                for (const auto& body : bodies) history.attempts.push_back(decode_attempt(body));
                std::sort(history.attempts.begin(), history.attempts.end(),
                          [](const auto& a, const auto& b) { return a.epoch < b.epoch; });
                return history;
            };
            into.history.insert_or_assign(name, LoadedRow<Loaded::History>::of(read));
        }
    });
}

void LoadMany::load_large(const Wanted& wanted, Loaded& into) {
    for (const auto& [attempt, kind] : wanted.large)
        large_.add({attempt.job, attempt.epoch.value, code(kind)});
    large_.send(connection_, [&](ResultPtr result) {
        std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::string> found;
        for (ResultRows rows(std::move(result)); rows.next();)
            found[{rows.number(1), rows.number(2), rows.number(3)}] = rows.bytes(0);
        for (const auto& name : wanted.large) {
            const auto& [attempt, kind] = name;
            const auto at = found.find({static_cast<std::int64_t>(attempt.job.value),
                                        std::int64_t{attempt.epoch.value}, code(kind)});
            into.large.insert_or_assign(name, LoadedRow<std::string>::of([&] {
                                            if (at == found.end())
                                                fail_corrupt("what an attempt of job " +
                                                             attempt.job.text() + " left is gone");
                                            return at->second;
                                        }));
        }
    });
}

void LoadMany::load_keys(const Wanted& wanted, Loaded& into) {
    for (const auto& [tenant, key] : wanted.keys) keys_.add({tenant, key});
    keys_.send(connection_, [&](ResultPtr result) {
        using Row = std::optional<IdempotencyRow>;
        for (const auto& name : wanted.keys)
            into.keys.insert_or_assign(name, LoadedRow<Row>::of([] { return Row(); }));
        ResultRows rows(std::move(result));
        Found row(rows);
        while (row.next())
            into.keys.insert_or_assign({row.text(5), row.text(6)}, LoadedRow<Row>::of([&] {
                                           return Row(sql::idempotency_of(row));
                                       }));
    });
}

// Every job that was asked for has an answer: those of its rows, in order.
template <class Value, class Read>
void collect_by_job(const std::set<JobId>& asked, int job_column, ResultPtr result,
                    LoadedRows<JobId, std::vector<Value>>& into, Read read) {
    const auto rows = rows_by_job(result.get(), job_column);
    for (const auto id : asked) {
        const auto all = [&] {
            std::vector<Value> values;
            const auto [first, last] = rows.equal_range(id);
            for (auto at = first; at != last; ++at)
                values.push_back(read(*OneRow(result.get(), at->second), id));
            return values;
        };
        into.insert_or_assign(id, LoadedRow<std::vector<Value>>::of(all));
    }
}

void LoadMany::load_relations(const Wanted& wanted, Loaded& into) {
    for (const auto id : wanted.facts) facts_.add({id});
    facts_.send(connection_, [&](ResultPtr result) {
        collect_by_job(wanted.facts, 3, std::move(result), into.facts,
                       [](const Found& row, JobId job) { return sql::known_awaited_of(row, job); });
    });
    for (const auto id : wanted.awaited) awaited_.add({id});
    awaited_.send(connection_, [&](ResultPtr result) {
        collect_by_job(wanted.awaited, 3, std::move(result), into.awaited,
                       [](const Found& row, JobId) { return sql::awaited_of(row); });
    });
    for (const auto id : wanted.added) added_.add({id});
    added_.send(connection_, [&](ResultPtr result) {
        collect_by_job(wanted.added, 5, std::move(result), into.added,
                       [](const Found& row, JobId) { return sql::added_of(row); });
    });
}

void LoadMany::load_waiters(const Wanted& wanted, Loaded& into) {
    for (const auto& [other, max] : wanted.waiters) waiters_.add({other, max});
    waiters_.send(connection_, [&](ResultPtr result) {
        std::map<std::int64_t, std::vector<JobId>> found;
        for (ResultRows rows(std::move(result)); rows.next();)
            found[rows.number(1)].push_back(JobId{static_cast<std::uint64_t>(rows.number(0))});
        for (const auto& [other, max] : wanted.waiters) {
            auto& jobs = found[static_cast<std::int64_t>(other.value)];
            std::sort(jobs.begin(), jobs.end());
            auto some = some_of(std::move(jobs), max);
            into.waiters.insert_or_assign(
                other, LoadedRow<Loaded::Some<JobId>>::of([&] { return std::move(some); }));
        }
    });
}

void LoadMany::load_made(const Wanted& wanted, Loaded& into) {
    for (const auto& [job, generation, number] : wanted.made) made_.add({job, generation, number});
    made_.send(connection_, [&](ResultPtr result) {
        using Row = std::optional<JobId>;
        for (const auto& name : wanted.made)
            into.made.insert_or_assign(name, LoadedRow<Row>::of([] { return Row(); }));
        ResultRows rows(std::move(result));
        Found row(rows);
        while (row.next())
            into.made.insert_or_assign({row.job(1), row.small(2), row.small(3)},
                                       LoadedRow<Row>::of([&] { return Row(row.job(0)); }));
    });
}

void LoadMany::load_permits(const Wanted& wanted, Loaded& into) {
    for (const auto& [line, max] : wanted.shapes_blocked) {
        const auto& [permit, behind] = line;
        shapes_blocked_.send(
            {permit.tenant, code(permit.kind), permit.name, behind, max},
            [&into, &at = line, most = max](ResultPtr result) {
                std::vector<ShapeId> shapes;
                for (ResultRows rows(std::move(result)); rows.next();)
                    shapes.push_back(rows.number(0));
                auto some = some_of(std::move(shapes), most);
                into.shapes_blocked.insert_or_assign(
                    at, LoadedRow<Loaded::Some<ShapeId>>::of([&] { return std::move(some); }));
            });
    }
    for (const auto& [line, enough] : wanted.wanting) {
        const auto& [permit, shape] = line;
        wanting_.send({permit.tenant, code(permit.kind), permit.name, shape, enough},
                      [&into, &at = line, most = enough](ResultPtr result) {
                          ResultRows rows(std::move(result));
                          const auto count = rows.next() ? rows.number(0) : 0;
                          const Loaded::Count counted{static_cast<std::uint32_t>(count), most};
                          into.wanting.insert_or_assign(
                              at, LoadedRow<Loaded::Count>::of([&] { return counted; }));
                      });
    }
    for (const auto& [line, query] : wanted.blocked) {
        const auto& [permit, shape] = line;
        const sql::Behind from(query.behind);
        blocked_.send({permit.tenant, code(permit.kind), permit.name, shape, from.rank, from.since,
                       from.job, query.max},
                      [&into, &at = line, most = query.max](ResultPtr result) {
                          auto& known = into.blocked[at].value();
                          std::uint32_t read = 0;
                          for (ResultRows rows(std::move(result)); rows.next(); ++read)
                              known.rows.push_back(
                                  sql::order_of(rows.number(0), rows.number(1),
                                                JobId{static_cast<std::uint64_t>(rows.number(2))}));
                          known.is_all = read < most;
                      });
    }
}

void LoadMany::load(const Wanted& wanted, Loaded& into) {
    send_jobs(wanted.jobs);
    load_history(wanted, into);
    load_large(wanted, into);
    load_keys(wanted, into);
    load_relations(wanted, into);
    load_waiters(wanted, into);
    load_made(wanted, into);
    load_permits(wanted, into);
    connection_.collect();
    take_jobs(wanted.jobs, into.jobs);
}

}  // namespace perdure::store::postgres
