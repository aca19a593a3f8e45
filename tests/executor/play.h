// The play: one server's loop (ticker, sweeper, group commit, use cases) over a recorded store, and
// a script of requests and faults. A request is made in a round of the ticker, never at a time, and
// service time advances by the same step at each tick, so the trace does not depend on how fast the
// machine is. The dispatcher claims by real time; here the script claims instead.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ports/gate.h"
#include "server/dispatcher.h"
#include "server/group_commit.h"
#include "server/job_service.h"
#include "server/sessions/session_service.h"
#include "server/sweeper.h"
#include "server/ticker.h"
#include "store/memory/memory_store.h"
#include "tests/executor/recording_store.h"
#include "tests/executor/stage.h"
#include "tests/executor/trace.h"

namespace perdure::executor {

class Play;
// One request; answers what was answered, in words.
using Act = Task<std::string> (*)(Play& play);
struct Round {
    std::vector<Act> acts;
    std::optional<StoreFault> fault;
};
using Script = std::map<std::size_t, Round>;

class Play {
public:
    Play(Stage& stage, Script script, std::size_t rounds);
    // The trace of the whole play.
    std::vector<std::string> run();

    GroupCommit& commits() { return commits_; }
    JobService& jobs() { return jobs_; }
    SessionService& sessions() { return sessions_; }
    Trace& trace() { return trace_; }

    // What the script remembers from one round to the next.
    SessionId session;
    std::uint64_t stream = 0;
    std::vector<JobId> submitted;
    std::vector<Assignment> assignments;
    std::uint64_t heartbeat = 0;

private:
    Task<void> open();
    Task<void> prompt(std::size_t round);
    Task<void> perform(Act act, std::size_t number);

    Stage& stage_;
    Script script_;
    std::size_t rounds_;
    Trace trace_;
    MemoryStore memory_;
    RecordingStore store_;
    Stop stop_;
    GroupCommit commits_;
    Sweeper sweeper_;
    Ticker ticker_;
    Dispatcher dispatcher_;
    JobService jobs_;
    SessionService sessions_;
    Gate gate_;
    std::size_t begun_ = 0;
};

// All kinds of requests that one server's loop sees, each with its refusal, and every fault.
Script whole_script();
constexpr std::size_t whole_script_rounds = 60;

}  // namespace perdure::executor
