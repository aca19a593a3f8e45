// Show: the views of ports/views.h, made from the rows.
#pragma once

#include <cstdint>
#include <optional>

#include "ports/views.h"
#include "store/memory/state.h"

namespace perdure::memory {

ServiceView show_service(const State& state);
SessionView show_session(const State& state, const SessionRow& session);
JobView show_job(const JobRow& job);
OverdueView show_overdue(const State& state, WallTime wall, std::uint32_t limit);
AuditView show_audit(const State& state, JobId after, std::uint32_t limit);

}  // namespace perdure::memory
