// PostgresTables: the engine's tables in one schema of one PostgreSQL, written by its keeper alone.
// A group is one pipeline: it begins with its own row, which fences it (C1), and ends with COMMIT;
// no answer is waited for in between.
#pragma once

#include <map>

#include "store/engine/damage_book.h"
#include "store/engine/tables.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/db/keeper.h"
#include "store/postgres/tables/group_row.h"
#include "store/postgres/tables/line_reader.h"
#include "store/postgres/tables/load_many.h"
#include "store/postgres/tables/place_writer.h"
#include "store/postgres/tables/small_writer.h"
#include "store/sql/tables/load_relations.h"

namespace perdure::store::postgres {

class PostgresTables : public Tables {
public:
    PostgresTables(Connection& connection, Keeper& keeper, DamageBook& book,
                   std::uint32_t loads_max);

    JobReader& jobs() override { return known_; }
    RelationReader& relations() override { return relations_; }
    LineReader& lines() override { return lines_; }
    Contents contents() override;
    void load(const Wanted& wanted, Loaded& into) override { load_many_.load(wanted, into); }
    // A group leaves the rest to the next one rather than keep everybody waiting (C8).
    std::uint32_t loads_max() const override { return loads_max_; }

    void begin() override;
    void commit() override;
    void write(WriteSet& set, JobId& at) override;
    void write_one_by_one() override { one_by_one_ = true; }
    bool has_job(JobId id) override;

    std::vector<ForgetNote> to_forget(ServiceTime now, std::uint32_t max) override;
    std::vector<KeyName> old_keys(ServiceTime now, std::uint32_t max) override;
    std::uint32_t leftovers(JobId job, std::uint32_t enough) override;

private:
    // What the engine asks for at its start, one by one, was read ahead.
    class KnownJobs final : public JobReader {
    public:
        explicit KnownJobs(sql::Loader& load) : load_(load) {}
        std::optional<JobRow> job(JobId id) override;
        std::vector<AttemptRow> history(JobId job, Epoch from, Epoch before) override {
            return load_.history(job, from, before);
        }
        std::string large(AttemptKey attempt, Large kind) override {
            return load_.large(attempt, kind);
        }
        std::optional<IdempotencyRow> idempotency(const std::string& tenant,
                                                  const std::string& key) override {
            return load_.idempotency(tenant, key);
        }

        LoadedRows<JobId, std::optional<JobRow>> ahead;

    private:
        sql::Loader& load_;
    };

    Connection& connection_;
    Keeper& keeper_;
    DamageBook& book_;
    std::uint32_t loads_max_;
    sql::Loader load_;
    KnownJobs known_;
    sql::RelationLoader relations_;
    LoadMany load_many_;
    PlaceWriter places_;
    SmallWriter small_;
    PostgresLines lines_;
    GroupRow group_;
    std::map<ServerId, ServerRow> servers_;
    ServiceRow service_;
    sql::Statement has_job_, to_forget_, old_keys_, unremoved_;
    bool one_by_one_ = false;
};

}  // namespace perdure::store::postgres
