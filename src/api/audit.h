// Audit: compares what is stored with itself (C3): one place for each job [P3], attempts and epochs
// [P2], what runs and who runs it, holders and those who hold (C4), nothing overdue. Fed with
// ranges of one pass over all jobs, then with the sessions that they name.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ports/views.h"

namespace perdure {

struct AuditProblem {
    JobId job;  // zero: it concerns no single job
    std::string what;

    friend auto operator<=>(const AuditProblem&, const AuditProblem&) = default;
};

class Audit {
public:
    // The next range, in order of ids; the first one has the holders.
    void add(const AuditView& view);
    // Those that something runs in, as far as they have not been added or missed.
    std::vector<SessionId> sessions() const;
    void add(const OwnerView& session);
    // It is not there, unless it was added.
    void miss(SessionId session);

    // All that does not fit, once the last range was added.
    std::vector<AuditProblem> problems() const;
    std::uint64_t jobs() const { return jobs_; }
    std::uint64_t attempts() const { return attempts_; }
    std::uint64_t holders() const { return holders_; }
    std::uint64_t repairs() const { return repairs_; }
    std::uint64_t fenced() const { return fenced_; }

private:
    void check(const JobView& job, const ServiceTick& clock);
    void check_place(const JobView& job);
    void check_attempts(const JobView& job);
    void check_holders(const JobView& job);
    void check_deadlines(const JobView& job, const ServiceTick& clock);
    void check_relations(const JobView& job);
    void note(const JobView& job, bool is_so, std::string what);

    std::vector<AuditProblem> found_;
    // By session: what runs in it, and how long it may after the lease.
    std::map<SessionId, std::map<AttemptKey, Duration>> runs_;
    std::map<JobId, std::set<Permit>> held_;  // by jobs that have not been looked at yet
    std::set<Permit> taken_;
    using LineForPermit = std::pair<Permit, Shape>;
    std::vector<std::pair<JobId, LineForPermit>> waiting_for_free_;
    std::set<LineForPermit> offered_;
    std::uint64_t jobs_ = 0;
    std::uint64_t attempts_ = 0;
    std::uint64_t holders_ = 0;
    std::uint64_t repairs_ = 0;
    std::uint64_t fenced_ = 0;
};

// What both looks have found.
std::vector<AuditProblem> seen_twice(std::vector<AuditProblem> first,
                                     std::vector<AuditProblem> second);

}  // namespace perdure
