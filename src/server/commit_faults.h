// The fault points around a commit: which of them a group passes depends on what is in it.
// Unless faults are armed, nothing is looked at.
#pragma once

#include <optional>

#include "base/error.h"
#include "ports/store.h"

namespace perdure {

struct CommitKinds {
    bool submit = false;
    bool claim = false;
    bool start = false;
    bool report = false;
    bool tick = false;
};
CommitKinds kinds_for_faults(const Group& group);

// Dies, or answers what the store shall seem to have answered; nothing: go on.
std::optional<Error> fault_before_commit(const CommitKinds& kinds);
// Dies, or answers that the reply was lost; nothing: go on.
std::optional<Error> fault_after_commit(const CommitKinds& kinds, const GroupReply& reply);

}  // namespace perdure
