#include "tests/contract/reference/history/ledger.h"

#include <algorithm>

#include "ports/ledger_walk.h"

namespace perdure::reference {
namespace {

bool is_wanted_entry(const Recovery& entry, const RecoveryFilter& filter) {
    std::optional<Cause> cause;
    if (entry.end) cause = entry.end->cause;
    return is_wanted(filter, {entry.detector, entry.incident, cause, entry.on});
}

RecoveryLine show_line(const State& state, const JobRow& job, const Recovery& entry) {
    RecoveryLine line{.entry = entry};
    const bool again = runs_again(entry.repair);
    const auto follows = [&](const AttemptRow& attempt) {
        return again ? attempt.epoch > entry.attempt.epoch : attempt.epoch == entry.attempt.epoch;
    };
    const bool is_over = !again && !is_brought_back(entry.repair);
    const auto found = std::find_if(job.attempts.begin(), job.attempts.end(), follows);
    if (is_over || found == job.attempts.end()) return line;
    line.epoch_after = found->epoch;
    line.worker_after = state.session_of(found->session()).worker;
    line.acted_on = again ? found->started_on.value_or(found->claimed_on) : entry.on;
    return line;
}

const Recovery& entry_of(const JobRow& job, std::uint64_t id) {
    return *std::find_if(job.recoveries.begin(), job.recoveries.end(),
                         [&](const Recovery& entry) { return entry.id == id; });
}

}  // namespace

void enter(State& state, JobRow& job, Epoch epoch, SessionId owner, const RepairFacts& facts) {
    const auto decision = decide_repair(facts);
    if (!decision) return;
    auto entry = recovery_of({job.id, epoch}, job.spec->effects, facts, *decision);
    entry.id = ++state.last_recovery;
    entry.on = state.wall;
    if (owner) entry.worker = state.session_of(owner).worker;
    state.ledger[entry.id] = job.id;
    state.recoveries.push_back(entry);
    job.recoveries.push_back(std::move(entry));
}

void enter_expiry(State& state, JobRow& job, const WaitDecision& decision, JobState ends_as) {
    auto facts = wait_facts(job);
    facts.now = state.clock.now;
    enter(state, job, job.epoch, SessionId{}, expiry_facts(facts, decision, ends_as));
}

void forget_entries(State& state, const JobRow& job) {
    for (const auto& entry : job.recoveries) state.ledger.erase(entry.id);
}

RecoveryPage show_recoveries(const State& state, const RecoveryFilter& filter) {
    RecoveryPage page;
    const auto before = filter.before.value_or(UINT64_MAX);
    std::uint32_t walked = 0;
    std::uint64_t last = 0;
    // False: the page is full, or enough was looked at.
    const auto add = [&](const JobRow& job, const Recovery& entry) {
        if (entry.id >= before) return true;
        if (walked++ == ledger_walk_max) {
            page.next = last;
            return false;
        }
        if (is_long_before(filter, entry.on)) return false;
        last = entry.id;
        if (job.spec->tenant != filter.tenant || !is_wanted_entry(entry, filter)) return true;
        if (page.recoveries.size() == filter.limit) {
            page.next = page.recoveries.back().entry.id;
            return false;
        }
        page.recoveries.push_back(show_line(state, job, entry));
        return true;
    };
    if (filter.job) {
        const auto found = state.jobs.find(*filter.job);
        if (found == state.jobs.end()) return page;
        const auto& own = found->second.recoveries;
        for (auto it = own.rbegin(); it != own.rend() && add(found->second, *it);) ++it;
        return page;
    }
    for (auto it = state.ledger.rbegin(); it != state.ledger.rend(); ++it) {
        const JobRow& job = state.jobs.at(it->second);
        if (!add(job, entry_of(job, it->first))) break;
    }
    return page;
}

}  // namespace perdure::reference
