// RelationLoader: reads what jobs wait for, and their callbacks, from one connection (K1 to K3).
#pragma once

#include <optional>
#include <vector>

#include "ports/views.h"
#include "store/engine/tables.h"
#include "store/sql/statement.h"

namespace perdure::store::sql {

// Columns on_end, state, other.
KnownAwaited known_awaited_of(const Found& row, JobId job);
// Columns other, on_end, ended.
AwaitedView awaited_of(const Found& row);
// Columns id, number, since_generation, on_end, spec.
AddedRow added_of(const Found& row);

class RelationLoader : public RelationReader {
public:
    explicit RelationLoader(Database& database);

    std::vector<KnownAwaited> facts(JobId job) override;
    std::vector<AwaitedView> awaited(JobId job) override;
    std::vector<JobId> waiters(JobId other, std::uint32_t max) override;
    std::vector<AddedRow> added(JobId parent) override;
    std::vector<MadeCallback> all_made(JobId parent);
    std::optional<JobId> made(const CallbackOf& of) override;
    void show(const JobRow& job, JobView& view);

private:
    Statement facts_, awaited_, waiters_, added_, made_, made_one_;
};

}  // namespace perdure::store::sql
