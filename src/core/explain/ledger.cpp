#include "core/explain/ledger.h"

#include <fmt/format.h>

#include "core/ownership/claim.h"
#include "core/ownership/hearing.h"

namespace perdure {
namespace {

Incident incident_of_report(Cause cause) {
    switch (cause) {
        case Cause::evicted: return Incident::worker_stopped;
        case Cause::cut_off: return Incident::cut_off;
        case Cause::crash_worker:
        case Cause::suspect: return Incident::worker_crashes;
        case Cause::timeout_queue:
        case Cause::timeout_run:
        case Cause::timeout_idle:
        case Cause::timeout_total: return Incident::timed_out;
        case Cause::command_unusable:
        case Cause::no_resources:
        case Cause::shim_failed:
        case Cause::lock_busy: return Incident::did_not_start;
        case Cause::worker_lost: return Incident::worker_lost;
        case Cause::host_lost: return Incident::host_restarted;
        default: return is_own_exit(cause) ? Incident::job_failed : Incident::process_died;
    }
}

Incident incident_of_end(const Sighting& seen, const AttemptEnd& end) {
    if (seen.turned_deaf) return Incident::worker_deaf;
    switch (seen.detector) {
        case Detector::report: return incident_of_report(end.cause);
        case Detector::heartbeat:
            return end.ran == Ran::no ? Incident::did_not_start : Incident::process_died;
        case Detector::takeover:
            return seen.announced ? Incident::worker_stopped : Incident::worker_restarted;
        case Detector::reboot: return Incident::host_restarted;
        case Detector::confirmation: return Incident::did_not_start;
        case Detector::lease: return Incident::worker_lost;
        case Detector::deadline: return Incident::timed_out;
        case Detector::promotion: return Incident::wakeup_missed;
    }
    return Incident::process_died;
}

RepairDecision brought_back(const Sighting& seen) {
    switch (seen.detector) {
        case Detector::promotion: return {Incident::wakeup_missed, Repair::promoted, seen.rule};
        case Detector::takeover:
            return {seen.announced ? Incident::worker_stopped : Incident::worker_restarted,
                    Repair::adopted, seen.rule};
        // Only its result can have outlived its host.
        case Detector::reboot: return {Incident::host_restarted, Repair::adopted, seen.rule};
        default: return {Incident::worker_returned, Repair::reinstated, seen.rule};
    }
}

Repair repair_of(const Next& next) {
    switch (next.kind) {
        case Next::Kind::again_now: return Repair::run_again_now;
        case Next::Kind::again_after: return Repair::run_again_later;
        case Next::Kind::again_on: return Repair::run_again_on_date;
        case Next::Kind::ended: break;
    }
    if (next.state == JobState::quarantined) return Repair::quarantined;
    return next.state == JobState::expired ? Repair::expired : Repair::failed;
}

std::string seconds_text(Duration d) {
    return d < seconds(1) ? fmt::format("{:.2f} s", d.seconds())
                          : fmt::format("{:.1f} s", d.seconds());
}

std::string cause_text(const AttemptEnd& end) {
    if (end.cause == Cause::crash_signal)
        return fmt::format("was killed by signal {}", end.exit_code);
    if (end.cause == Cause::exit) return fmt::format("exited with code {}", end.exit_code);
    return fmt::format("ended: {}", to_string(end.cause));
}

std::string worker_text(const Recovery& r) {
    return r.worker.empty() ? "its worker" : fmt::format("worker {}", r.worker);
}

}  // namespace

std::string describe_incident(const Recovery& r) {
    const auto number = r.attempt.epoch.value;
    const auto cause = r.end ? to_string(r.end->cause) : std::string_view();
    switch (r.incident) {
        case Incident::job_failed:
        case Incident::process_died:
            return fmt::format("attempt {} {}", number, r.end ? cause_text(*r.end) : "was lost");
        case Incident::did_not_start:
            return fmt::format("attempt {} did not start on {} ({})", number, worker_text(r),
                               cause);
        case Incident::timed_out:
            if (r.detector == Detector::deadline)
                return fmt::format("it waited too long ({})", cause);
            return fmt::format("attempt {} ran out of time ({})", number, cause);
        case Incident::cut_off:
            return fmt::format("{} reached no server and ended attempt {}", worker_text(r), number);
        case Incident::worker_stopped: return fmt::format("{} was stopped", worker_text(r));
        case Incident::worker_restarted:
            return fmt::format("{} died and came back after {}", worker_text(r),
                               seconds_text(r.time_to_detect));
        case Incident::worker_lost:
            return fmt::format("nothing was heard of {} for {}", worker_text(r),
                               seconds_text(r.time_to_detect));
        case Incident::host_restarted:
            return fmt::format("the host of {} was started anew", worker_text(r));
        case Incident::worker_returned:
            return fmt::format("{} was taken for lost and has come back", worker_text(r));
        case Incident::wakeup_missed: return "it waited for something that was free";
        case Incident::worker_crashes:
            return fmt::format("{} crashed again and again while attempt {} ran {}", worker_text(r),
                               number, is_suspect(r.end) ? "beside others" : "alone");
        case Incident::worker_deaf:
            return fmt::format(
                "{} is heard and has confirmed none of its last starts, of {} jobs: "
                "it gets one job at a time until it confirms one",
                worker_text(r), deaf_after);
    }
    return "";
}

namespace {

std::string what_is_done(const Recovery& r) {
    const auto number = r.attempt.epoch.value;
    const bool may_have_run = r.end && r.end->ran == Ran::maybe;
    switch (r.repair) {
        case Repair::run_again_now:
            if (is_suspect(r.end)) return "it is a suspect, and runs again alone";
            return "it runs again at once";
        case Repair::run_again_later:
            return fmt::format("it runs again after {}", seconds_text(r.wait));
        case Repair::run_again_on_date: return "it runs again at the time it asked for";
        case Repair::adopted: return fmt::format("attempt {} adopted, not rerun", number);
        case Repair::reinstated: return fmt::format("attempt {} goes on, not rerun", number);
        case Repair::promoted: return "it was put in line; please report this bug";
        case Repair::quarantined:
            return may_have_run ? "it may have run: quarantined, a person decides"
                                : "quarantined, a person decides";
        case Repair::failed: return "it has failed";
        case Repair::expired: return "it has expired";
    }
    return "";
}

// A loss is told with the attempt that it hit; other incidents name it already.
bool names_its_attempt(Incident incident) {
    return incident != Incident::worker_lost && incident != Incident::worker_deaf &&
           incident != Incident::worker_stopped && incident != Incident::worker_restarted &&
           incident != Incident::host_restarted;
}

}  // namespace

std::optional<RepairDecision> decide_repair(const RepairFacts& f) {
    if (!f.end) return brought_back(f.seen);
    const bool ended = f.next.kind == Next::Kind::ended;
    // A person's act is audited, and is no repair.
    if (ended && f.next.state == JobState::cancelled) return std::nullopt;
    const bool own_end = f.end->succeeded ||
                         (ended && is_own_exit(f.end->cause) && f.next.state == JobState::failed);
    if (own_end && !f.presumed_before) return std::nullopt;
    if (own_end) return RepairDecision{Incident::worker_returned, Repair::reinstated, f.seen.rule};
    return RepairDecision{incident_of_end(f.seen, *f.end), repair_of(f.next), f.next.rule};
}

Recovery recovery_of(AttemptKey attempt, Effects effects, const RepairFacts& facts,
                     const RepairDecision& decision) {
    return {.attempt = attempt,
            .detector = facts.seen.detector,
            .incident = decision.incident,
            .repair = decision.repair,
            .end = facts.end,
            .effects = effects,
            .seen_by = facts.seen.rule,
            .rule = decision.rule,
            .time_to_detect = facts.seen.silent_for,
            .wait = facts.next.kind == Next::Kind::again_after ? facts.next.wait : Duration{}};
}

RepairFacts expiry_facts(const WaitFacts& facts, const WaitDecision& decision, JobState ends_as) {
    const auto& deadline =
        decision.cause == Cause::timeout_queue ? facts.queue_deadline : facts.total_deadline;
    return {.seen = {.detector = Detector::deadline,
                     .rule = decision.rule,
                     .silent_for = facts.now - deadline.value_or(facts.now)},
            .end = AttemptEnd{.cause = decision.cause, .ran = Ran::no},
            .next = {.state = ends_as, .rule = decision.rule}};
}

std::string describe_repair(const Recovery& r) {
    const bool hit = !names_its_attempt(r.incident) && r.repair != Repair::adopted;
    const bool said_so = r.end && r.end->reported && r.incident == Incident::worker_deaf;
    const bool back = r.incident == Incident::worker_stopped || said_so;
    const auto* word = back ? "handed back" : "given up";
    if (!hit) return what_is_done(r);
    return fmt::format("attempt {} {}, {}", r.attempt.epoch.value, word, what_is_done(r));
}

std::string story_of(const Recovery& r) { return describe_incident(r) + "; " + describe_repair(r); }

std::string_view story_of(const WaitDecision& decision) {
    switch (decision.kind) {
        case WaitDecision::Kind::wait: return "nothing: it may go on waiting";
        case WaitDecision::Kind::make_ready: return "it is due: it gets in line";
        case WaitDecision::Kind::free_holders: return "its key and limits are freed for others";
        case WaitDecision::Kind::expire: return "it has waited too long: it expires";
        case WaitDecision::Kind::fail: return "its total timeout is over: it fails";
        case WaitDecision::Kind::order_kill: return "its total timeout is over: it is killed";
    }
    return "";
}

}  // namespace perdure
