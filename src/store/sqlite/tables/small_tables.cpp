#include "store/sqlite/tables/small_tables.h"

#include <variant>

#include "store/engine/rows/codec.h"
#include "store/sql/tables/load.h"

namespace perdure::store::sqlite {
namespace {

// The job that a relation is a row of.
struct JobOfRelation {
    JobId operator()(const NewAwaited& row) const { return row.job; }
    JobId operator()(const NotifiedWaiters& notified) const { return notified.other; }
    JobId operator()(const NewAdded& added) const { return added.parent; }
    JobId operator()(const NewMade& made) const { return made.of.job; }
};

// The columns in which two counts of a group differ: most jobs go one way, and the others are rare.
std::vector<std::size_t> counts_that_differ() {
    using enum JobState;
    std::vector<std::size_t> columns{0};  // the shape
    for (const auto state : {ready, starting, running, succeeded})
        columns.push_back(1 + static_cast<std::size_t>(state));
    return columns;
}

}  // namespace

SmallTables::SmallTables(Connection& c, DamageBook& book)
    : copies(c, book),
      // One whose row cannot be understood gets a new number.
      shape_(c,
             "INSERT OR REPLACE INTO shape (id, tenant, queue, kind, share, submitter)"
             " VALUES (?, ?, ?, ?, ?, ?)"),
      tally_(c, "INSERT OR REPLACE INTO tally", 1 + places.size(), counts_that_differ()),
      pause_(c, "INSERT OR REPLACE INTO queue (tenant, queue, paused) VALUES (?, ?, ?)"),
      limit_(c, "INSERT OR REPLACE INTO limit_max (tenant, name, max) VALUES (?, ?, ?)"),
      take_key_(c, "INSERT INTO key_holder (tenant, key, job) VALUES (?, ?, ?)"),
      take_limit_(c, "INSERT INTO limit_holder (tenant, name, slot, job) VALUES (?, ?, ?, ?)"),
      release_key_(c, "DELETE FROM key_holder WHERE tenant = ? AND key = ? AND job = ?"),
      release_limit_(c,
                     "DELETE FROM limit_holder WHERE tenant = ? AND name = ? AND slot = ?"
                     " AND job = ?"),
      release_odd_(c, "DELETE FROM limit_holder WHERE tenant = ? AND name = ? AND job = ?"),
      await_(c,
             "INSERT INTO awaited (job, number, other, on_end, state, ended)"
             " VALUES (?, ?, ?, ?, ?, ?)"),
      notify_(c,
              "UPDATE awaited SET state = ?, ended = ? WHERE other = ? AND state IS NULL"
              " AND job <= ?"),
      add_(c,
           "INSERT INTO callback (parent, number, id, since_generation, on_end, spec)"
           " VALUES (?, ?, ?, ?, ?, ?)"),
      made_(c, "INSERT INTO made (parent, generation, number, job) VALUES (?, ?, ?, ?)"),
      forget_awaited_(c, "DELETE FROM awaited WHERE job = ?"),
      forget_added_(c, "DELETE FROM callback WHERE parent = ?"),
      forget_made_(c, "DELETE FROM made WHERE parent = ?"),
      ledger_(c,
              "INSERT INTO recovery (id, job, epoch, detector, incident, cause, happened_on, body)"
              " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
      save_session_(c,
                    "INSERT OR REPLACE INTO session (id, machine, boot, device, inode, life,"
                    " worker, is_open, stream, assignments, heartbeat, content_hash, seen, renewal,"
                    " slots, tenant, offer, lease_deadline, heard_at, given_up, policy)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      save_directory_(c,
                      "INSERT OR REPLACE INTO directory (machine, device, inode, session)"
                      " VALUES (?, ?, ?, ?)"),
      delete_session_(c, "DELETE FROM session WHERE id = ?"),
      delete_directory_(c,
                        "DELETE FROM directory WHERE machine = ? AND device = ? AND inode = ?"
                        " AND session = ?"),
      put_key_(c,
               "INSERT OR REPLACE INTO idempotency (tenant, key, job, body_hash, body_hash_high,"
               " gone_as, kept_until) VALUES (?, ?, ?, ?, ?, ?, ?)"),
      drop_key_(c, "DELETE FROM idempotency WHERE tenant = ? AND key = ?"),
      old_keys_(c,
                "SELECT tenant, key FROM idempotency WHERE kept_until <= ?"
                " ORDER BY kept_until LIMIT ?"),
      owe_end_(c, "INSERT OR REPLACE INTO owed_end (job) VALUES (?)"),
      pay_end_(c, "DELETE FROM owed_end WHERE job = ?"),
      owe_permit_(c,
                  "INSERT OR REPLACE INTO owed_thing (tenant, kind, name, behind)"
                  " VALUES (?, ?, ?, ?)"),
      pay_permit_(c, "DELETE FROM owed_thing WHERE tenant = ? AND kind = ? AND name = ?"),
      owe_removal_(c, "INSERT OR REPLACE INTO owed_removal (job) VALUES (?)"),
      pay_removal_(c, "DELETE FROM owed_removal WHERE job = ?") {}

std::vector<KeyName> SmallTables::old_keys(ServiceTime now, std::uint32_t max) {
    std::vector<KeyName> names;
    auto row = old_keys_.query({now, max});
    while (row.next()) names.emplace_back(row.text(0), row.text(1));
    return names;
}

void SmallTables::write_rows_of_jobs(const WriteSet& set, JobId& at) {
    for (const auto& change : set.holders) {
        at = change.job;
        write(change);
    }
    for (const auto& change : set.relations) {
        at = std::visit(JobOfRelation{}, change);
        std::visit([&](const auto& row) { write(row); }, change);
    }
    for (const auto& entry : set.ledger) {
        at = entry.attempt.job;
        write(entry);
    }
    at = {};
    for (const auto& [tenant, key] : set.old_keys) drop_key_.run_one({tenant, key});
    for (const auto& [name, row] : set.keys) {
        at = row.job;
        write(name, row);
    }
}

// What was owed and paid in one group has no row.
void SmallTables::write_debts(const WriteSet& set) {
    for (const auto& [job, is_owed] : set.owed_ends) {
        if (is_owed)
            owe_end_.run({job});
        else
            pay_end_.run({job});
    }
    for (const auto& [job, is_owed] : set.owed_removals) {
        if (is_owed)
            owe_removal_.run({job});
        else
            pay_removal_.run({job});
    }
    for (const auto& [permit, behind] : set.owed_permits) {
        if (behind)
            owe_permit_.run({permit.tenant, code(permit.kind), permit.name, *behind});
        else
            pay_permit_.run({permit.tenant, code(permit.kind), permit.name});
    }
}

void SmallTables::write_others(const WriteSet& set) {
    write_debts(set);
    for (const auto& [id, shape] : set.shapes)
        shape_.run_one({id, shape.tenant, shape.queue, shape.kind, shape.share,
                        static_cast<std::int64_t>(shape.submitter)});
    for (const auto& [shape, n] : set.tallies)
        tally_.add({shape, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10]});
    tally_.finish();
    for (const auto& pause : set.pauses) pause_.run_one({pause.tenant, pause.queue, pause.paused});
    for (const auto& row : set.limits) limit_.run_one({row.limit.tenant, row.limit.name, row.max});
    for (const auto& [directory, session] : set.directories) {
        const auto& [machine, device, inode] = directory;
        save_directory_.run_one({machine, device, inode, session});
    }
    for (const auto* session : set.sessions) write(*session);
    for (const auto& [directory, id] : set.forgotten_sessions) {
        const auto& [machine, device, inode] = directory;
        delete_session_.run_one({id});
        delete_directory_.run({machine, device, inode, id});  // unless a later session has it
    }
    for (const auto& [id, row] : set.servers) {
        if (row) {
            copies.save(id, *row);
        } else {
            copies.remove(id);
        }
    }
    if (set.service) copies.save(*set.service);
}

void SmallTables::forget_relations(const ForgottenJob& forgotten) {
    const auto id = forgotten.job.id;
    if (forgotten.has_awaited) forget_awaited_.run({id});
    if (forgotten.has_added) forget_added_.run({id});
    if (forgotten.is_large) return;
    if (forgotten.has_made) forget_made_.run({id});
}

void SmallTables::write(const HolderChange& change) {
    using Kind = HolderChange::Kind;
    const auto& permit = change.permit;
    const bool is_key = permit.kind == Permit::Kind::key;
    switch (change.kind) {
        case Kind::taken:
            if (is_key) return take_key_.run_one({permit.tenant, permit.name, change.job});
            return take_limit_.run_one({permit.tenant, permit.name, change.slot, change.job});
        case Kind::freed:
            if (is_key) return release_key_.run_one({permit.tenant, permit.name, change.job});
            return release_limit_.run_one({permit.tenant, permit.name, change.slot, change.job});
        case Kind::freed_without_slot:
            if (!is_key) release_odd_.run({permit.tenant, permit.name, change.job});
            return;
    }
}

void SmallTables::write(const NewAwaited& row) {
    const auto on = static_cast<int>(row.after.on);
    if (!row.ended)
        return await_.run_one({row.job, row.number, row.after.job, on, nullptr, nullptr});
    const auto bytes = encode(*row.ended);
    await_.run_one(
        {row.job, row.number, row.after.job, on, code(row.ended->state), Value::blob(bytes)});
}

void SmallTables::write(const NotifiedWaiters& notified) {
    const auto bytes = encode(notified.ended);
    notify_.run({code(notified.ended.state), Value::blob(bytes), notified.other, notified.last});
}

void SmallTables::write(const NewAdded& added) {
    const auto& row = added.row;
    const auto spec = encode(*row.callback.spec);
    add_.run_one({added.parent, row.number, row.id, row.since_generation, code(row.callback.on),
                  Value::blob(spec)});
}

void SmallTables::write(const NewMade& made) {
    made_.run_one({made.of.job, made.of.generation, made.of.number, made.job});
}

void SmallTables::write(const Recovery& entry) {
    std::optional<std::int64_t> cause;
    if (entry.end) cause = code(entry.end->cause);
    ledger_.run_one({entry.id, entry.attempt.job, entry.attempt.epoch.value, code(entry.detector),
                     code(entry.incident), cause, entry.on, Value::blob(encode(entry))});
}

void SmallTables::write(const KeyName& name, const IdempotencyRow& row) {
    std::optional<std::int64_t> gone;
    if (row.gone) gone = code(*row.gone);
    put_key_.run({name.first, name.second, row.job, row.body_hash.low, sql::high_of(row.body_hash),
                  gone, row.until});
}

void SmallTables::write(const SessionRow& s) {
    const auto offer = encode_said(s);
    const auto policy = s.policy ? encode(*s.policy) : std::string{};
    save_session_.run({s.id,
                       s.directory.machine,
                       s.directory.boot,
                       s.directory.device,
                       s.directory.inode,
                       s.life,
                       s.worker,
                       s.open,
                       s.stream,
                       s.assignments,
                       s.heartbeat,
                       s.content_hash,
                       s.seen,
                       s.renewal,
                       s.slots,
                       s.offer.tenant,
                       Value::blob(offer),
                       s.lease_deadline,
                       s.heard_at,
                       s.given_up,
                       s.policy ? Value::blob(policy) : Value(nullptr)});
}

}  // namespace perdure::store::sqlite
