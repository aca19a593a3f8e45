#include "store/sqlite/state/relations.h"

#include "store/sqlite/rows/codec.h"

namespace perdure::sqlite {

Relations::Relations(Connection& c)
    : load(c),
      await_(c,
             "INSERT INTO awaited (job, number, other, on_end, state, ended)"
             " VALUES (?, ?, ?, ?, ?, ?)"),
      waiters_(c,
               "SELECT DISTINCT job FROM awaited WHERE other = ? AND state IS NULL ORDER BY job"),
      tell_(c, "UPDATE awaited SET state = ?, ended = ? WHERE other = ? AND state IS NULL"),
      add_(c,
           "INSERT INTO callback (parent, number, id, since_generation, on_end, spec)"
           " VALUES (?, ?, ?, ?, ?, ?)"),
      made_(c, "INSERT INTO made (parent, generation, number, job) VALUES (?, ?, ?, ?)"),
      forget_awaited_(c, "DELETE FROM awaited WHERE job = ?"),
      forget_added_(c, "DELETE FROM callback WHERE parent = ?"),
      forget_made_(c, "DELETE FROM made WHERE parent = ?") {
    Statement others(c, "SELECT DISTINCT other FROM awaited WHERE state IS NULL");
    auto other = others.query({});
    while (other.next()) waited_for_.insert(other.bits(0));
    Statement parents(c, "SELECT DISTINCT parent FROM callback");
    auto parent = parents.query({});
    while (parent.next()) added_to_.insert(parent.bits(0));
}

void Relations::await(JobId job, std::uint32_t number, const After& after, const Input* ended) {
    const auto on = static_cast<int>(after.on);
    if (!ended) {
        await_.run_one({job, number, after.job, on, nullptr, nullptr});
        waited_for_.insert(after.job.value);
        return;
    }
    const auto state = static_cast<int>(ended->state);
    const auto bytes = encode(*ended);
    await_.run_one({job, number, after.job, on, state, Value::blob(bytes)});
}

std::vector<JobId> Relations::tell(JobId other, const Input& ended) {
    std::vector<JobId> waiters;
    if (waited_for_.erase(other.value) == 0) return waiters;
    {
        auto row = waiters_.query({other});
        while (row.next()) waiters.push_back({row.bits(0)});
    }
    const auto bytes = encode(ended);
    if (!waiters.empty()) tell_.run({static_cast<int>(ended.state), Value::blob(bytes), other});
    return waiters;
}

void Relations::add(JobId parent, const AddedRow& row) {
    const auto spec = encode(*row.callback.spec);
    add_.run_one({parent, row.number, row.id, row.since_generation,
                  static_cast<int>(row.callback.on), Value::blob(spec)});
    added_to_.insert(parent.value);
}

void Relations::note_made(const CallbackOf& of, JobId job) {
    made_.run_one({of.job, of.generation, of.number, job});
}

void Relations::forget(const JobRow& job) {
    if (has_awaited(*job.spec)) forget_awaited_.run({job.id});
    const bool added = added_to_.erase(job.id.value) > 0;
    if (added) forget_added_.run({job.id});
    if (added || !job.spec->callbacks.empty()) forget_made_.run({job.id});
}

}  // namespace perdure::sqlite
