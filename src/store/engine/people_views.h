// What people look at, made from rows: the same for every kind of tables (ports/catalogue.h).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/ownership/timing.h"
#include "ports/catalogue.h"
#include "store/engine/tables.h"

namespace perdure::store {

// The name of a session's worker. Empty: there is no such session, or it cannot be understood.
using WorkerOf = std::function<std::optional<std::string>(SessionId)>;

// All but tenant, queue and kind, which a job's shape tells.
bool is_wanted(const JobRow& job, const JobFilter& filter);
// Whether only the bytes of a job can tell that it is wanted.
inline bool asks_for_content(const JobFilter& filter) {
    return filter.key || filter.cause || filter.ended_before;
}
// A Failure if it runs in a session that is not known.
JobLine job_line(const JobRow& job, const WorkerOf& worker_of);
// Empty if it has left.
std::optional<WorkerLine> worker_line(const SessionRow& session, std::uint32_t running,
                                      ServiceTime now, const Timing& timing);
// What came of a repair since: the next attempt or, of what was brought back, the same one.
RecoveryLine recovery_line(Recovery entry, JobRow& job, JobReader& reader,
                           const WorkerOf& worker_of);
// Who had the attempts that are shown, and who runs it.
SessionNames workers_of(const JobView& job, const WorkerOf& worker_of);

}  // namespace perdure::store
