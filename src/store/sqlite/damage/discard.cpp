#include "store/sqlite/damage/discard.h"

#include "store/engine/apply/job_relations.h"
#include "store/engine/apply/moves.h"
#include "store/engine/rows/codec.h"
#include "store/sqlite/damage/scan.h"
#include "store/sqlite/tables/sqlite_tables.h"
#include "store/sqlite/tables/unremoved_rows.h"

namespace perdure::store::sqlite {
namespace {

constexpr std::uint32_t removed_at_once_max = 5'000;

// What has to be looked at again when the rows are gone.
struct Freed {
    std::vector<Permit> permits;
    std::vector<JobId> waiters;
};

class Discard {
public:
    Discard(Connection& connection, const Timing& timing, DamageBook& book)
        : connection_(connection), timing_(timing), book_(book), scan_(connection, book) {}

    Result<void> run(const DiscardDamaged& what);

private:
    Result<void> remove(const DiscardDamaged& what);
    Result<void> remove_job(JobId id, const DiscardDamaged& what);
    Result<void> remove_row(const DiscardDamaged& what);
    void remove_places(JobId id, ShapeId shape);
    void remove_notes(JobId id);
    void notify_waiters(JobId id);
    void free_holders(JobId id);
    void count_one_less(ShapeId shape, std::int64_t state);
    void recount(ShapeId shape);
    void end_session(SessionId id);
    int run(const char* sql, std::initializer_list<Value> values) {
        return Statement(connection_, sql).run(values);
    }
    std::optional<std::int64_t> number(const char* sql, const Value& value);
    void go_on();

    Connection& connection_;
    Timing timing_;
    DamageBook& book_;
    DamageScan scan_;
    Freed freed_;
};

Error not_damaged() { return error(Errc::conflict, "it is not damaged: nothing was removed"); }

std::optional<std::int64_t> Discard::number(const char* sql, const Value& value) {
    Statement statement(connection_, sql);
    auto row = statement.query({value});
    if (!row.next() || row.is_null(0)) return std::nullopt;
    return row.number(0);
}

void Discard::count_one_less(ShapeId shape, std::int64_t state) {
    if (state < 0 || state >= static_cast<std::int64_t>(places.size()))
        return;  // nor was it counted
    const auto name = std::string(places[static_cast<std::size_t>(state)].name);
    const auto sql =
        "UPDATE tally SET " + name + " = " + name + " - 1 WHERE shape = ? AND " + name + " > 0";
    run(sql.c_str(), {shape});
}

void Discard::remove_places(JobId id, ShapeId shape) {
    const auto run_state = number("SELECT state FROM run WHERE job = ?", id);
    const auto end_state = number("SELECT state FROM outcome WHERE job = ?", id);
    if (run("DELETE FROM run WHERE job = ?", {id}) > 0) count_one_less(shape, *run_state);
    if (run("DELETE FROM outcome WHERE job = ?", {id}) > 0) count_one_less(shape, *end_state);
    const auto leave = [&](const char* sql, JobState state) {
        const bool left = run(sql, {id}) > 0;
        if (left) count_one_less(shape, static_cast<std::int64_t>(state));
        return left;
    };
    bool found = run_state || end_state;
    found |= leave("DELETE FROM timer WHERE job = ?", JobState::scheduled);
    found |= leave("DELETE FROM blocked WHERE job = ?", JobState::blocked);
    found |= leave("DELETE FROM wait WHERE job = ?", JobState::waiting);
    if (found) return;
    // Nobody knows in which line: all of them are looked through.
    leave("DELETE FROM ready WHERE job = ?", JobState::ready);
    run("DELETE FROM want WHERE job = ?", {id});
}

void Discard::remove_notes(JobId id) {
    for (const auto* sql :
         {"DELETE FROM line WHERE job = ?", "DELETE FROM awaited WHERE job = ?",
          "DELETE FROM callback WHERE parent = ?", "DELETE FROM idempotency WHERE job = ?",
          "DELETE FROM owed_end WHERE job = ?"})
        run(sql, {id});
    // Of the rest, what one transaction can remove (C8).
    UnremovedRows leftovers(connection_);
    leftovers.remove({id, removed_at_once_max});
    if (leftovers.count(id, 1) > 0)
        run("INSERT OR REPLACE INTO owed_removal (job) VALUES (?)", {id});
}

// To those who wait for it, it was cancelled.
void Discard::notify_waiters(JobId id) {
    Statement waiters(connection_,
                      "SELECT DISTINCT job FROM awaited WHERE other = ? AND state IS NULL");
    auto row = waiters.query({id});
    while (row.next()) freed_.waiters.push_back({row.bits(0)});
    const Input ended{.job = id, .state = JobState::cancelled, .cause = Cause::corrupt};
    const auto bytes = encode(ended);
    run("UPDATE awaited SET state = ?, ended = ? WHERE other = ? AND state IS NULL",
        {static_cast<int>(ended.state), Value::blob(bytes), id});
}

void Discard::free_holders(JobId id) {
    Statement keys(connection_, "SELECT tenant, key FROM key_holder WHERE job = ?");
    auto key = keys.query({id});
    while (key.next()) freed_.permits.push_back({Permit::Kind::key, key.text(0), key.text(1)});
    Statement limits(connection_, "SELECT tenant, name FROM limit_holder WHERE job = ?");
    auto limit = limits.query({id});
    while (limit.next())
        freed_.permits.push_back({Permit::Kind::limit, limit.text(0), limit.text(1)});
    run("DELETE FROM key_holder WHERE job = ?", {id});
    run("DELETE FROM limit_holder WHERE job = ?", {id});
}

Result<void> Discard::remove_job(JobId id, const DiscardDamaged& what) {
    const auto shape = number("SELECT shape FROM job WHERE id = ?", id);
    if (!shape) return error(Errc::not_found, "there is no job " + id.text());
    if (!scan_.damage_of_job(id)) return not_damaged();
    const bool runs = number("SELECT 1 FROM run WHERE job = ?", id).has_value();
    if (runs && !what.may_still_run)
        return error(Errc::conflict,
                     "its process may still run: stop its worker first, and then say so"
                     " (--may-still-run)");
    remove_places(id, *shape);
    remove_notes(id);
    notify_waiters(id);
    free_holders(id);
    run("DELETE FROM job WHERE id = ?", {id});
    return {};
}

// Whatever runs there is given up by the sweep when nobody can hold it any more: its worker got no
// renewal since the row could not be understood.
void Discard::end_session(SessionId id) {
    Statement lease(connection_,
                    "INSERT OR REPLACE INTO session (id, machine, boot, device, inode, life,"
                    " worker, is_open, stream, assignments, heartbeat, content_hash, seen,"
                    " renewal, slots, tenant, offer, lease_deadline, heard_at, given_up, policy)"
                    " VALUES (?, ?, '', 0, ?, 0, 'damaged', 0, 0, 0, 0, 0, 0, 1, 0, 'default', ?,"
                    " (SELECT now_at FROM service) + ?, (SELECT now_at FROM service), 0, NULL)");
    const auto offer = encode_said(SessionRow{});
    lease.run_one({id, "damaged " + id.text(), id, Value::blob(offer), timing_.lease.us});
}

void Discard::recount(ShapeId shape) {
    run("DELETE FROM tally WHERE shape = ?", {shape});
    run("INSERT INTO tally SELECT ?1, sum(state = 0), sum(state = 1), sum(state = 2),"
        " sum(state = 3), sum(state = 4), sum(state = 5), sum(state = 6), sum(state = 7),"
        " sum(state = 8), sum(state = 9), sum(state = 10) FROM ("
        " SELECT 0 AS state FROM timer t JOIN job j ON j.id = t.job WHERE j.shape = ?1"
        " UNION ALL SELECT 1 FROM ready WHERE shape = ?1"
        " UNION ALL SELECT 2 FROM blocked WHERE shape = ?1"
        " UNION ALL SELECT 5 FROM wait w JOIN job j ON j.id = w.job WHERE j.shape = ?1"
        " UNION ALL SELECT r.state FROM run r JOIN job j ON j.id = r.job WHERE j.shape = ?1"
        " UNION ALL SELECT o.state FROM outcome o JOIN job j ON j.id = o.job WHERE j.shape = ?1)"
        " WHERE EXISTS (SELECT 1 FROM shape WHERE id = ?1) HAVING count(*) > 0",
        {shape});
}

Result<void> Discard::remove_row(const DiscardDamaged& what) {
    const auto found = scan_.damage_of(what.table, what.row);
    if (!found) return not_damaged();
    const bool is_holder = what.table == "key_holder" || what.table == "limit_holder";
    const auto key = *parse_row_name(key_of_table(connection_, what.table), what.row);
    if (what.table == "session") {
        const SessionId id{static_cast<std::uint64_t>(std::get<std::int64_t>(key[0]))};
        if (number("SELECT 1 FROM run WHERE session = ?", id)) {
            end_session(id);
            return {};
        }
        run("DELETE FROM directory WHERE session = ?", {id});
    }
    const bool is_asked_for =
        found->job && number("SELECT 1 FROM job WHERE id = ?", found->job).has_value();
    // An entry of the ledger, or a note of what a job wants, says nothing about its job.
    const bool is_apart = is_holder || what.table == "recovery" || what.table == "want";
    if (is_asked_for && !is_apart)
        return error(Errc::conflict, "it belongs to job " + found->job.text() +
                                         ": discard that (perdure job discard --damaged)");
    if (is_holder)
        freed_.permits.push_back(
            {what.table == "key_holder" ? Permit::Kind::key : Permit::Kind::limit,
             std::get<std::string>(key[0]), std::get<std::string>(key[1])});
    const auto sql = "DELETE FROM " + what.table + " WHERE " +
                     where_key(key_of_table(connection_, what.table), "=");
    Statement remove(connection_, sql.c_str());
    const auto values = values_of(key);
    remove.run(values.data(), values.size());
    return {};
}

Result<void> Discard::remove(const DiscardDamaged& what) {
    if (what.table == "tally") {
        const auto key = parse_row_name({{"shape"}}, what.row);
        if (!key) return error(Errc::not_found, "there is no such row");
        recount(std::get<std::int64_t>(key->front()));
        return {};
    }
    const auto job = what.table == "job" ? JobId::parse(what.row) : std::nullopt;
    return job ? remove_job(*job, what) : remove_row(what);
}

// What was freed is offered to those who wait for it, and what waited for the job goes on.
void Discard::go_on() {
    SqliteTables tables(connection_, book_);
    State state(tables, timing_, QueueWeights{}, book_);
    state.room = timing_.group_room;
    for (const auto& permit : freed_.permits) restore_line(state, permit);
    for (const auto id : freed_.waiters)
        if (auto* waiter = state.readable(id)) check_waiter(state, *waiter);
    run_end_effects(state);
    state.save_all();
}

Result<void> Discard::run(const DiscardDamaged& what) {
    Transaction transaction(connection_, Transaction::Kind::write);
    auto removed = remove(what);
    if (!removed) return removed;
    book_.clear();
    go_on();
    transaction.commit();
    return {};
}

}  // namespace

Result<void> discard(Connection& connection, const Timing& timing, DamageBook& book,
                     const DiscardDamaged& what) {
    return Discard(connection, timing, book).run(what);
}

}  // namespace perdure::store::sqlite
