// RetentionQueue: when which ended jobs are to be removed. Those that end in one group and are kept
// equally long share rows of `forget`, so that retention costs a job next to nothing. A note may be
// outdated: whoever reads it looks at the job.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "store/engine/write_set.h"
#include "store/sql/tables/forget_row.h"
#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {

using sql::decode_forget_note;

class RetentionQueue {
public:
    explicit RetentionQueue(Connection& connection);

    // Written by finish().
    void add(ServiceTime forget_at, JobId job) { added_[forget_at].push_back(job); }
    void finish();
    // Earliest first: those of about `max` jobs.
    std::vector<ForgetNote> due(ServiceTime now, std::uint32_t max);
    void take(const TakenNote& note);

private:
    void write(ServiceTime forget_at, const JobId* jobs, std::size_t count);

    Statement insert_, due_, delete_;
    std::map<ServiceTime, std::vector<JobId>> added_;
};

}  // namespace perdure::store::sqlite
