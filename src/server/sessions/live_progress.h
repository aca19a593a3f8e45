// LiveProgress: how far running attempts say they are, as their workers' heartbeats tell. In memory
// only, for people: nothing is decided by it, and a server that has just started shows none until
// the next heartbeat. A note counts only for an attempt in `run` under the session that speaks
// [P2].
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ports/views.h"
#include "wire/worker_protocol.h"

namespace perdure {

class LiveProgress {
public:
    // Replaces what the session has said before. `session` is as the store has it now.
    void hear(const SessionView& session, std::vector<ProgressNote> notes);
    // Null: nothing is known. The attempt is to be one in `run`.
    const ProgressNote* find(AttemptKey attempt) const;

private:
    struct Heard {
        SessionId session;
        ProgressNote note;
    };
    std::map<AttemptKey, Heard> notes_;
};

}  // namespace perdure
