// Loader: reads rows from one connection. The writer and every reader have one of their own. What
// cannot be understood is a Failure `corrupt` that names the row.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/engine/damage_book.h"
#include "store/engine/tables.h"
#include "store/sql/statement.h"

namespace perdure::store::sql {

// All columns but the checksum, in the order of the table.
ServiceRow service_of(const Found& row);

// The job's place, and what changes about it, from a row of `ready`, `run`, ... What Loader reads
// of each is in load.cpp, the job's own columns behind it.
void put_ready(const Found& row, JobRow& job);
void put_run(const Found& row, JobRow& job);
void put_outcome(const Found& row, JobRow& job);
void put_timer(const Found& row, JobRow& job);
void put_blocked(const Found& row, JobRow& job);
void put_wait(const Found& row, JobRow& job);
// Columns session, life of `run`: who owns it, as far as anything in the row says so.
SessionId owner_in_run(const Found& row);
// Columns job, body_hash, body_hash_high, gone_as, kept_until.
IdempotencyRow idempotency_of(const Found& row);

class Loader : public JobReader {
public:
    explicit Loader(Database& database);

    // Of both: as it is noted, if that is newer (db/idle_file.h).
    ServiceRow service();
    std::optional<SessionRow> session(SessionId id);
    // Those that can be understood; the others are noted.
    std::vector<SessionRow> sessions(DamageBook& book);
    std::optional<SessionId> latest_session(const StateDirectory& directory);
    std::optional<IdempotencyRow> idempotency(const std::string& tenant,
                                              const std::string& key) override;

    LineReader::Submits submits(JobId after, std::uint32_t max, const std::set<JobId>& gone);
    LineReader::Due next_due();
    std::optional<JobRow> job(JobId id) override;
    // The same for a row of `ready`: rank, since, queue_deadline, kept_until, avoid, avoid_until,
    // life.
    JobRow ready_job(JobId id, const Found& row);
    // The same, and from column `asked` on: shape, body_hash, body_hash_high, submitted_at, spec of
    // `job`.
    JobRow whole_ready_job(JobId id, const Found& row, int asked);
    std::vector<AttemptRow> history(JobId job, Epoch from, Epoch before) override;
    std::string large(AttemptKey attempt, Large kind) override;

    // Columns shape, body_hash, body_hash_high, submitted_at, spec from `first` on.
    JobRow asked_of(JobId id, const Found& row, int first);

private:
    std::optional<JobRow> what_was_asked(JobId id);
    // Jobs that wait one behind the other mostly ask for the same: they share it.
    std::shared_ptr<const JobSpec> spec_in(std::string_view bytes);
    bool find_place(JobRow& job);
    bool find_ready(JobRow& job);

    const Database& database_;
    Statement service_, session_, sessions_, latest_session_, idempotency_;
    Statement job_, submits_, next_wake_, next_date_, history_, large_;
    Statement run_, outcome_, timer_, blocked_, wait_, ready_, line_;
    std::shared_ptr<const JobSpec> last_spec_;
    std::string last_bytes_;
};

// Columns body_hash and body_hash_high; the second is NULL for a hash of an earlier release (C5).
inline BodyHash hash_in(const Found& row, int first) {
    if (row.is_null(first + 1)) return {.low = row.bits(first), .is_short = true};
    return {.low = row.bits(first), .high = row.bits(first + 1)};
}
inline Value high_of(const BodyHash& hash) {
    return hash.is_short ? Value(nullptr) : Value(hash.high);
}

}  // namespace perdure::store::sql
