#include "store/sqlite/tables/retention_queue.h"

#include <algorithm>
#include <utility>

namespace perdure::store::sqlite {

RetentionQueue::RetentionQueue(Connection& c)
    // The same job may end twice in one tick: distances from the key can be put in a row.
    : insert_(c,
              "INSERT INTO forget (forget_at, job, others) VALUES (?, ?, ?)"
              " ON CONFLICT (forget_at, job) DO UPDATE SET others ="
              " CAST(others || excluded.others AS BLOB)"),
      due_(c,
           "SELECT forget_at, job, others FROM forget WHERE forget_at <= ?"
           " ORDER BY forget_at, job LIMIT ?"),
      delete_(c, "DELETE FROM forget WHERE forget_at = ? AND job = ?") {}

void RetentionQueue::finish() {
    for (auto& [forget_at, jobs] : added_) {
        std::sort(jobs.begin(), jobs.end());
        for (std::size_t i = 0; i < jobs.size(); i += sql::jobs_in_note_max)
            write(forget_at, jobs.data() + i, std::min(sql::jobs_in_note_max, jobs.size() - i));
    }
    added_.clear();
}

void RetentionQueue::write(ServiceTime forget_at, const JobId* jobs, std::size_t count) {
    insert_.run_one({forget_at, jobs[0], Value::blob(sql::encode_forget_note(jobs, count))});
}

std::vector<ForgetNote> RetentionQueue::due(ServiceTime now, std::uint32_t max) {
    std::vector<ForgetNote> notes;
    std::size_t found = 0;
    auto row = due_.query({now, max});
    while (found < max && row.next()) {
        notes.push_back({ServiceTime{row.number(0)}, sql::jobs_of_note(row)});
        found += notes.back().jobs.size();
    }
    return notes;
}

void RetentionQueue::take(const TakenNote& taken) {
    const auto& [forget_at, first, left] = taken;
    delete_.run_one({forget_at, first});
    if (!left.empty()) write(forget_at, left.data(), left.size());
}

}  // namespace perdure::store::sqlite
