// LoadMany: rows by sets of keys. All that a group asks for at once goes out as one pipeline and
// comes back in one round trip, however many rows there are. Every row is found by its key, one
// after the other: no statement leaves the planner a choice.
#pragma once

#include <map>
#include <vector>

#include "store/engine/tables.h"
#include "store/postgres/db/many.h"
#include "store/postgres/db/prepared.h"
#include "store/sql/tables/load.h"

namespace perdure::store::postgres {

class LoadMany {
public:
    LoadMany(Connection& connection, sql::Loader& load);

    void load(const Wanted& wanted, Loaded& into);
    // Those that run, or keep their permits: what a keeper must know at its start.
    void load_running(LoadedRows<JobId, std::optional<JobRow>>& into);

private:
    using Jobs = LoadedRows<JobId, std::optional<JobRow>>;
    struct PlaceStatement {
        void (*put)(const sql::Found& row, JobRow& job);
        int job;  // its column
        Many by_job;
    };

    void send_jobs(const std::set<JobId>& ids);
    void take_jobs(const std::set<JobId>& ids, Jobs& into);
    void load_history(const Wanted& wanted, Loaded& into);
    void load_large(const Wanted& wanted, Loaded& into);
    void load_keys(const Wanted& wanted, Loaded& into);
    void load_relations(const Wanted& wanted, Loaded& into);
    void load_waiters(const Wanted& wanted, Loaded& into);
    void load_made(const Wanted& wanted, Loaded& into);
    void load_permits(const Wanted& wanted, Loaded& into);

    Connection& connection_;
    sql::Loader& load_;
    Many asked_;
    std::vector<PlaceStatement> places_;
    Many history_, large_, keys_, facts_, awaited_, waiters_, added_, made_;
    PreparedStatement shapes_blocked_, blocked_, wanting_, running_;
    // What was answered, until it is taken.
    ResultPtr asked_rows_;
    std::vector<ResultPtr> place_rows_;
};

}  // namespace perdure::store::postgres
