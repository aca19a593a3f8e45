// What earlier attempts of a job, and jobs that it waited for, have left.
#pragma once

#include <string>
#include <vector>

#include "core/evidence.h"
#include "store/engine/tables.h"

namespace perdure::store {

// All attempts of the job are in its row then.
void load_history(JobReader& reader, JobRow& job);
AttemptRow* find_attempt(JobReader& reader, JobRow& job, Epoch epoch);
// What the latest attempt before `epoch` that saved something has left.
std::string checkpoint_before(JobReader& reader, JobRow& job, Epoch epoch);
EvidenceRef evidence_of(JobReader& reader, JobId job, const AttemptRow& attempt);
// What it is given at its start; nothing is read for a job that waited for nobody.
std::vector<Input> inputs_of(RelationReader& reader, const JobRow& job);

}  // namespace perdure::store
