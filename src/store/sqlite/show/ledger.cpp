#include "store/sqlite/show/ledger.h"

#include <algorithm>

#include "ports/ledger_walk.h"
#include "store/sqlite/rows/codec.h"

namespace perdure::sqlite {
namespace {

// ?1: only older entries; ?2: how many. What is wanted of them is looked for here and not by a
// statement, which would not return before it has found it.
constexpr const char* all_entries =
    "SELECT id, job, epoch, detector, incident, happened_on, body, cause FROM recovery"
    " WHERE id < ?1 ORDER BY id DESC LIMIT ?2";
constexpr const char* entries_of_job =
    "SELECT id, job, epoch, detector, incident, happened_on, body, cause FROM recovery"
    " WHERE id < ?1 AND job = ?3 ORDER BY id DESC LIMIT ?2";

bool is_wanted_row(const RecoveryFilter& filter, const Found& row) {
    std::optional<Cause> cause;
    if (!row.is_null(7)) cause = static_cast<Cause>(row.number(7));
    return is_wanted(filter, {.detector = static_cast<Detector>(row.number(3)),
                              .incident = static_cast<Incident>(row.number(4)),
                              .cause = cause,
                              .on = row.at<WallTime>(5)});
}

Recovery entry_of(const Found& row) {
    auto entry = decode_recovery(row.bytes(6));
    if (row.natural(3) >= detector_names.size() || row.natural(4) >= incident_names.size())
        fail_corrupt("a stored repair is of an unknown kind");
    entry.id = row.natural(0);
    entry.attempt = {JobId{row.natural(1)}, Epoch{static_cast<std::uint32_t>(row.number(2))}};
    entry.detector = static_cast<Detector>(row.number(3));
    entry.incident = static_cast<Incident>(row.number(4));
    entry.on = row.at<WallTime>(5);
    return entry;
}

}  // namespace

ShowLedger::ShowLedger(Connection& c)
    : connection_(c), load_(c), all_(c, all_entries), of_job_(c, entries_of_job) {}

void ShowLedger::complete(JobRow& job, RecoveryLine& line) {
    const auto& entry = line.entry;
    const bool again = runs_again(entry.repair);
    if (!again && !is_brought_back(entry.repair)) return;
    load_.load_history(job);
    const auto found =
        std::find_if(job.attempts.begin(), job.attempts.end(), [&](const AttemptRow& attempt) {
            return again ? attempt.epoch > entry.attempt.epoch
                         : attempt.epoch == entry.attempt.epoch;
        });
    if (found == job.attempts.end()) return;
    line.epoch_after = found->epoch;
    if (const auto session = load_.session(found->session())) line.worker_after = session->worker;
    line.acted_on = again ? found->started_on.value_or(found->claimed_on) : entry.on;
}

RecoveryPage ShowLedger::recoveries(const RecoveryFilter& filter) {
    Transaction snapshot(connection_, Transaction::Kind::read);
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
        if (is_long_before(filter, row.at<WallTime>(5))) break;
        last = row.natural(0);
        if (!is_wanted_row(filter, row)) continue;
        RecoveryLine line{.entry = entry_of(row)};
        auto job = load_.job(line.entry.attempt.job);
        if (!job || job->spec->tenant != filter.tenant) continue;
        if (page.recoveries.size() == filter.limit) {
            page.next = page.recoveries.back().entry.id;
            break;
        }
        complete(*job, line);
        page.recoveries.push_back(std::move(line));
    }
    return page;
}

}  // namespace perdure::sqlite
