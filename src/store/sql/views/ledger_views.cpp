#include "store/sql/views/ledger_views.h"

#include <utility>

#include "ports/ledger_walk.h"
#include "store/engine/people_views.h"
#include "store/engine/rows/codec.h"

namespace perdure::store::sql {
namespace {

// ?1: only older entries; ?2: how many. What is wanted of them is looked for here and not by a
// statement, which would not return before it has found it.
constexpr const char* all_entries =
    "SELECT id, job, epoch, detector, incident, happened_on, body, cause FROM recovery"
    " WHERE id < ?1 ORDER BY id DESC LIMIT ?2";
constexpr const char* entries_of_job =
    "SELECT id, job, epoch, detector, incident, happened_on, body, cause FROM recovery"
    " WHERE id < ?1 AND job = ?3 ORDER BY id DESC LIMIT ?2";

// As it stands there: an entry whose date cannot be one is told apart where it is read whole.
WallTime date_of(const Found& row) { return WallTime{row.number(5)}; }

bool is_wanted_row(const RecoveryFilter& filter, const Found& row) {
    std::optional<Cause> cause;
    if (!row.is_null(7)) cause = static_cast<Cause>(row.number(7));
    return is_wanted(filter, {.detector = static_cast<Detector>(row.number(3)),
                              .incident = static_cast<Incident>(row.number(4)),
                              .cause = cause,
                              .on = date_of(row)});
}

Recovery entry_of(const Found& row) {
    auto entry = decode_recovery(row.bytes(6));
    if (row.bits(3) >= detector_names.size() || row.bits(4) >= incident_names.size())
        fail_corrupt("a stored repair is of an unknown kind");
    entry.id = row.natural(0);
    entry.attempt = {row.job(1), Epoch{row.small(2)}};
    entry.detector = static_cast<Detector>(row.number(3));
    entry.incident = static_cast<Incident>(row.number(4));
    entry.on = row.at<WallTime>(5);
    return entry;
}

}  // namespace

std::optional<Cause> cause_in_ledger(const Found& row) {
    const auto entry = entry_of(row);
    if (!entry.end) return std::nullopt;
    return entry.end->cause;
}

LedgerViews::LedgerViews(Database& c, DamageBook& book)
    : database_(c), book_(book), load_(c), all_(c, all_entries), of_job_(c, entries_of_job) {}

std::optional<std::string> LedgerViews::worker_of(SessionId id) {
    const auto session =
        book_.unless_damaged([&] { return load_.session(id); },
                             [&] { return damaged_row("session", std::to_string(id.value)); });
    if (!session || !*session) return std::nullopt;
    return (*session)->worker;
}

std::optional<RecoveryLine> LedgerViews::line_of(const Found& row, const std::string& tenant) {
    auto entry = entry_of(row);
    auto job = load_.job(entry.attempt.job);
    if (!job || job->spec->tenant != tenant) return std::nullopt;
    return recovery_line(std::move(entry), *job, load_,
                         [&](SessionId id) { return worker_of(id); });
}

RecoveryPage LedgerViews::recoveries(const RecoveryFilter& filter) {
    Transaction snapshot(database_, Transaction::Kind::read);
    RecoveryPage page;
    const auto before = filter.before.value_or(INT64_MAX);
    auto row = filter.job ? of_job_.query({before, ledger_walk_max + 1, *filter.job})
                          : all_.query({before, ledger_walk_max + 1});
    std::uint64_t last = 0;
    for (std::uint32_t walked = 0; row.next(); ++walked) {
        if (walked == ledger_walk_max) {
            page.next = last;
            break;
        }
        // A date that cannot be one ends no walk: whoever stands behind it is shown.
        const auto on = date_of(row);
        if (on > WallTime{} && is_long_before(filter, on)) break;
        last = row.bits(0);
        if (!is_wanted_row(filter, row)) continue;
        auto found = book_.unless_damaged(
            [&] { return line_of(row, filter.tenant); },
            [&] { return damaged_row("recovery", std::to_string(row.number(0))); }, &page.damaged);
        if (!found || !*found) continue;
        if (page.recoveries.size() == filter.limit) {
            page.next = page.recoveries.back().entry.id;
            break;
        }
        page.recoveries.push_back(std::move(**found));
    }
    return page;
}

}  // namespace perdure::store::sql
