#include "store/sql/views/catalogue_views.h"

#include <algorithm>
#include <map>
#include <utility>

#include "store/engine/people_views.h"

namespace perdure::store::sql {
namespace {

// A count that cannot be must not be added up.
constexpr std::int64_t jobs_most = 1'000'000'000'000;
constexpr int first_count = 3;  // the column of the first state's count
constexpr int submitter_column = first_count + static_cast<int>(places.size());
constexpr int shape_column = submitter_column + 1;

bool add_counts(const Found& row, QueueLine& line) {
    bool any = false;
    for (std::size_t state = 0; state < places.size(); ++state) {
        const auto jobs = row.number(first_count + static_cast<int>(state));
        if (jobs < 1 || jobs > jobs_most) continue;
        line.jobs[state] += static_cast<std::uint64_t>(jobs);
        any = true;
    }
    return any;
}

}  // namespace

CatalogueViews::CatalogueViews(Database& c, const Timing& timing, DamageBook& book)
    : database_(c),
      timing_(timing),
      book_(book),
      load_(c),
      shape_(c, "SELECT tenant, queue, kind FROM shape WHERE id = ?"),
      shapes_with_ready_(c,
                         "SELECT s.id, t.ready, s.kind FROM shape s LEFT JOIN tally t ON t.shape ="
                         " s.id WHERE s.tenant = ? AND s.queue BETWEEN ? AND ? ORDER BY s.queue"
                         " LIMIT ?"),
      ready_(c, "SELECT job FROM ready WHERE shape = ? AND job < ? LIMIT ?"),
      first_ready_(c,
                   "SELECT rank, since FROM ready WHERE shape = ? AND rank > ? ORDER BY rank, since"
                   " LIMIT 1"),
      queues_(c,
              "SELECT s.queue, s.kind, s.share, t.scheduled, t.ready, t.blocked, t.starting,"
              " t.running, t.waiting, t.succeeded, t.failed, t.cancelled, t.expired, t.quarantined,"
              " s.submitter, s.id FROM shape s LEFT JOIN tally t ON t.shape = s.id"
              " WHERE s.tenant = ? AND (s.queue, s.kind, s.share, s.submitter) > (?, ?, ?, ?)"
              " ORDER BY s.queue, s.kind, s.share, s.submitter LIMIT ?"),
      paused_(c,
              "SELECT queue, paused FROM queue WHERE tenant = ? AND queue >= ? ORDER BY queue"
              " LIMIT ?"),
      limits_(c,
              "SELECT name, max FROM limit_max WHERE tenant = ? AND name >= ? ORDER BY name"
              " LIMIT ?"),
      taken_(c,
             "SELECT count(*), max(slot) FROM (SELECT slot FROM limit_holder WHERE tenant = ?"
             " AND name = ? AND slot > ? ORDER BY slot LIMIT ?) AS some_of_them"),
      running_(c, "SELECT job, session FROM run WHERE job > ? ORDER BY job LIMIT ?"),
      sessions_(c, "SELECT id, is_open FROM session WHERE id > ? ORDER BY id LIMIT ?"),
      key_holder_(c, "SELECT job FROM key_holder WHERE tenant = ? AND key = ? LIMIT ?"),
      limit_holders_(c,
                     "SELECT job FROM limit_holder WHERE tenant = ? AND name = ? ORDER BY slot"
                     " LIMIT ?") {}

std::optional<SessionRow> CatalogueViews::readable_session(SessionId id) {
    auto read = book_.unless_damaged(
        [&] { return load_.session(id); },
        [&] {
            return damaged_row("session", std::to_string(static_cast<std::int64_t>(id.value)));
        });
    return read ? std::move(*read) : std::nullopt;
}

std::optional<std::string> CatalogueViews::worker_of(SessionId id) {
    auto session = readable_session(id);
    if (!session) return std::nullopt;
    return std::move(session->worker);
}

// Two tables by name: one says how many jobs a queue has, the other whether it is paused. The piece
// ends where the first of them has to stop.
QueuePiece CatalogueViews::queues(const std::string& tenant, const QueuePlace& after) {
    Transaction snapshot(database_, Transaction::Kind::read);
    std::map<std::string, QueueLine> lines;
    QueuePiece piece;
    std::uint32_t rows = 0;
    std::string last_paused;
    auto paused = paused_.query({tenant, after.queue, piece_rows_max});
    while (paused.next()) {
        last_paused = paused.text(0);
        const bool is_behind = behind_queue(last_paused) > after;
        if (paused.flag(1) && is_behind) lines[last_paused].paused = true;
        ++rows;
    }
    if (rows == piece_rows_max) piece.next = behind_queue(last_paused);
    rows = 0;
    auto row = queues_.query(
        {tenant, after.queue, after.kind, after.share, after.submitter, piece_rows_max});
    while (row.next()) {
        const QueuePlace at{row.text(0), row.text(1), row.text(2), row.number(submitter_column)};
        if (piece.next && at > *piece.next) break;
        QueueLine counted;
        if (add_counts(row, counted)) add_counts(row, lines[at.queue]);
        const auto ready = counted.jobs[static_cast<std::size_t>(JobState::ready)];
        if (ready > 0)
            if (const auto oldest = oldest_ready(row.number(shape_column), rows))
                lines[at.queue].add_ready(at.kind, ready, *oldest);
        if (++rows >= piece_rows_max) {
            piece.next = at;
            break;
        }
    }
    for (auto& [name, line] : lines) {
        if (piece.next && name > piece.next->queue) break;
        line.queue = name;
        piece.queues.push_back(line);
    }
    return piece;
}

// A line is in order of priorities, and within each of them in order of time.
std::optional<ServiceTime> CatalogueViews::oldest_ready(ShapeId shape, std::uint32_t& rows) {
    std::optional<ServiceTime> oldest;
    std::int64_t rank = -1;
    while (true) {
        auto row = first_ready_.query({shape, rank});
        if (!row.next() || row.number(0) <= rank) return oldest;
        rank = row.number(0);
        const ServiceTime since{row.number(1)};
        oldest = std::min(oldest.value_or(since), since);
        ++rows;
    }
}

LimitPiece CatalogueViews::limits(const std::string& tenant, const LimitPlace& from) {
    Transaction snapshot(database_, Transaction::Kind::read);
    LimitPiece piece;
    std::uint32_t rows = 0;
    auto row = limits_.query({tenant, from.name, piece_rows_max});
    while (row.next()) {
        const auto name = row.text(0);
        if (rows >= piece_rows_max) {
            piece.next = LimitPlace{name, 0};
            return piece;
        }
        const auto behind = name == from.name ? from.slot : 0;
        auto taken = taken_.query({tenant, name, behind, piece_rows_max - rows});
        const auto found = taken.next() ? static_cast<std::uint32_t>(taken.number(0)) : 0;
        const auto max = row.number(1) > INT32_MAX ? 0 : static_cast<std::uint32_t>(row.number(1));
        piece.limits.push_back({name, max, found});
        if (found == piece_rows_max - rows) {
            piece.next = LimitPlace{name, static_cast<std::uint32_t>(taken.number(1))};
            return piece;
        }
        rows += found + 1;
    }
    return piece;
}

RunPiece CatalogueViews::running(JobId after) {
    RunPiece piece;
    std::uint32_t rows = 0;
    auto row = running_.query({after, piece_rows_max});
    while (row.next()) {
        ++piece.running[SessionId{row.bits(1)}];
        if (++rows == piece_rows_max) piece.next = JobId{row.bits(0)};
    }
    return piece;
}

WorkerPiece CatalogueViews::workers(const WorkerQuery& query) {
    Transaction snapshot(database_, Transaction::Kind::read);
    WorkerPiece piece{.workers = {}, .clock = load_.service().clock, .next = {}};
    const RunCounts none;
    const auto& running = query.running ? *query.running : none;
    std::uint32_t rows = 0;
    auto row = sessions_.query({query.after, piece_rows_max});
    while (row.next()) {
        const SessionId id{row.bits(0)};
        if (++rows == piece_rows_max) piece.next = id;
        if (!row.flag(1)) continue;
        const auto session = readable_session(id);
        if (!session || (query.tenant && !serves_tenant(session->offer, *query.tenant))) continue;
        const auto found = running.find(id);
        const auto count = found == running.end() ? 0 : found->second;
        if (auto line = worker_line(*session, count, piece.clock.now, timing_))
            piece.workers.push_back(std::move(*line));
    }
    return piece;
}

std::vector<JobId> CatalogueViews::holders(const Permit& permit, std::uint32_t max) {
    std::vector<JobId> jobs;
    auto& statement = permit.kind == Permit::Kind::key ? key_holder_ : limit_holders_;
    auto row = statement.query({permit.tenant, permit.name, max});
    while (row.next()) jobs.emplace_back(row.bits(0));
    return jobs;
}

}  // namespace perdure::store::sql
