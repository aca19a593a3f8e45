#include "store/postgres/tables/postgres_tables.h"

#include "base/assert.h"
#include "store/sql/tables/contents.h"
#include "store/sql/tables/forget_row.h"

namespace perdure::store::postgres {
namespace {

constexpr const char* count_leftovers =
    "SELECT count(*) FROM ((SELECT 1 FROM attempt WHERE job = ?1 LIMIT ?2) UNION ALL"
    " (SELECT 1 FROM large WHERE job = ?1 LIMIT ?2) UNION ALL"
    " (SELECT 1 FROM recovery WHERE job = ?1 LIMIT ?2) UNION ALL"
    " (SELECT 1 FROM made WHERE parent = ?1 LIMIT ?2)) AS left_over";

}  // namespace

PostgresTables::PostgresTables(Connection& connection, Keeper& keeper, DamageBook& book,
                               std::uint32_t loads_max)
    : connection_(connection),
      keeper_(keeper),
      book_(book),
      loads_max_(loads_max),
      load_(connection),
      known_(load_),
      relations_(connection),
      load_many_(connection, load_),
      lines_(connection, load_, places_),
      has_job_(connection, "SELECT 1 FROM job WHERE id = ?"),
      to_forget_(connection,
                 "SELECT forget_at, job, others FROM forget WHERE forget_at <= ?"
                 " ORDER BY forget_at, job LIMIT ?"),
      old_keys_(connection,
                "SELECT tenant, key FROM idempotency WHERE kept_until <= ?"
                " ORDER BY kept_until LIMIT ?"),
      unremoved_(connection, count_leftovers) {}

std::optional<JobRow> PostgresTables::KnownJobs::job(JobId id) {
    const auto found = ahead.find(id);
    if (found == ahead.end()) return load_.job(id);
    auto row = std::move(found->second);
    ahead.erase(found);
    return std::move(row.value());
}

Contents PostgresTables::contents() {
    Contents contents;
    contents.service = service_ = load_.service();
    contents.servers = servers_ = read_servers(connection_);
    sql::read_contents(connection_, load_, book_, contents);
    load_many_.load_running(known_.ahead);
    return contents;
}

void PostgresTables::begin() { connection_.begin(Connection::Kind::write); }

void PostgresTables::write(WriteSet& set, JobId& at) {
    for (const auto& [id, row] : set.servers) {
        if (row)
            servers_[id] = *row;
        else
            servers_.erase(id);
    }
    if (set.service) service_ = *set.service;
    group_.send(connection_, keeper_.last_group() + 1, keeper_.epoch(), service_, servers_);
    if (one_by_one_) {
        connection_.collect();
        places_.save_one_by_one(connection_, set.jobs, at);
    } else {
        places_.save(connection_, set.jobs);
    }
    small_.write_rows_of_jobs(connection_, set);
    places_.forget(connection_, set.forgotten);
    small_.forget_relations(connection_, set.forgotten);
    small_.remove(connection_, set.leftovers);
    places_.take_notes(connection_, set.notes);
    small_.write_others(connection_, set);
    if (set.tidy) places_.tidy_ready_deadlines(connection_);
    set.clear();
}

void PostgresTables::commit() {
    connection_.commit();
    keeper_.note_committed(keeper_.last_group() + 1);
    known_.ahead.clear();
}

bool PostgresTables::has_job(JobId id) { return has_job_.query({id}).next(); }

std::vector<ForgetNote> PostgresTables::to_forget(ServiceTime now, std::uint32_t max) {
    std::vector<ForgetNote> notes;
    std::size_t found = 0;
    auto row = to_forget_.query({now, max});
    while (found < max && row.next()) {
        notes.push_back({ServiceTime{row.number(0)}, sql::jobs_of_note(row)});
        found += notes.back().jobs.size();
    }
    return notes;
}

std::vector<KeyName> PostgresTables::old_keys(ServiceTime now, std::uint32_t max) {
    std::vector<KeyName> names;
    for (auto row = old_keys_.query({now, max}); row.next();)
        names.emplace_back(row.text(0), row.text(1));
    return names;
}

std::uint32_t PostgresTables::leftovers(JobId job, std::uint32_t enough) {
    auto row = unremoved_.query({job, enough});
    const auto count = row.next() ? row.number(0) : 0;
    return static_cast<std::uint32_t>(std::min<std::int64_t>(count, enough));
}

}  // namespace perdure::store::postgres
