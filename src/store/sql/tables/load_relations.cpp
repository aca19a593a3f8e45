#include "store/sql/tables/load_relations.h"

#include "store/engine/rows/codec.h"

namespace perdure::store::sql {
namespace {

Trigger on_of(const Found& row, int column) {
    const auto value = row.number(column);
    if (value < 0 || value > static_cast<std::int64_t>(Trigger::end))
        fail_corrupt("a stored choice is unknown");
    return static_cast<Trigger>(value);
}

}  // namespace

KnownAwaited known_awaited_of(const Found& row, JobId job) {
    KnownAwaited known{JobId{row.bits(2)}, {on_of(row, 0), {}}};
    if (row.is_null(1)) return known;
    const auto state = static_cast<JobState>(row.number(1));
    if (row.bits(1) >= places.size() || !has_ended(state))
        fail_corrupt("what job " + job.text() + " waited for has no known end");
    known.facts.ended_as = state;
    return known;
}

AwaitedView awaited_of(const Found& row) {
    AwaitedView view{{row.job(0), on_of(row, 1)}, std::nullopt};
    if (!row.is_null(2)) view.ended = decode_input(row.bytes(2));
    return view;
}

AddedRow added_of(const Found& row) {
    return {
        .id = row.job(0),
        .number = row.small(1),
        .since_generation = row.small(2),
        .callback = {on_of(row, 3), std::make_shared<const JobSpec>(decode_spec(row.bytes(4)))}};
}

RelationLoader::RelationLoader(Database& c)
    : facts_(c, "SELECT on_end, state, other FROM awaited WHERE job = ? ORDER BY number"),
      awaited_(c, "SELECT other, on_end, ended FROM awaited WHERE job = ? ORDER BY number"),
      waiters_(c,
               "SELECT DISTINCT job FROM awaited WHERE other = ? AND state IS NULL"
               " ORDER BY job LIMIT ?"),
      added_(c,
             "SELECT id, number, since_generation, on_end, spec FROM callback WHERE parent = ?"
             " ORDER BY number"),
      made_(c,
            "SELECT generation, number, job FROM made WHERE parent = ?"
            " ORDER BY generation, number LIMIT ?"),
      made_one_(c, "SELECT job FROM made WHERE parent = ? AND generation = ? AND number = ?") {}

std::vector<KnownAwaited> RelationLoader::facts(JobId job) {
    std::vector<KnownAwaited> others;
    auto row = facts_.query({job});
    while (row.next()) others.push_back(known_awaited_of(row, job));
    return others;
}

std::vector<AwaitedView> RelationLoader::awaited(JobId job) {
    std::vector<AwaitedView> all;
    auto row = awaited_.query({job});
    while (row.next()) all.push_back(awaited_of(row));
    return all;
}

std::vector<JobId> RelationLoader::waiters(JobId other, std::uint32_t max) {
    std::vector<JobId> waiters;
    auto row = waiters_.query({other, max});
    while (row.next()) waiters.push_back({row.bits(0)});
    return waiters;
}

std::vector<AddedRow> RelationLoader::added(JobId parent) {
    std::vector<AddedRow> all;
    auto row = added_.query({parent});
    while (row.next()) all.push_back(added_of(row));
    return all;
}

std::vector<MadeCallback> RelationLoader::all_made(JobId parent) {
    std::vector<MadeCallback> all;
    auto row = made_.query({parent, made_shown_max});
    while (row.next()) all.push_back({row.small(0), row.small(1), row.job(2)});
    return all;
}

std::optional<JobId> RelationLoader::made(const CallbackOf& of) {
    auto row = made_one_.query({of.job, of.generation, of.number});
    if (!row.next()) return std::nullopt;
    return row.job(0);
}

void RelationLoader::show(const JobRow& job, JobView& view) {
    if (has_awaited(*job.spec)) view.awaited = awaited(job.id);
    for (auto& row : added(job.id))
        view.added.push_back({row.number, row.since_generation, std::move(row.callback)});
    view.made = all_made(job.id);
}

}  // namespace perdure::store::sql
