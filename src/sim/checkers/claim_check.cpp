// What a claim may take: by somebody who offers it (E6), in order of priority (E6), from a queue
// that goes on, and within its limits (C4). Looked at right after the transaction, before anything
// else can happen.
#include <fmt/format.h>

#include <algorithm>

#include "base/probe.h"
#include "core/ownership/claim.h"
#include "sim/checkers/checker.h"

namespace perdure::sim {
namespace {

constexpr auto freed_within = seconds(5);  // of service time, once it is over

bool names(const JobSpec& spec, const Permit& permit) {
    const auto permits = permits_of(spec);
    return std::find(permits.begin(), permits.end(), permit) != permits.end();
}

}  // namespace

void Checker::check_claim(const JobView& job, const Known& before) {
    const auto& spec = *job.spec;
    const auto what = fmt::format("{} epoch {}", job.id.text(), job.epoch.value);
    if (parts_.history.is_paused(spec))
        report("C4", what + " was claimed from a queue whose pause was acknowledged");
    const auto session = parts_.session(job.run->session);
    if (!session) return report("P3", what + " was claimed by nobody");
    if (!matches(session->offer, shape_of(spec)))
        report("E6", what + " was claimed by a worker that does not offer to take it");
    check_order(job, session->offer);
    taken_.push_back({job.spec, session->offer, before.epoch != Epoch{}});
    const bool has_place = may_have_kept(*session, before);
    for (const auto& permit : permits_of(spec)) {
        if (permit.kind != Permit::Kind::limit) continue;
        auto& allowed = claimed_under_[{job.id, job.epoch}];
        allowed = parts_.history.most_and_least(permit).first;
        if (!has_place) {
            check_room(job, permit);
            continue;
        }
        // Its place is from an earlier claim, and from what the limit was then.
        const auto earlier = claimed_under_.find({job.id, before.epoch});
        if (earlier != claimed_under_.end()) allowed = std::max(allowed, earlier->second);
    }
}

// E6: nothing of a higher priority was left that could have been taken: never run, so that it
// avoids nobody, and in need of nothing.
void Checker::check_order(const JobView& job, const Offer& offer) {
    for (const auto& [id, other] : known_) {
        if (other.state != JobState::ready || other.epoch != Epoch{} || !other.spec) continue;
        const auto& spec = *other.spec;
        const bool comes_first = spec.priority < job.spec->priority && !spec.needs_holders() &&
                                 matches(offer, shape_of(spec)) &&
                                 !parts_.history.may_be_paused(spec.tenant, spec.queue);
        if (!comes_first) continue;
        const auto now = parts_.job(id);
        if (now && now->state == JobState::ready)
            report("E6", fmt::format("{} was claimed before {}, which has a higher priority",
                                     job.id.text(), id.text()));
    }
}

// What is kept for "retry now" is not taken anew: a limit may have been lowered since. Kept it is
// for a while only; and what was in `run` when it was last seen has ended and was claimed in one.
bool Checker::may_have_kept(const SessionView& session, const Known& before) const {
    const bool kept = before.kept_until && session.clock.now <= *before.kept_until + freed_within;
    return before.is_in_run || kept;
}

// C4: no claim makes more holders than the limit allows by now; those that run may be more.
void Checker::check_room(const JobView& job, const Permit& limit) {
    std::uint32_t running = 0;
    const auto most = parts_.history.most_and_least(limit).first;
    const auto counts = [&](const Known& known) {
        return known.is_in_run && known.spec && names(*known.spec, limit);
    };
    for (const auto& [id, known] : known_) running += counts(known) ? 1 : 0;
    if (running <= most) return;
    running = 0;  // what has ended may not have been seen: look again
    for (const auto& [id, known] : known_) {
        if (!counts(known)) continue;
        const auto now = parts_.job(id);
        if (now && now->run) ++running;
    }
    if (running > most)
        report("C4", fmt::format("{} was claimed as number {} of {}, which allows {}",
                                 job.id.text(), running, limit.name, most));
}

// No more processes than the limit allowed when the newest of them was claimed.
void Checker::check_limits(const WitnessedRun& run) {
    if (run.spec->limits.empty()) return;
    std::uint32_t alive = 0;
    std::uint32_t allowed = 0;
    for (const auto index : parts_.witness.alive()) {
        const auto& other = parts_.witness.runs()[index];
        const bool counts = !other.orphan && !parts_.is_frozen(other.host) &&
                            other.spec->tenant == run.spec->tenant &&
                            other.spec->limits == run.spec->limits;
        if (!counts) continue;
        ++alive;
        const auto claimed = claimed_under_.find(other.attempt);
        if (claimed != claimed_under_.end()) allowed = std::max(allowed, claimed->second);
    }
    if (alive > allowed)
        report("C4", fmt::format("{} epoch {} started as number {} of a limit of {}",
                                 run.attempt.job.text(), run.attempt.epoch.value, alive, allowed));
}

// Whether retention may have removed it: from what was seen of its end, by our own reckoning.
bool Checker::may_be_gone(JobId job, ServiceTime now) const {
    const auto kept = kept_for(job);
    return kept && known_.at(job).ended_at.value() + std::min(kept->first, kept->second) <= now;
}

bool Checker::must_be_gone(JobId job, ServiceTime now) const {
    const auto kept = kept_for(job);
    return kept && known_.at(job).ended_at.value() + std::max(kept->first, kept->second) <= now;
}

// One of these two; empty if it has not ended. A person's word and the removal may be one
// transaction, and nobody has seen the job in between.
std::optional<std::pair<Duration, Duration>> Checker::kept_for(JobId job) const {
    const auto found = known_.find(job);
    if (found == known_.end() || !found->second.ended_at) return std::nullopt;
    const auto& known = found->second;
    const auto& timing = parts_.plan.timing;
    const bool waits_for_a_person = known.state == JobState::quarantined && !known.discarded;
    if (!waits_for_a_person) return std::pair{timing.retention, timing.retention};
    const bool may_be_dealt_with = parts_.history.dealt_with.contains(job);
    return std::pair{timing.unresolved, may_be_dealt_with ? timing.retention : timing.unresolved};
}

std::string Checker::describe(JobId job, ServiceTime now) const {
    const auto found = known_.find(job);
    if (found == known_.end())
        return fmt::format("{:.3f} s, never seen", Duration{now.us}.seconds());
    const auto& known = found->second;
    return fmt::format("{:.3f} s, last seen as {}{}, ended at {:.3f} s", Duration{now.us}.seconds(),
                       to_string(known.state), known.discarded ? " and dealt with" : "",
                       Duration{known.ended_at.value_or(ServiceTime{}).us}.seconds());
}

// [P1], C5: one key is one job, also after that is gone; and what is called gone has been there.
void Checker::check_key(const JobView& job) {
    if (!job.spec->idempotency_key) return;
    const auto [known, first] = keys_.try_emplace(submit_key(*job.spec), job.id);
    if (known->second != job.id)
        report("P1", fmt::format("{} and {} have one idempotency key", job.id.text(),
                                 known->second.text()));
}

}  // namespace perdure::sim
