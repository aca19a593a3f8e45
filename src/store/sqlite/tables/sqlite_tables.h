// SqliteTables: the engine's tables in one SQLite file, through the one connection that writes.
#pragma once

#include <optional>

#include "base/assert.h"
#include "store/engine/damage_book.h"
#include "store/engine/tables.h"
#include "store/sql/tables/load.h"
#include "store/sql/tables/load_relations.h"
#include "store/sqlite/db/connection.h"
#include "store/sqlite/tables/place_tables.h"
#include "store/sqlite/tables/small_tables.h"
#include "store/sqlite/tables/unremoved_rows.h"

namespace perdure::store::sqlite {

class SqliteTables : public Tables {
public:
    SqliteTables(Connection& connection, DamageBook& book);

    JobReader& jobs() override { return load_; }
    RelationReader& relations() override { return relations_; }
    LineReader& lines() override { return places_.lines(); }
    Contents contents() override;

    void begin() override;
    void commit() override;
    void write(WriteSet& set, JobId& at) override;
    bool takes_notes() const override;
    bool write_note(const IdleNote& note) override;
    void write_one_by_one() override { places_.write_one_by_one(); }
    bool has_job(JobId id) override;
    // In simulations: there a late load is a broken invariant (G1).
    void forbid_late_loads() { forbids_late_loads_ = true; }
    void note_late_load() override { PERDURE_ASSERT(!forbids_late_loads_); }

    std::vector<ForgetNote> to_forget(ServiceTime now, std::uint32_t max) override {
        return places_.to_forget(now, max);
    }
    std::vector<KeyName> old_keys(ServiceTime now, std::uint32_t max) override {
        return small_.old_keys(now, max);
    }
    std::uint32_t leftovers(JobId job, std::uint32_t enough) override {
        return unremoved_.count(job, enough);
    }

private:
    Connection& connection_;
    DamageBook& book_;
    sql::Loader load_;
    sql::RelationLoader relations_;
    PlaceTables places_;
    SmallTables small_;
    UnremovedRows unremoved_;
    std::optional<Transaction> transaction_;
    bool forbids_late_loads_ = false;
};

}  // namespace perdure::store::sqlite
