// LiveProgress: how far running attempts say they are, as their workers' heartbeats tell. In memory
// only, for people: nothing is decided by it, and a server that has just started shows none until
// the next heartbeat. A note counts only for an attempt in `run` under the session that speaks
// [P2].
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ports/views.h"
#include "wire/worker_protocol.h"

namespace perdure {

class LiveProgress {
public:
    // Replaces what the session has said before. `running`: the attempts that are its own.
    void replace_notes(SessionId session, const std::set<AttemptKey>& running,
                       std::vector<ProgressNote> notes);
    // Null: nothing is known. The attempt is to be one in `run`.
    const ProgressNote* find(AttemptKey attempt) const;

private:
    std::map<AttemptKey, ProgressNote> notes_;
    std::map<SessionId, std::vector<AttemptKey>> noted_by_;
};

}  // namespace perdure
