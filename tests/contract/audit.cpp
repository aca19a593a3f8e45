#include "tests/contract/audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace perdure::contract {
namespace {

using Held = std::map<JobId, std::set<Permit>>;

// [P3]: the place has a deadline or an owner, and nothing of another place is left over.
void expect_one_place(const JobView& job) {
    SCOPED_TRACE(describe(job));
    const auto place = place_of(job.state).place;
    const bool queued = place == Place::ready || place == Place::blocked || place == Place::wait;
    EXPECT_EQ(job.queue_deadline.has_value(), queued);
    EXPECT_EQ(job.due.has_value() != job.date.has_value(), place == Place::timer);
    EXPECT_EQ(job.run.has_value(), place == Place::run);
    EXPECT_TRUE(place == Place::blocked || !job.blocked_on);
    EXPECT_TRUE(place == Place::ready || !job.kept_until);
    EXPECT_TRUE(place != Place::outcome || !job.total_deadline);
    EXPECT_TRUE(!job.presumed_lost || is_waiting_for_a_claim(job.state));
}

// [P2]: epochs rise by one at every claim; only the newest attempt may be without an end.
void expect_attempts(const JobView& job) {
    SCOPED_TRACE(describe(job));
    Epoch epoch;
    if (!job.attempts.empty()) epoch = Epoch{job.attempts.front().epoch.value - 1};
    EXPECT_EQ(job.attempts.size(), std::min(job.epoch.value, attempts_shown_max));
    for (const auto& attempt : job.attempts) {
        epoch = epoch.next();
        EXPECT_EQ(attempt.epoch, epoch);
        EXPECT_LE(attempt.generation, job.generation);
        const bool runs = job.run && job.run->attempt.epoch == attempt.epoch;
        EXPECT_EQ(attempt.end.has_value(), !runs);
    }
    EXPECT_EQ(job.epoch, epoch);
    if (!job.run) return;
    EXPECT_EQ(job.run->attempt, (AttemptKey{job.id, job.epoch}));
    EXPECT_EQ(job.run->session, job.attempts.back().session);
    EXPECT_EQ(job.run->assignment, job.attempts.back().assignment);
    const bool running = job.state == JobState::running;
    EXPECT_EQ(job.attempts.back().start_committed, running);
}

// C4: who runs, or will be retried at once, holds all of its permits; nobody else holds anything.
void expect_holders(const JobView& job, const Held& held) {
    SCOPED_TRACE(describe(job));
    const auto permits = permits_of(*job.spec);
    const auto found = held.find(job.id);
    const auto holds = found == held.end() ? std::set<Permit>{} : found->second;
    const bool should_hold = job.run || job.kept_until;
    EXPECT_EQ(holds,
              should_hold ? std::set<Permit>(permits.begin(), permits.end()) : std::set<Permit>{});
    if (!job.blocked_on) return;
    EXPECT_TRUE(std::find(permits.begin(), permits.end(), *job.blocked_on) != permits.end());
}

// [P7]: each ended generation has made its callbacks, each once (K1); who waits has somebody to
// wait for (K2).
void expect_relations(const JobView& job, const std::map<JobId, const JobView*>& jobs) {
    SCOPED_TRACE(describe(job));
    std::vector<CallbackOf> made;
    for (const auto& m : job.made) {
        made.push_back({job.id, m.generation, m.number});
        const auto callback = jobs.find(m.job);
        if (callback == jobs.end()) continue;  // its retention is over
        EXPECT_EQ(callback->second->spec->callback_of, made.back());
    }
    EXPECT_EQ(made, callbacks_owed(job.id, job.generation, job.state, rules_of(job)));
    std::size_t open = 0;
    for (const auto& awaited : job.awaited) {
        const auto other = jobs.find(awaited.after.job);
        if (awaited.ended) continue;
        ++open;
        EXPECT_TRUE(other != jobs.end()) << "it waits for a job that is not there";
        EXPECT_FALSE(other != jobs.end() && has_ended(other->second->state));
    }
    EXPECT_FALSE(job.state == JobState::waiting && open == 0) << "it waits for nothing";
    EXPECT_FALSE(job.epoch != Epoch{} && open > 0) << "it has run, and something had not ended";
}

}  // namespace

void expect_sound(const AuditView& audit) {
    EXPECT_FALSE(audit.next.has_value());
    EXPECT_EQ(audit.repairs, 0U);
    Held held;
    std::set<std::pair<Permit, std::uint32_t>> slots;
    for (const auto& holder : audit.holders) {
        EXPECT_GE(holder.slot, 1U);
        EXPECT_TRUE(slots.emplace(holder.permit, holder.slot).second) << "one slot, two holders";
        EXPECT_TRUE(held[holder.job].insert(holder.permit).second) << "one job, two slots";
        EXPECT_TRUE(holder.permit.kind == Permit::Kind::limit || holder.slot == 1);
    }
    std::set<std::pair<SessionId, std::uint64_t>> assignments;
    std::map<JobId, const JobView*> jobs;
    for (const auto& job : audit.jobs) jobs[job.id] = &job;
    for (const auto& job : audit.jobs) {
        expect_relations(job, jobs);
        expect_one_place(job);
        expect_attempts(job);
        expect_holders(job, held);
        if (!job.run) continue;
        EXPECT_TRUE(assignments.emplace(job.run->session, job.run->assignment).second)
            << "one assignment number, two attempts";
    }
}

}  // namespace perdure::contract
