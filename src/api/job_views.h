// What people see of a job, as JSON (docs/protocol/http.md).
#pragma once

#include <string>
#include <string_view>

#include "base/id.h"
#include "core/ownership/service_time.h"
#include "ports/catalogue.h"
#include "ports/views.h"
#include "server/sessions/live_progress.h"
#include "wire/json_writer.h"

namespace perdure {

void write_job_line(JsonWriter& out, const JobLine& job, const LiveProgress& progress);
// Its newest attempt must be among those that are shown.
void write_job(JsonWriter& out, const JobShown& shown, const ServiceTick& clock,
               const LiveProgress& progress, const RecoveryPage& recoveries);
// As the field `attempts`, oldest first. If there are earlier ones, `next` is the name of the field
// that says before which epoch.
void write_attempts(JsonWriter& out, const JobShown& shown, std::string_view next);
// One whose rows cannot be understood: what is known, and what to do (C9).
void write_damaged_job(JsonWriter& out, JobId id, const std::string& why);
// How it ended, and what it left. Only for a job that has ended.
void write_result(JsonWriter& out, const JobView& job);
void write_submitted(JsonWriter& out, const Submitted& submitted);

// When a job was submitted: its id carries the time.
WallTime submitted_on(JobId id);

}  // namespace perdure
