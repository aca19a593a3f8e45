// Witness: what really happened to processes, seen from outside, as a job's own witness file would
// tell it. Checkers compare it with what the store believes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/job/job.h"
#include "core/ownership/isolation.h"
#include "core/policy/cause.h"
#include "sim/world/world.h"

namespace perdure::sim {

struct WitnessedRun {
    AttemptKey attempt;
    std::uint32_t host = 0;
    Terms terms;
    std::shared_ptr<const JobSpec> spec;
    TrueTime began;
    std::optional<TrueTime> died;
    bool clean = false;     // its last checkpoint was confirmed after its last `begin`
    bool own_exit = false;  // it ended by itself, not by a kill
    std::string printed = {};
    bool orphan = false;  // its shim was killed: until a worker finds it, nobody can end it
};

class Witness {
public:
    // Returns the index of the run.
    std::size_t began(WitnessedRun run) {
        runs_.push_back(std::move(run));
        by_job_[runs_.back().attempt.job].push_back(runs_.size() - 1);
        alive_.push_back(runs_.size() - 1);
        return runs_.size() - 1;
    }
    void died(std::size_t run, TrueTime at, bool own_exit) {
        if (runs_[run].died) return;
        runs_[run].died = at;
        runs_[run].own_exit = own_exit;
        std::erase(alive_, run);
    }
    void set_orphan(std::size_t run) { runs_[run].orphan = true; }
    void printed(std::size_t run, const std::string& text) { runs_[run].printed += text; }
    void set_clean(std::size_t run, bool clean) { runs_[run].clean = clean; }

    const std::vector<WitnessedRun>& runs() const { return runs_; }
    const std::vector<std::size_t>& alive() const { return alive_; }
    // Null: it never ran.
    const WitnessedRun* run_of(AttemptKey attempt) const {
        for (const auto* run : of(attempt.job))
            if (run->attempt == attempt) return run;
        return nullptr;
    }
    std::vector<const WitnessedRun*> of(JobId job) const {
        std::vector<const WitnessedRun*> found;
        const auto at = by_job_.find(job);
        if (at == by_job_.end()) return found;
        for (const auto run : at->second) found.push_back(&runs_[run]);
        return found;
    }

private:
    std::vector<WitnessedRun> runs_;
    std::map<JobId, std::vector<std::size_t>> by_job_;
    std::vector<std::size_t> alive_;
};

}  // namespace perdure::sim
