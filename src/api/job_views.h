// What people see of a job, as JSON (docs/protocol/http.md).
#pragma once

#include <map>
#include <string>

#include "base/id.h"
#include "core/ownership/service_time.h"
#include "ports/catalogue.h"
#include "ports/views.h"
#include "server/sessions/live_progress.h"
#include "server/sessions/session_names.h"
#include "wire/json_writer.h"

namespace perdure {

void write_job_line(JsonWriter& out, const JobLine& job, const LiveProgress& progress);
void write_job(JsonWriter& out, const JobView& job, const ServiceTick& clock,
               const SessionNames& workers, const LiveProgress& progress,
               const RecoveryPage& recoveries);
// One whose rows cannot be understood: what is known, and what to do (C9).
void write_damaged_job(JsonWriter& out, JobId id, const std::string& why);
// How it ended, and what it left. Only for a job that has ended.
void write_result(JsonWriter& out, const JobView& job);
void write_submitted(JsonWriter& out, const Submitted& submitted);

// When a job was submitted: its id carries the time.
WallTime submitted_on(JobId id);

}  // namespace perdure
