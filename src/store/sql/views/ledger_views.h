// LedgerViews: the entries of `recovery`, newest first, each with what came of it since.
#pragma once

#include "ports/catalogue.h"
#include "store/sql/tables/load.h"

namespace perdure::store::sql {

// A Failure if the row cannot be understood: id, job, epoch, detector, incident, happened_on, body.
std::optional<Cause> cause_in_ledger(const Found& row);

class LedgerViews {
public:
    LedgerViews(Database& database, DamageBook& book);

    RecoveryPage recoveries(const RecoveryFilter& filter);

private:
    std::optional<std::string> worker_of(SessionId id);
    // Empty: it is not wanted.
    std::optional<RecoveryLine> line_of(const Found& row, const std::string& tenant);

    Database& database_;
    DamageBook& book_;
    Loader load_;
    Statement all_, of_job_;
};

}  // namespace perdure::store::sql
