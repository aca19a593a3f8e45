#include "api/audit.h"

#include <algorithm>
#include <iterator>

#include "core/ownership/claim.h"

namespace perdure {
namespace {

constexpr auto overdue_after = seconds(5);  // of service time

bool is_overdue(ServiceTime deadline, const ServiceTick& clock) {
    return deadline + overdue_after < clock.now && clock.grace_until + overdue_after < clock.now;
}

}  // namespace

void Audit::add(const AuditView& view) {
    repairs_ = view.repairs;
    fenced_ = view.fenced;
    holders_ += view.holders.size();
    for (const auto& holder : view.holders) {
        taken_.insert(holder.permit);
        if (!held_[holder.job].insert(holder.permit).second)
            found_.push_back({holder.job, "holds two slots of " + holder.permit.name});
    }
    for (const auto& job : view.jobs) check(job, view.clock);
    // Nobody can tell what a damaged one should hold: it is named as such.
    for (const auto& row : view.damaged) held_.erase(row.job);
}

std::vector<SessionId> Audit::sessions() const {
    std::vector<SessionId> named;
    for (const auto& [session, attempts] : runs_) named.push_back(session);
    return named;
}

void Audit::add(const OwnerView& session) {
    for (const auto& [attempt, release_after] : runs_[session.session])
        // It may still report until a sweep gives it up (O1, O5).
        if (!session.open && is_overdue(session.lease_deadline + release_after, session.clock))
            found_.push_back({attempt.job, "runs in a session that has ended"});
    runs_.erase(session.session);
}

void Audit::miss(SessionId session) {
    const auto found = runs_.find(session);
    if (found == runs_.end()) return;
    for (const auto& [attempt, release_after] : found->second)
        found_.push_back({attempt.job, "runs in a session that is not there"});
    runs_.erase(found);
}

std::vector<AuditProblem> Audit::problems() const {
    auto problems = found_;
    for (const auto& [job, permits] : held_)
        problems.push_back({job, "holds a key or limit and does not exist"});
    for (const auto& [job, line] : waiting_for_free_)
        if (!offered_.contains(line))
            problems.push_back({job, "is blocked on something that is free"});
    return problems;
}

void Audit::note(const JobView& job, bool is_so, std::string what) {
    if (is_so) found_.push_back({job.id, std::move(what)});
}

void Audit::check(const JobView& job, const ServiceTick& clock) {
    ++jobs_;
    attempts_ += job.attempts.size();
    check_place(job);
    check_attempts(job);
    check_holders(job);
    check_deadlines(job, clock);
    check_relations(job);
    held_.erase(job.id);
    if (job.run) runs_[job.run->session][job.run->attempt] = job.run->terms.release_after;
}

void Audit::check_place(const JobView& job) {
    const auto place = place_of(job.state).place;
    const bool queued = place == Place::ready || place == Place::blocked || place == Place::wait;
    const bool timed = job.due.has_value() || job.date.has_value();
    note(job, queued && !job.queue_deadline, "waits without a queue deadline");
    note(job, !queued && job.queue_deadline, "has a queue deadline and does not wait");
    note(job, timed != (place == Place::timer),
         "has a time and is not scheduled, or the other way round");
    note(job, job.run.has_value() != (place == Place::run),
         "is in `run` and not running, or the other way round");
    note(job, job.blocked_on && place != Place::blocked, "waits for a thing and is not blocked");
    note(job, place == Place::outcome && !job.ended_on, "has ended without a time");
}

void Audit::check_attempts(const JobView& job) {
    const bool are_all = job.attempts.size() < attempts_shown_max;
    Epoch epoch;
    if (!are_all) epoch = Epoch{job.attempts.front().epoch.value - 1};
    for (const auto& attempt : job.attempts) {
        epoch = epoch.next();
        note(job, attempt.epoch != epoch, "an epoch is missing or doubled");
        const bool runs = job.run && job.run->attempt.epoch == attempt.epoch;
        note(job, attempt.end.has_value() == runs,
             runs ? "an attempt that runs has an end" : "an attempt has no end and does not run");
        note(job, runs && attempt.session != job.run->session,
             "the attempt and the place name different sessions");
    }
    note(job, epoch != job.epoch, "the newest attempt is not the job's epoch");
}

void Audit::check_holders(const JobView& job) {
    const auto wanted = permits_of(*job.spec);
    const auto found = held_.find(job.id);
    const bool should_hold = job.run || job.kept_until;
    const auto held = found == held_.end() ? std::set<Permit>{} : found->second;
    const auto right =
        should_hold ? std::set<Permit>(wanted.begin(), wanted.end()) : std::set<Permit>{};
    note(job, held != right, "holds other keys or limits than it should");
    // Legal as long as another one of its shape is in line for it (C4).
    const auto shape = shape_of(*job.spec);
    if (job.blocked_on && !taken_.contains(*job.blocked_on))
        waiting_for_free_.push_back({job.id, {*job.blocked_on, shape}});
    if (job.state != JobState::ready || job.kept_until) return;
    for (const auto& permit : wanted)
        if (!taken_.contains(permit)) offered_.insert({permit, shape});
}

void Audit::check_deadlines(const JobView& job, const ServiceTick& clock) {
    const auto late = [&](const std::optional<ServiceTime>& deadline) {
        return deadline && is_overdue(*deadline, clock);
    };
    if (has_ended(job.state)) return;
    note(job, late(job.queue_deadline), "is past its queue timeout");
    note(job, late(job.due), "is due and does not wake");
    note(job, late(job.total_deadline) && !(job.run && job.run->kill_cause),
         "is past its total timeout");
}

void Audit::check_relations(const JobView& job) {
    const auto owed = callbacks_owed(job.id, job.generation, job.state, rules_of(job));
    const bool as_owed =
        std::equal(owed.begin(), owed.end(), job.made.begin(), job.made.end(),
                   [](const CallbackOf& of, const MadeCallback& made) {
                       return of.generation == made.generation && of.number == made.number;
                   });
    const bool are_all = job.made.size() < made_shown_max;
    note(job, are_all && !as_owed, "its ends have made other callbacks than they should");
    const bool all_ended = std::all_of(job.awaited.begin(), job.awaited.end(),
                                       [](const AwaitedView& a) { return a.ended.has_value(); });
    note(job, job.state == JobState::waiting && all_ended,
         "waits, and nothing is left to wait for");
}

std::vector<AuditProblem> seen_twice(std::vector<AuditProblem> first,
                                     std::vector<AuditProblem> second) {
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    std::vector<AuditProblem> both;
    std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                          std::back_inserter(both));
    return both;
}

}  // namespace perdure
