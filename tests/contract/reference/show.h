// Show: the views of ports/views.h, made from the rows.
#pragma once

#include <cstdint>
#include <optional>

#include "ports/catalogue.h"
#include "ports/views.h"
#include "tests/contract/reference/state.h"

namespace perdure::reference {

ServiceView show_service(const State& state);
SessionView show_session(const State& state, const SessionRow& session);
JobView show_job(const State& state, const JobRow& job);
OverdueView show_overdue(const State& state, WallTime wall, std::uint32_t limit);
AuditView show_audit(const State& state, JobId after, std::uint32_t limit);
JobPage show_list(const State& state, const JobFilter& filter);
Overview show_overview(const State& state, const std::string& tenant);

}  // namespace perdure::reference
