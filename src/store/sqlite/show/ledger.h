// ShowLedger: the entries of `recovery`, newest first, each with what came of it since.
#pragma once

#include "ports/catalogue.h"
#include "store/sqlite/rows/load.h"

namespace perdure::sqlite {

class ShowLedger {
public:
    explicit ShowLedger(Connection& connection);

    RecoveryPage recoveries(const RecoveryFilter& filter);

private:
    void complete(JobRow& job, RecoveryLine& line);

    Connection& connection_;
    Loader load_;
    Statement all_, of_job_;
};

}  // namespace perdure::sqlite
