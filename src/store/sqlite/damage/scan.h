// DamageScan: looks at the rows of every table, one after the other, and names those that cannot be
// understood (C9): a value out of its bounds, bytes that say nothing, a row that names a job,
// session or shape that is not there. What could be meant as it stands is not damage.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ports/damage.h"
#include "store/sql/tables/load.h"
#include "store/sql/tables/load_relations.h"
#include "store/sqlite/damage/row_key.h"

namespace perdure::store::sqlite {

using sql::Loader;
using sql::RelationLoader;

class DamageScan {
public:
    DamageScan(Connection& connection, DamageBook& book);

    // The next rows behind `from`, which is a page's `next`, or empty.
    DamagePage page(const std::string& from);
    // Why this row cannot be understood; nothing if it can. not_found: a Failure.
    std::optional<Damaged> damage_of(const std::string& table, const std::string& row);
    // The same for all rows of a job.
    std::optional<Damaged> damage_of_job(JobId id);

    // For the checks of single tables.
    void check_job(JobId id);
    void check_asked_for(const Found& row, int column);
    void check_left_by(const Found& row, int column);
    void check_owed_removal(const Found& row);
    void check_wake(const Found& row, int job, int wake);
    void check_blocked(const Found& row);
    void check_want(const Found& row);
    void check_awaited(const Found& row);
    void check_ledger(const Found& row);
    void check_session(const Found& row);
    void check_directory(const Found& row);
    void check_shape(const Found& row);
    void check_tally(const Found& row);
    void check_holder(const Found& row, int job);
    void check_idempotency(const Found& row);

private:
    struct Table;
    static std::vector<Table> tables_of_everybody();
    static std::vector<Table> tables_of_jobs();
    static const std::vector<Table>& tables();

    DamagePage page_of(const Table& table, const RowKey* after);
    std::optional<Damaged> check(const Table& table, const Found& row,
                                 const std::vector<KeyColumn>& columns);
    bool exists(const char* sql, std::initializer_list<Value> values);
    void check_relations(JobRow& job);
    void check_shape_of(const JobRow& job);
    void check_limits_of(const JobRow& job);

    Connection& connection_;
    DamageBook& book_;
    Loader load_;
    RelationLoader relations_;
    std::size_t attempts_read_ = 0;  // for this page, with their jobs
    std::int64_t shapes_ = -1;       // counted for this page; below zero: not yet
};

}  // namespace perdure::store::sqlite
