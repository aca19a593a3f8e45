// What earlier attempts of a job, and jobs that it waited for, have left.
#pragma once

#include <string>
#include <vector>

#include "core/explain/evidence.h"
#include "store/engine/tables.h"

namespace perdure::store {

// All attempts of the job are in its row then.
void load_history(JobReader& reader, JobRow& job);
// The attempts from one epoch on and before another that are not in the job's row.
std::vector<AttemptRow> read_history(JobReader& reader, const JobRow& job, Epoch from,
                                     Epoch before);
// The attempts of a window, in order, whether they are in the job's row or not.
std::vector<AttemptRow> attempts_in(JobReader& reader, const JobRow& job, AttemptWindow window);
// One that is not in the job's row is added to it, alone.
AttemptRow* find_attempt(JobReader& reader, JobRow& job, Epoch epoch);
// The latest attempt that saved a checkpoint; zero: none did. Reads back to it, in pieces: only of
// jobs that an earlier release has written, and once.
Epoch latest_checkpoint(JobReader& reader, const JobRow& job, Epoch before);
// What the latest attempt before `epoch` that saved something has left. For the newest it is known
// which one that is.
std::string checkpoint_before(JobReader& reader, const JobRow& job, Epoch epoch);
// The same for an attempt that is about to begin.
std::string checkpoint_for(JobReader& reader, const JobRow& job, Epoch epoch,
                           const EarlierAttempts& earlier);
EvidenceRef evidence_of(JobReader& reader, JobId job, const AttemptRow& attempt);
// What it is given at its start; nothing is read for a job that waited for nobody.
std::vector<Input> inputs_of(RelationReader& reader, const JobRow& job);

}  // namespace perdure::store
