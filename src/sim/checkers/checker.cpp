#include "sim/checkers/checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/probe.h"
#include "core/ownership/claim.h"
#include "core/policy/policy.h"

namespace perdure::sim {
namespace {

std::string name(AttemptKey attempt) {
    return fmt::format("{} epoch {}", attempt.job.text(), attempt.epoch.value);
}

const AttemptView* find_attempt(const JobView& job, Epoch epoch) {
    for (const auto& attempt : job.attempts)
        if (attempt.epoch == epoch) return &attempt;
    return nullptr;
}

bool share_a_key(const JobSpec& a, const JobSpec& b) {
    return a.key && b.key && *a.key == *b.key && a.tenant == b.tenant;
}

}  // namespace

void Checker::report(std::string promise, std::string what) {
    if (violation_) return;
    parts_.world.trace("VIOLATION " + promise + ": " + what);
    violation_ = Violation{std::move(promise), std::move(what)};
    parts_.world.stop();
}

void Checker::began(const WitnessedRun& run, const JobView* job) {
    if (!began_.insert(run.attempt).second) report("P4", name(run.attempt) + " was started twice");
    // It needs not ask, and its job has come to an end elsewhere.
    const bool too_late = !job && !run.terms.asks && may_be_gone(run.attempt.job, now_);
    if (too_late) return;
    if (!job) return report("P1", name(run.attempt) + " runs, but the store has no such job");
    const auto* attempt = find_attempt(*job, run.attempt.epoch);
    if (!attempt) return report("P2", name(run.attempt) + " runs, but was never claimed");
    if (run.terms.asks && !attempt->start_committed)
        report("P4", name(run.attempt) + " was started before its start was committed");
    if (attempt->end && attempt->end->ran == Ran::no)
        report("P9", name(run.attempt) + " was started after it was said not to have run");
    check_exclusive(run);
    check_limits(run);
    check_once(run, *job);
    check_resumable(run, *job);
    check_cancel(run, *job);
    check_awaited(run, *job);
}

// No two exclusive attempts overlap: of one job, or of jobs with one key (O7).
void Checker::check_exclusive(const WitnessedRun& run) {
    if (run.terms.isolation != Isolation::exclusive) return;
    for (const auto index : parts_.witness.alive()) {
        const auto& other = parts_.witness.runs()[index];
        if (other.attempt == run.attempt || parts_.is_frozen(other.host)) continue;
        if (other.orphan) continue;  // [P8] says so: worker and shim died at once
        const bool same = other.attempt.job == run.attempt.job;
        if (same || share_a_key(*other.spec, *run.spec))
            report("P2", fmt::format("{} started while {} was alive", name(run.attempt),
                                     name(other.attempt)));
    }
}

void Checker::check_once(const WitnessedRun& run, const JobView& job) {
    if (run.spec->effects != Effects::once) return;
    const auto runs = parts_.witness.of(run.attempt.job);
    const auto released = parts_.history.releases.find(job.id);
    const auto releases = released == parts_.history.releases.end() ? 0U : released->second;
    if (runs.size() > 1 + releases)
        report("P4", fmt::format("once job {} started {} times with {} releases", job.id.text(),
                                 runs.size(), releases));
}

// Interrupted while dirty, a resumable job must not go on by itself (O10).
void Checker::check_resumable(const WitnessedRun& run, const JobView& job) {
    if (run.spec->effects != Effects::resumable) return;
    const WitnessedRun* before = nullptr;
    for (const auto* other : parts_.witness.of(run.attempt.job))
        if (other->attempt.epoch < run.attempt.epoch) before = other;
    if (!before || before->clean || parts_.history.releases.contains(job.id)) return;
    report("P4", fmt::format("dirty resumable job {} went on as epoch {}", job.id.text(),
                             run.attempt.epoch.value));
}

void Checker::check_cancel(const WitnessedRun& run, const JobView& job) {
    const auto cancelled = parts_.history.cancels.find(run.attempt.job);
    if (cancelled == parts_.history.cancels.end()) return;
    const bool later = run.attempt.epoch > cancelled->second.epoch;
    if (later && job.generation == cancelled->second.generation)
        report("E1", name(run.attempt) + " started after its cancel was acknowledged");
}

void Checker::changed(const JobView& job) {
    auto& known = known_[job.id];
    if (job.epoch < known.epoch)
        report("P2", fmt::format("the epoch of {} fell from {} to {}", job.id.text(),
                                 known.epoch.value, job.epoch.value));
    const bool same_generation = job.generation == known.generation;
    if (same_generation && has_ended(known.state) && job.state != known.state)
        report("P2", fmt::format("{} left its end {} and became {}", job.id.text(),
                                 to_string(known.state), to_string(job.state)));
    check_release(job, known.generation);
    const auto before = known;
    known = {.state = job.state,
             .epoch = job.epoch,
             .generation = job.generation,
             .spec = job.spec,
             .is_in_run = job.run.has_value(),
             .kept_until = job.kept_until,
             .discarded = job.discarded,
             .ended_at = job.ended_at,
             .wait = retry_wait_of(job, before)};
    check_waits(job, before);
    if (job.run && job.run->attempt.epoch > before.epoch) check_claim(job, before);
    check_key(job);
    check_ends(job);
    check_budget(job);
    check_judgement(job);
    check_numbers(job);
    check_made(job);
}

// O6: a session's assignment numbers are drawn once each: what it discards by number is clear.
void Checker::check_numbers(const JobView& job) {
    for (const auto& attempt : job.attempts) {
        const AttemptKey key{job.id, attempt.epoch};
        const auto [known, first] =
            numbers_.try_emplace({attempt.session, attempt.assignment}, key);
        if (known->second == key) continue;
        report("O6", fmt::format("{} and {} have assignment {} of one session", name(key),
                                 name(known->second), attempt.assignment));
    }
}

void Checker::check_ends(const JobView& job) {
    for (const auto& attempt : job.attempts) {
        const AttemptKey key{job.id, attempt.epoch};
        if (!attempt.end) {
            ended_.erase(key);  // reinstated, perhaps
            continue;
        }
        const auto [known, first] = ended_.try_emplace(key, SeenEnd{parts_.world.now()});
        const bool corrected = attempt.end->reported && !known->second.reported;
        known->second.reported = attempt.end->reported;
        if (!first && !corrected) continue;
        if (!attempt.end->reported) check_given_up(job, attempt);
        check_unstarted(job, attempt);
        const auto runs = parts_.witness.of(job.id);
        const auto run = std::find_if(runs.begin(), runs.end(),
                                      [&](const auto* r) { return r->attempt == key; });
        const bool ran = run != runs.end();
        if (attempt.end->ran == Ran::no && ran)
            report("P9", name(key) + " ran and is said not to have run");
        if (attempt.end->succeeded && !(ran && (*run)->died && (*run)->own_exit))
            report("P9", name(key) + " is said to have succeeded and did not");
        if (!ran || (*run)->died) continue;
        if (attempt.end->reported)
            report("P8", name(key) + " is reported to have ended and is alive");
        const bool exclusive = attempt.terms.isolation == Isolation::exclusive;
        if (exclusive && !parts_.is_frozen((*run)->host) && !(*run)->orphan)
            report("P8", name(key) + " is exclusive, was given up and is alive");
    }
    const auto cancelled = parts_.history.cancels.find(job.id);
    const bool was_cancelled =
        cancelled != parts_.history.cancels.end() && cancelled->second.generation == job.generation;
    if (was_cancelled && has_ended(job.state) && job.state != JobState::cancelled &&
        job.state != JobState::succeeded)
        report("E1", fmt::format("{} was cancelled and ended as {}", job.id.text(),
                                 to_string(job.state)));
}

// O3, O4: who had to ask and never got its go did not run. Nobody is charged for that, whatever its
// worker did.
void Checker::check_unstarted(const JobView& job, const AttemptView& attempt) {
    if (!attempt.terms.asks || attempt.start_committed) return;
    const AttemptKey key{job.id, attempt.epoch};
    if (attempt.end->ran != Ran::no)
        report("O3", name(key) + " had no go, and is not said not to have run");
    const bool is_last = attempt.epoch == job.epoch;
    // Its author may want a person to look at it, say after all its time was used up.
    const bool by_its_author = attempt.end->matched != 0;
    if (is_last && job.state == JobState::quarantined && !by_its_author)
        report("O3", name(key) + " had no go, and its job is in quarantine");
}

// O2: a lease ends by a commit, and only one that is over. T2: no outage may end one.
void Checker::check_given_up(const JobView& job, const AttemptView& attempt) {
    const AttemptKey key{job.id, attempt.epoch};
    // An unconfirmed start may be given up for many reasons: a claim whose reply was lost is one.
    if (!attempt.start_committed) return;
    const bool frozen = parts_.world.now() >= TrueTime{parts_.plan.faults_end.us};
    if (parts_.plan.owners_are_safe && !frozen)
        report("T2", name(key) + " was given up although nothing happened to its owner");
    const auto session = parts_.session(attempt.session);
    if (!session) return report("P3", name(key) + " had an owner that does not exist");
    if (session->lease_deadline + attempt.terms.release_after > session->clock.now)
        report("O2", name(key) + " was given up while its lease lasted");
}

}  // namespace perdure::sim
