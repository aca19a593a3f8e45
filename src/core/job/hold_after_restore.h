// What becomes of a job of a backup when its instance is gone and the restored one takes its place
// (C6). Since the backup was taken the job may have run, and nobody can say: what may run again
// goes on; what must not is left to a person [P4].
#pragma once

#include "core/job/job.h"

namespace perdure {

struct RestoredJob {
    Effects effects = Effects::repeatable;
    JobState state = JobState::ready;
};

enum class AfterRestore {
    leave,        // it goes on, or has ended
    hold,         // it waits: a person must let it go
    pause_queue,  // an attempt is under way, whose end may put it in line again
};

constexpr AfterRestore decide_after_restore(const RestoredJob& job) {
    if (job.effects == Effects::repeatable || place_of(job.state).place == Place::outcome)
        return AfterRestore::leave;
    return can_be_held(job.state) ? AfterRestore::hold : AfterRestore::pause_queue;
}

}  // namespace perdure
