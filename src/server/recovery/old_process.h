// OldProcess: the process that a quarantined job may have left running (E2). Where it may be,
// whether it can be reached, and how it is stopped. What is known is decided by
// core/job/aftermath.h.
#pragma once

#include <optional>
#include <string>

#include "core/job/aftermath.h"
#include "core/ownership/timing.h"
#include "ports/clock.h"
#include "ports/store.h"
#include "server/dispatcher.h"

namespace perdure {

struct OldProcess {
    AttemptKey attempt;
    Aftermath aftermath = Aftermath::dead;
    SessionId session;    // that can be told to stop it
    std::string worker;   // whose it was
    std::string machine;  // its host, as it names itself
    Duration silent_for;
};

class OldProcesses {
public:
    OldProcesses(Store& store, Clock& clock, Dispatcher& dispatcher, Timing timing)
        : store_(store), clock_(clock), dispatcher_(dispatcher), timing_(timing) {}

    // So many of its newest attempts are looked at (C8).
    static constexpr std::uint32_t attempts_max = 100;

    // Of the newest attempt whose process is not known to be dead. That may be an older one: what
    // was given up because its worker was silent runs on while the next one ends.
    Task<Result<OldProcess>> find(JobId job);
    // A hint; a heartbeat tells it as well once the job is dealt with. False: nobody was told.
    bool stop(const OldProcess& old);
    // Waits until its end is known; empty if that does not come in time.
    Task<std::optional<AttemptEnd>> wait_for_its_end(AttemptKey attempt);

private:
    Store& store_;
    Clock& clock_;
    Dispatcher& dispatcher_;
    Timing timing_;
};

// "attempt 1 may still run on worker `w1` ...: make sure that it is dead, then ..."
std::string may_still_run_text(const OldProcess& old);

}  // namespace perdure
