#include "store/sqlite/damage/scan.h"

#include <algorithm>

#include "store/engine/rows/codec.h"
#include "store/engine/rows/history.h"
#include "store/engine/state/shapes.h"
#include "store/sql/views/ledger_views.h"
#include "store/sqlite/tables/retention_queue.h"
#include "wire/utf8.h"

namespace perdure::store::sqlite {
namespace {

constexpr std::int64_t rows_of_a_page = 500;
// That are read with their jobs, besides.
constexpr std::size_t attempts_of_a_page = 2'000;
constexpr std::int64_t choices_of_two = 1;

void at_most(const Found& row, int column, std::int64_t max) {
    if (row.number(column) < 0 || row.number(column) > max)
        fail_corrupt("a stored choice is unknown");
}
bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto length = static_cast<unsigned char>(text[0]) < 0x80 ? 1 : utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}
void instant(const Found& row, int column) {
    if (!row.is_null(column)) row.at<ServiceTime>(column);
}

}  // namespace

struct DamageScan::Table {
    const char* name;
    const char* columns;  // the primary key first
    void (*look)(DamageScan& scan, const Found& row);
    int job = -1;  // the column with the job that the row belongs to
};

std::vector<DamageScan::Table> DamageScan::tables_of_everybody() {
    using Scan = DamageScan;
    return {
        {"session", "id, tenant, machine, boot, worker",
         [](Scan& s, const Found& r) { s.check_session(r); }},
        {"directory", "machine, device, inode, session",
         [](Scan& s, const Found& r) { s.check_directory(r); }},
        {"shape", "id, tenant, queue, kind, share, submitter",
         [](Scan& s, const Found& r) { s.check_shape(r); }},
        {"tally", "*", [](Scan& s, const Found& r) { s.check_tally(r); }},
        {"queue", "tenant, queue", [](Scan&, const Found&) {}},
        {"limit_max", "tenant, name, max", [](Scan&, const Found& r) { at_most(r, 2, INT32_MAX); }},
        {"owed_thing", "tenant, kind, name, behind",
         [](Scan&, const Found& r) { at_most(r, 1, choices_of_two), at_most(r, 3, INT32_MAX); }},
        {"key_holder", "tenant, key, job", [](Scan& s, const Found& r) { s.check_holder(r, 2); },
         2},
        {"limit_holder", "tenant, name, slot, job",
         [](Scan& s, const Found& r) {
             at_most(r, 2, INT32_MAX);
             s.check_holder(r, 3);
         },
         3},
        {"idempotency", "tenant, key, job, gone_as, kept_until, body_hash, body_hash_high",
         [](Scan& s, const Found& r) { s.check_idempotency(r); }},
        {"forget", "forget_at, job, others",
         [](Scan&, const Found& r) {
             instant(r, 0);
             decode_forget_note(r.job(1), r.bytes(2));
         }},
        {"ready_wake", "wake_at, shape, rank, since",
         [](Scan&, const Found& r) { instant(r, 0), instant(r, 3); }},
    };
}

std::vector<DamageScan::Table> DamageScan::tables_of_jobs() {
    using Scan = DamageScan;
    return {
        {"job", "id", [](Scan& s, const Found& r) { s.check_job(r.job(0)); }, 0},
        {"ready", "shape, rank, since, job, wake_at",
         [](Scan& s, const Found& r) { s.check_asked_for(r, 3), instant(r, 4); }, 3},
        {"line", "job, rank, since",
         [](Scan& s, const Found& r) { s.check_asked_for(r, 0), instant(r, 2); }, 0},
        {"want", "tenant, kind, name, shape, job", [](Scan& s, const Found& r) { s.check_want(r); },
         4},
        {"timer", "job, wake_at", [](Scan& s, const Found& r) { s.check_wake(r, 0, 1); }, 0},
        {"blocked", "job, wake_at, tenant, shape",
         [](Scan& s, const Found& r) { s.check_wake(r, 0, 1), s.check_blocked(r); }, 0},
        {"wait", "job, wake_at", [](Scan& s, const Found& r) { s.check_wake(r, 0, 1); }, 0},
        {"run", "job, wake_at", [](Scan& s, const Found& r) { s.check_wake(r, 0, 1); }, 0},
        {"outcome", "job, rule", [](Scan& s, const Found& r) { s.check_asked_for(r, 0); }, 0},
        {"attempt", "job, epoch, body",
         [](Scan& s, const Found& r) {
             s.check_left_by(r, 0);
             if (decode_attempt(r.bytes(2)).epoch.value != r.bits(1))
                 fail_corrupt("it is of another epoch than it says");
         },
         0},
        {"large", "job, epoch, kind",
         [](Scan& s, const Found& r) {
             s.check_left_by(r, 0), r.small(1), at_most(r, 2, choices_of_two);
         },
         0},
        {"recovery", "id, job, epoch, detector, incident, happened_on, body, cause",
         [](Scan& s, const Found& r) { s.check_ledger(r); }, 1},
        {"awaited", "job, number, other, on_end, state, ended",
         [](Scan& s, const Found& r) { s.check_awaited(r); }, 0},
        {"callback", "parent, number, id, on_end, spec",
         [](Scan& s, const Found& r) {
             s.check_asked_for(r, 0), r.small(1), r.job(2), at_most(r, 3, 2);
             decode_spec(r.bytes(4));
         },
         0},
        {"owed_end", "job", [](Scan& s, const Found& r) { s.check_asked_for(r, 0); }, 0},
        {"owed_removal", "job", [](Scan& s, const Found& r) { s.check_owed_removal(r); }, 0},
        {"made", "parent, generation, number, job",
         [](Scan& s, const Found& r) { s.check_left_by(r, 0), r.small(1), r.small(2), r.job(3); },
         0},
    };
}

const std::vector<DamageScan::Table>& DamageScan::tables() {
    static const std::vector<Table> all = [] {
        auto tables = tables_of_everybody();
        for (auto& table : tables_of_jobs()) tables.push_back(table);
        return tables;
    }();
    return all;
}

DamageScan::DamageScan(Connection& c, DamageBook& book)
    : connection_(c), book_(book), load_(c), relations_(c) {}

bool DamageScan::exists(const char* sql, std::initializer_list<Value> values) {
    Statement statement(connection_, sql);
    return statement.query(values).next();
}

// What a job that is removed has left is owed (C8).
void DamageScan::check_left_by(const Found& row, int column) {
    if (!exists("SELECT 1 FROM owed_removal WHERE job = ?", {row.job(column)}))
        check_asked_for(row, column);
}

void DamageScan::check_asked_for(const Found& row, int column) {
    const auto id = row.job(column);
    if (!exists("SELECT 1 FROM job WHERE id = ?", {id}))
        fail_corrupt("job " + id.text() + " is not there");
}

// Sweeps find it by that instant.
void DamageScan::check_wake(const Found& row, int job, int wake) {
    check_asked_for(row, job);
    instant(row, wake);
    const auto found = load_.job(row.job(job));
    if (found && row.maybe_at<ServiceTime>(wake) != wake_at(*found))
        fail_corrupt("it wakes at another time than it should");
}

void DamageScan::check_blocked(const Found& row) {
    const auto job = load_.job(row.job(0));
    const auto* blocked = job->in<Blocked>();
    const auto& permits = job->permits;
    const bool is_wanted = blocked && (!blocked->on || std::find(permits.begin(), permits.end(),
                                                                 *blocked->on) != permits.end());
    if (!is_wanted || row.bytes(2) != job->spec->tenant || row.number(3) != job->shape)
        fail_corrupt("it waits for something that it does not ask for");
}

void DamageScan::check_want(const Found& row) {
    at_most(row, 1, choices_of_two);
    check_asked_for(row, 4);
    const auto job = load_.job(row.job(4));
    const Permit permit{static_cast<Permit::Kind>(row.number(1)), row.text(0), row.text(2)};
    const auto& permits = job->permits;
    if (row.number(3) != job->shape ||
        std::find(permits.begin(), permits.end(), permit) == permits.end())
        fail_corrupt("it is noted as wanting something that it does not ask for");
}

void DamageScan::check_awaited(const Found& row) {
    check_asked_for(row, 0);
    row.small(1);
    at_most(row, 3, 2);
    if (row.is_null(5)) return check_asked_for(row, 2);
    const auto ended = decode_input(row.bytes(5));
    if (ended.job != row.job(2) || static_cast<std::int64_t>(ended.state) != row.number(4))
        fail_corrupt("it says in two ways how the other one ended");
}

void DamageScan::check_owed_removal(const Found& row) {
    const auto id = row.job(0);
    if (exists("SELECT 1 FROM job WHERE id = ?", {id}))
        fail_corrupt("job " + id.text() + " is there, and what it has left is to be removed");
}

void DamageScan::check_ledger(const Found& row) {
    if (row.counter(0) == 0) fail_corrupt("its number is out of bounds");
    const auto cause = sql::cause_in_ledger(row);
    check_left_by(row, 1);
    const bool is_same =
        row.is_null(7) ? !cause : cause && row.number(7) == static_cast<std::int64_t>(*cause);
    if (!is_same) fail_corrupt("it names two causes");
}

void DamageScan::check_session(const Found& row) {
    const auto session = load_.session(row.session(0));
    if (!session || session->offer.tenant != row.bytes(1))
        fail_corrupt("it is of another tenant than its offer");
}

// The session says the same.
void DamageScan::check_directory(const Found& row) {
    const auto session = load_.session(row.session(3));
    if (!session) fail_corrupt("its session is not there");
    const auto& known = session->directory;
    if (known.machine != row.bytes(0) || known.device != row.bits(1) || known.inode != row.bits(2))
        fail_corrupt("its session has another directory");
}

void DamageScan::check_shape(const Found& row) {
    // Counted once: for each row anew it would take as many steps as all of them have pairs.
    if (shapes_ < 0) shapes_ = connection_.number("SELECT count(*) FROM shape");
    const auto max = Shapes::number_max(shapes_);
    if (row.number(0) < 1 || row.number(0) > max) fail_corrupt("its number is out of bounds");
    at_most(row, 5, static_cast<std::int64_t>(last_submitter_kind));
}

void DamageScan::check_tally(const Found& row) {
    if (!exists("SELECT 1 FROM shape WHERE id = ?", {row.number(0)}))
        fail_corrupt("its shape is not there");
    for (int state = 0; state < static_cast<int>(places.size()); ++state)
        at_most(row, state + 1, Shapes::count_max);
}

void DamageScan::check_holder(const Found& row, int job) {
    const auto id = row.job(job);
    const bool runs = exists("SELECT 1 FROM run WHERE job = ?", {id}) ||
                      exists("SELECT 1 FROM ready WHERE job = ? AND kept_until IS NOT NULL", {id});
    if (!runs) fail_corrupt("job " + id.text() + " neither runs nor keeps it: it counts as taken");
}

void DamageScan::check_idempotency(const Found& row) {
    const auto id = row.job(2);
    instant(row, 4);
    if (!row.is_null(3)) {
        at_most(row, 3, static_cast<std::int64_t>(places.size()) - 1);
        if (!has_ended(static_cast<JobState>(row.number(3))))
            fail_corrupt("job " + id.text() + " is gone and has not ended");
        return;
    }
    check_asked_for(row, 2);
    const auto job = load_.job(id);
    const auto& spec = *job->spec;
    if (spec.tenant != row.bytes(0) || spec.idempotency_key != row.text(1) ||
        job->body_hash != sql::hash_in(row, 5))
        fail_corrupt("job " + id.text() + " was asked for with another key or body");
}

void DamageScan::check_relations(JobRow& job) {
    JobView view{.spec = job.spec};
    relations_.show(job, view);
    auto number = static_cast<std::uint32_t>(job.spec->callbacks.size());
    for (const auto& added : view.added)
        if (added.number != number++) fail_corrupt("one of its callbacks is missing");
}

void DamageScan::check_shape_of(const JobRow& job) {
    Statement shape(connection_,
                    "SELECT tenant, queue, kind, share, submitter FROM shape WHERE id = ?");
    auto row = shape.query({job.shape});
    if (!row.next()) fail_corrupt("its shape is not there");
    const auto& spec = *job.spec;
    if (row.bytes(0) != spec.tenant || row.bytes(1) != spec.queue || row.bytes(2) != spec.kind ||
        row.bytes(3) != spec.share ||
        row.number(4) != static_cast<std::int64_t>(kind_of(spec.submitted_by)))
        fail_corrupt("its shape is of another tenant, queue, kind, share or submitter");
}

void DamageScan::check_limits_of(const JobRow& job) {
    if (has_ended(state_of(job))) return;
    for (const auto& name : job.spec->limits)
        if (!exists("SELECT 1 FROM limit_max WHERE tenant = ? AND name = ?",
                    {job.spec->tenant, name}))
            fail_corrupt("limit `" + name + "` is not there: set it again");
}

// Everything that is read of a job at any time. Attempts that are older than that are looked at as
// rows of their own table.
void DamageScan::check_job(JobId id) {
    auto job = load_.job(id);
    if (!job) fail_corrupt("it is not there");
    const auto attempts = attempts_in(load_, *job, {});
    for (const auto& attempt : attempts) evidence_of(load_, id, attempt);
    attempts_read_ += attempts.size();
    checkpoint_before(load_, *job, job->epoch);
    checkpoint_before(load_, *job, job->epoch.next());
    check_relations(*job);
    if (const auto* run = job->in<Run>(); run && !load_.session(run->session))
        fail_corrupt("it runs in a session that is not there, or cannot be understood");
    check_shape_of(*job);
    check_limits_of(*job);
    if (auto why = book_.why_isolated(id)) fail_corrupt(std::move(*why));
}

std::optional<Damaged> DamageScan::check(const Table& table, const Found& row,
                                         const std::vector<KeyColumn>& columns) {
    std::vector<Damaged> met;
    const auto name = [&] {
        const JobId job{table.job < 0 ? 0 : row.bits(table.job)};
        const bool is_id = job.value > 0 && job.value <= INT64_MAX;
        if (std::string_view(table.name) == "job" && is_id) return damaged_job(job);
        return damaged_row(table.name, row_name(key_in(row, columns)), is_id ? job : JobId{});
    };
    const auto read = [&] {
        for (int i = 0; i < row.columns(); ++i)
            if (row.is_text(i) && !is_utf8(row.bytes(i))) fail_corrupt("a text is no text");
        table.look(*this, row);
        return true;
    };
    if (book_.unless_damaged(read, name, &met)) return std::nullopt;
    return std::move(met.front());
}

DamagePage DamageScan::page_of(const Table& table, const RowKey* after) {
    DamagePage page;
    const auto columns = key_of_table(connection_, table.name);
    const auto sql = std::string("SELECT ") + table.columns + " FROM " + table.name +
                     (after ? " WHERE " + where_key(columns, ">") : "") + " ORDER BY " +
                     names_of(columns) + " LIMIT " + std::to_string(rows_of_a_page);
    Statement statement(connection_, sql.c_str());
    const auto values = after ? values_of(*after) : std::vector<Value>{};
    auto row = statement.query(values.data(), values.size());
    std::int64_t rows = 0;
    attempts_read_ = 0;
    shapes_ = -1;
    while (row.next()) {
        ++rows;
        if (auto found = check(table, row, columns)) page.rows.push_back(std::move(*found));
        const bool is_full = rows == rows_of_a_page || attempts_read_ >= attempts_of_a_page;
        if (!is_full) continue;
        page.next = std::string(table.name) + ":" + row_name(key_in(row, columns));
        break;
    }
    return page;
}

DamagePage DamageScan::page(const std::string& from) {
    Transaction snapshot(connection_, Transaction::Kind::read);
    const auto name = from.substr(0, from.find(':'));
    const auto& all = tables();
    auto table = std::find_if(all.begin(), all.end(),
                              [&](const Table& t) { return from.empty() || name == t.name; });
    if (table == all.end()) return {};
    std::optional<RowKey> after;
    if (from.size() > name.size() + 1)
        after = parse_row_name(key_of_table(connection_, name), from.substr(name.size() + 1));
    auto page = page_of(*table, after ? &*after : nullptr);
    if (!page.next && ++table != all.end()) page.next = std::string(table->name) + ":";
    return page;
}

std::optional<Damaged> DamageScan::damage_of(const std::string& name, const std::string& row) {
    shapes_ = -1;
    const auto& all = tables();
    const auto table =
        std::find_if(all.begin(), all.end(), [&](const Table& t) { return name == t.name; });
    if (table == all.end()) throw Failure{error(Errc::not_found, "there is no table " + name)};
    const auto columns = key_of_table(connection_, name);
    const auto key = parse_row_name(columns, row);
    if (!key) throw Failure{error(Errc::not_found, "that is no name of a row of " + name)};
    const auto sql = std::string("SELECT ") + table->columns + " FROM " + name + " WHERE " +
                     where_key(columns, "=");
    Statement statement(connection_, sql.c_str());
    const auto values = values_of(*key);
    auto found = statement.query(values.data(), values.size());
    if (!found.next()) throw Failure{error(Errc::not_found, "there is no such row")};
    return check(*table, found, columns);
}

std::optional<Damaged> DamageScan::damage_of_job(JobId id) {
    std::vector<Damaged> met;
    const auto read = [&] {
        check_job(id);
        return true;
    };
    if (book_.unless_damaged(
            read, [&] { return damaged_job(id); }, &met))
        return std::nullopt;
    return std::move(met.front());
}

}  // namespace perdure::store::sqlite
