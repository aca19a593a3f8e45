// FailureLog: one line in the server's log for every job that failed, at the level that the job or
// the server says, and a CRITICAL one whenever a job that may crash for ever has crashed again.
// It looks at what was committed; a line may be lost with the server's life, a failure is not.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/log.h"
#include "core/explain/failure_level.h"
#include "ports/clock.h"
#include "ports/gate.h"
#include "ports/store.h"

namespace perdure {

class FailureLog {
public:
    FailureLog(Store& store, Clock& clock, Log log);

    // So many wait for their lines; what fails beyond is counted in a line of its own (C8).
    static constexpr std::size_t waiting_max = 10'000;

    void use(FailureLevels levels) { levels_ = levels; }
    // Remembers what is to be told about a committed change.
    void observe(const Change& change, const ChangeReply& reply);
    Task<void> run(Stop& stop);

private:
    struct Entry {
        JobId job;
        bool alarming = false;
    };
    void note(JobId job, const Next& next);
    void log_how_many_have_no_line();
    Task<void> log_failures(std::vector<Entry> entries);
    void log_failure(const JobView& job, bool alarming) const;

    Store& store_;
    FailureLevels levels_;
    Log log_;
    std::unique_ptr<Alarm> alarm_;
    std::deque<Entry> waiting_;
    std::uint64_t without_line_ = 0;
};

}  // namespace perdure
