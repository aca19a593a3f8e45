#include "store/postgres/tables/small_writer.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <variant>

#include "store/engine/rows/codec.h"
#include "store/postgres/db/binary.h"
#include "store/postgres/db/types.h"
#include "store/sql/tables/load.h"

namespace perdure::store::postgres {
namespace {

using sql::code;
using sql::Value;

// A row of this key is replaced.
std::string put_of(const std::string& table, const std::string& key,
                   const std::vector<std::string>& others) {
    std::string columns = key;
    std::string set;
    std::size_t count = 1;
    for (const char c : key) count += c == ',' ? 1 : 0;
    for (const auto& column : others) {
        columns += ", " + column;
        set += (set.empty() ? "" : ", ") + column + " = excluded." + column;
        ++count;
    }
    const auto then = set.empty() ? std::string("ON CONFLICT DO NOTHING")
                                  : fmt::format("ON CONFLICT ({}) DO UPDATE SET {}", key, set);
    return insert_of(table, columns, count, then);
}

// Some of these rows may not be there.
std::string drop_of_keys(const std::string& table, const std::string& names,
                         const std::string& match, int count) {
    std::string arrays;
    for (int i = 1; i <= count; ++i) arrays += fmt::format("{}${}", i > 1 ? ", " : "", i);
    return fmt::format(
        "DELETE FROM {0} WHERE ctid = ANY (ARRAY (SELECT f.at FROM unnest({1}) AS k ({2}),"
        " LATERAL (SELECT r.ctid AS at FROM {0} r WHERE {3} OFFSET 0) AS f))",
        table, arrays, names, match);
}

Many dropping(const std::string& table, const std::string& key) {
    return {fmt::format("DELETE FROM {} WHERE {} = ANY($1)", table, key), "n"};
}

// What a removed job has left, in this order, no more than $2 of it.
constexpr const char* remove_leftovers =
    "WITH a AS (DELETE FROM attempt WHERE ctid = ANY (ARRAY (SELECT ctid FROM attempt"
    " WHERE job = $1 ORDER BY epoch LIMIT $2)) RETURNING 1),"
    " l AS (DELETE FROM large WHERE ctid = ANY (ARRAY (SELECT ctid FROM large WHERE job = $1"
    " ORDER BY epoch, kind LIMIT greatest(0, $2 - (SELECT count(*) FROM a)))) RETURNING 1),"
    " r AS (DELETE FROM recovery WHERE ctid = ANY (ARRAY (SELECT ctid FROM recovery WHERE job = $1"
    " ORDER BY id LIMIT greatest(0, $2 - (SELECT count(*) FROM a) - (SELECT count(*) FROM l))))"
    " RETURNING 1)"
    " DELETE FROM made WHERE ctid = ANY (ARRAY (SELECT ctid FROM made WHERE parent = $1"
    " ORDER BY generation, number LIMIT greatest(0, $2 - (SELECT count(*) FROM a)"
    " - (SELECT count(*) FROM l) - (SELECT count(*) FROM r))))";

Text notify_waiters() {
    return {.sql =
                "UPDATE awaited SET state = $1, ended = $2 WHERE other = $3"
                " AND state IS NULL AND job <= $4",
            .types = {type_int8, type_bytes, type_int8, type_int8}};
}

// What the changes of one holder's row come to: who held it, and who does now.
struct HolderNet {
    std::optional<JobId> before;
    std::optional<JobId> after;
};

}  // namespace

SmallWriter::SmallWriter()
    : put_large_(put_of("large", "job, epoch, kind", {"body"}), "nnnb"),
      drop_large_(
          drop_of_keys("large", "j, e, k", "r.job = k.j AND r.epoch = k.e AND r.kind = k.k", 3),
          "nnn"),
      take_key_(insert_of("key_holder", "tenant, key, job", 3), "ttn"),
      take_limit_(insert_of("limit_holder", "tenant, name, slot, job", 4), "ttnn"),
      free_key_(delete_of_keys("key_holder", {"tenant", "key", "job"}), "ttn", Many::Counted::yes),
      free_limit_(delete_of_keys("limit_holder", {"tenant", "name", "slot", "job"}), "ttnn",
                  Many::Counted::yes),
      free_odd_(drop_of_keys("limit_holder", "t, n, j",
                             "r.tenant = k.t AND r.name = k.n AND r.job = k.j", 3),
                "ttn"),
      awaited_(insert_of("awaited", "job, number, other, on_end, state, ended", 6), "nnnnnb"),
      added_(insert_of("callback", "parent, number, id, since_generation, on_end, spec", 6),
             "nnnnnb"),
      made_(insert_of("made", "parent, generation, number, job", 4), "nnnn"),
      ledger_(
          insert_of("recovery", "id, job, epoch, detector, incident, cause, happened_on, body", 8),
          "nnnnnnnb"),
      drop_key_(delete_of_keys("idempotency", {"tenant", "key"}), "tt", Many::Counted::yes),
      put_key_(put_of("idempotency", "tenant, key",
                      {"job", "body_hash", "body_hash_high", "gone_as", "kept_until"}),
               "ttnnnnn"),
      gone_awaited_(dropping("awaited", "job")),
      gone_added_(dropping("callback", "parent")),
      gone_made_(dropping("made", "parent")),
      owe_end_(put_of("owed_end", "job", {}), "n"),
      pay_end_(dropping("owed_end", "job")),
      owe_removal_(put_of("owed_removal", "job", {}), "n"),
      pay_removal_(dropping("owed_removal", "job")),
      owe_permit_(put_of("owed_thing", "tenant, kind, name", {"behind"}), "tntn"),
      pay_permit_(drop_of_keys("owed_thing", "t, k, n",
                               "r.tenant = k.t AND r.kind = k.k AND r.name = k.n", 3),
                  "tnt"),
      shape_(put_of("shape", "id", {"tenant", "queue", "kind", "share", "submitter"}), "nttttn"),
      tally_(put_of("tally", "shape",
                    {"scheduled", "ready", "blocked", "starting", "running", "waiting", "succeeded",
                     "failed", "cancelled", "expired", "quarantined"}),
             "nnnnnnnnnnnn"),
      pause_(put_of("queue", "tenant, queue", {"paused"}), "ttn"),
      limit_(put_of("limit_max", "tenant, name", {"max"}), "ttn"),
      session_(put_of("session", "id",
                      {"machine",      "boot",           "device",   "inode",       "life",
                       "worker",       "is_open",        "stream",   "assignments", "heartbeat",
                       "content_hash", "seen",           "renewal",  "slots",       "tenant",
                       "offer",        "lease_deadline", "heard_at", "given_up",    "policy"}),
               "nttnnntnnnnnnnntbnnnb"),
      directory_(put_of("directory", "machine, device, inode", {"session"}), "tnnn"),
      gone_session_(delete_of("session", "id"), "n", Many::Counted::yes),
      gone_directory_(drop_of_keys("directory", "m, d, i, s",
                                   "r.machine = k.m AND r.device = k.d AND r.inode = k.i AND"
                                   " r.session = k.s",
                                   4),
                      "tnnn"),
      notify_(notify_waiters()),
      unremoved_{.sql = remove_leftovers, .types = {type_int8, type_int8}} {}

void SmallWriter::write_rows_of_jobs(Connection& connection, const WriteSet& set) {
    write(connection, set.large);
    write(connection, set.holders);
    write(connection, set.relations);
    write_ledger(connection, set);
    write_keys(connection, set);
}

// The last word on each counts.
void SmallWriter::write(Connection& connection, const std::vector<LargeChange>& changes) {
    std::map<std::tuple<std::uint64_t, std::uint32_t, Large>, const LargeChange*> last;
    for (const auto& change : changes)
        last[{change.attempt.job.value, change.attempt.epoch.value, change.kind}] = &change;
    for (const auto& [key, change] : last) {
        const auto& [attempt, kind, bytes] = *change;
        if (bytes)
            put_large_.add({attempt.job, attempt.epoch.value, code(kind), Value::blob(*bytes)});
        else
            drop_large_.add({attempt.job, attempt.epoch.value, code(kind)});
    }
    drop_large_.send(connection);
    put_large_.send(connection);
}

// All free before anybody takes: what was taken and freed in one group has no row.
void SmallWriter::write(Connection& connection, const std::vector<HolderChange>& changes) {
    std::map<std::pair<Permit, std::uint32_t>, HolderNet> rows;
    for (const auto& change : changes) {
        if (change.kind == HolderChange::Kind::freed_without_slot) {
            const auto& permit = change.permit;
            if (permit.kind == Permit::Kind::limit)
                free_odd_.add({permit.tenant, permit.name, change.job});
            continue;
        }
        auto& row = rows[{change.permit, change.slot}];
        if (change.kind == HolderChange::Kind::taken) {
            if (row.after) fail_corrupt("a key or limit is taken twice in one group");
            row.after = change.job;
        } else if (row.after == change.job) {
            row.after.reset();
        } else {
            row.before = change.job;
        }
    }
    for (const auto& [name, row] : rows) {
        const auto& [permit, slot] = name;
        const bool is_key = permit.kind == Permit::Kind::key;
        if (row.before && is_key) free_key_.add({permit.tenant, permit.name, *row.before});
        if (row.before && !is_key) free_limit_.add({permit.tenant, permit.name, slot, *row.before});
        if (row.after && is_key) take_key_.add({permit.tenant, permit.name, *row.after});
        if (row.after && !is_key) take_limit_.add({permit.tenant, permit.name, slot, *row.after});
    }
    for (auto* many : {&free_key_, &free_limit_, &free_odd_, &take_key_, &take_limit_})
        many->send(connection);
}

void SmallWriter::add(const NewAwaited& row) {
    const auto on = code(row.after.on);
    if (!row.ended) return awaited_.add({row.job, row.number, row.after.job, on, nullptr, nullptr});
    const auto bytes = encode(*row.ended);
    awaited_.add(
        {row.job, row.number, row.after.job, on, code(row.ended->state), Value::blob(bytes)});
}

void SmallWriter::add(const NewAdded& added) {
    const auto& row = added.row;
    const auto spec = encode(*row.callback.spec);
    added_.add({added.parent, row.number, row.id, row.since_generation, code(row.callback.on),
                Value::blob(spec)});
}

void SmallWriter::add(const NewMade& made) {
    made_.add({made.of.job, made.of.generation, made.of.number, made.job});
}

// Those that were added before it are told as well, and none that come later.
void SmallWriter::notify(Connection& connection, const NotifiedWaiters& notified) {
    send_relations(connection);
    const auto ended = encode(notified.ended);
    const auto state = big_endian(code(notified.ended.state));
    const auto other = big_endian(static_cast<std::int64_t>(notified.other.value));
    const auto last = big_endian(static_cast<std::int64_t>(notified.last.value));
    Parameters parameters;
    parameters.add({state.data(), state.size()});
    parameters.add(ended);
    parameters.add({other.data(), other.size()});
    parameters.add({last.data(), last.size()});
    connection.send(notify_, parameters);
}

void SmallWriter::send_relations(Connection& connection) {
    for (auto* many : {&awaited_, &added_, &made_}) many->send(connection);
}

void SmallWriter::write(Connection& connection, const std::vector<RelationChange>& changes) {
    for (const auto& change : changes) {
        if (const auto* notified = std::get_if<NotifiedWaiters>(&change)) {
            notify(connection, *notified);
        } else if (const auto* awaited = std::get_if<NewAwaited>(&change)) {
            add(*awaited);
        } else if (const auto* added = std::get_if<NewAdded>(&change)) {
            add(*added);
        } else if (const auto* made = std::get_if<NewMade>(&change)) {
            add(*made);
        }
    }
    send_relations(connection);
}

void SmallWriter::write_ledger(Connection& connection, const WriteSet& set) {
    for (const auto& entry : set.ledger) {
        std::optional<std::int64_t> cause;
        if (entry.end) cause = code(entry.end->cause);
        ledger_.add({entry.id, entry.attempt.job, entry.attempt.epoch.value, code(entry.detector),
                     code(entry.incident), cause, entry.on, Value::blob(encode(entry))});
    }
    ledger_.send(connection);
}

void SmallWriter::write_keys(Connection& connection, const WriteSet& set) {
    for (const auto& [tenant, key] : set.old_keys) drop_key_.add({tenant, key});
    drop_key_.send(connection);
    for (const auto& [name, row] : set.keys) {
        std::optional<std::int64_t> gone;
        if (row.gone) gone = code(*row.gone);
        put_key_.add({name.first, name.second, row.job, row.body_hash.low,
                      sql::high_of(row.body_hash), gone, row.until});
    }
    put_key_.send(connection);
}

void SmallWriter::forget_relations(Connection& connection, const std::vector<ForgottenJob>& jobs) {
    for (const auto& [job, is_large, has_awaited, has_added, has_made] : jobs) {
        if (has_awaited) gone_awaited_.add({job.id});
        if (has_added) gone_added_.add({job.id});
        if (has_made && !is_large) gone_made_.add({job.id});
    }
    for (auto* many : {&gone_awaited_, &gone_added_, &gone_made_}) many->send(connection);
}

void SmallWriter::remove(Connection& connection, const std::vector<LeftoverPiece>& pieces) {
    for (const auto& [job, max] : pieces) {
        const auto id = big_endian(static_cast<std::int64_t>(job.value));
        const auto most = big_endian(max);
        Parameters parameters;
        parameters.add({id.data(), id.size()});
        parameters.add({most.data(), most.size()});
        connection.send(unremoved_, parameters);
    }
}

// What was owed and paid in one group has no row.
void SmallWriter::write_debts(Connection& connection, const WriteSet& set) {
    for (const auto& [job, is_owed] : set.owed_ends) (is_owed ? owe_end_ : pay_end_).add({job});
    for (const auto& [job, is_owed] : set.owed_removals)
        (is_owed ? owe_removal_ : pay_removal_).add({job});
    for (const auto& [permit, behind] : set.owed_permits) {
        if (behind)
            owe_permit_.add({permit.tenant, code(permit.kind), permit.name, *behind});
        else
            pay_permit_.add({permit.tenant, code(permit.kind), permit.name});
    }
    for (auto* many :
         {&owe_end_, &pay_end_, &owe_removal_, &pay_removal_, &owe_permit_, &pay_permit_})
        many->send(connection);
}

void SmallWriter::add(const SessionRow& s) {
    const auto offer = encode_said(s);
    const auto policy = s.policy ? encode(*s.policy) : std::string{};
    session_.add({s.id,
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

void SmallWriter::write_sessions(Connection& connection, const WriteSet& set) {
    std::map<DirectoryPlace, SessionId> latest;
    for (const auto& [directory, session] : set.directories) latest[directory] = session;
    for (const auto& [directory, session] : latest) {
        const auto& [machine, device, inode] = directory;
        directory_.add({machine, device, inode, session});
    }
    for (const auto* session : set.sessions) add(*session);
    for (const auto& [directory, id] : set.forgotten_sessions) {
        const auto& [machine, device, inode] = directory;
        gone_session_.add({id});
        gone_directory_.add({machine, device, inode, id});  // unless a later session has it
    }
    for (auto* many : {&directory_, &session_, &gone_session_, &gone_directory_})
        many->send(connection);
}

void SmallWriter::write_others(Connection& connection, const WriteSet& set) {
    write_debts(connection, set);
    for (const auto& [id, shape] : set.shapes)
        shape_.add({id, shape.tenant, shape.queue, shape.kind, shape.share, code(shape.submitter)});
    for (const auto& [shape, n] : set.tallies)
        tally_.add({shape, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10]});
    std::map<KeyName, bool> pauses;
    for (const auto& pause : set.pauses) pauses[{pause.tenant, pause.queue}] = pause.paused;
    for (const auto& [name, paused] : pauses) pause_.add({name.first, name.second, paused});
    std::map<Permit, std::int64_t> limits;
    for (const auto& row : set.limits) limits[row.limit] = row.max;
    for (const auto& [limit, max] : limits) limit_.add({limit.tenant, limit.name, max});
    for (auto* many : {&shape_, &tally_, &pause_, &limit_}) many->send(connection);
    write_sessions(connection, set);
}

}  // namespace perdure::store::postgres
