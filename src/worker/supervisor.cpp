#include "worker/supervisor.h"

#include <optional>
#include <utility>

#include "base/fault.h"
#include "base/probe.h"
#include "core/ownership/crash_loop.h"
#include "core/ownership/start.h"
#include "core/worker/worker_rules.h"

namespace perdure {

using Phase = Attempt::Phase;

namespace {

constexpr auto hang = seconds(10);  // of an armed fault: no start is waited for that long

}  // namespace

Supervisor::Supervisor(WorkerContext& context, AttemptTable& table, WorkerSession& session,
                       InsideCalls& inside)
    : context_(context), table_(table), session_(session), inside_(inside) {}

void Supervisor::adopt(const WorkerLife& life) {
    for (const auto& found : life.found) adopt_one(found);
    if (!life.found.empty()) reached<"worker_found_attempts_on_disk">();

    context_.crash_loop = decide_crash_loop(life.history, context_.options.timing);
    if (context_.crash_loop.on_probation) begin_probation(life);
}

// What has not started is handed back, what runs goes on, and one that may be to blame ends (O9).
void Supervisor::begin_probation(const WorkerLife& life) {
    reached<"worker_on_probation">();
    const auto& loop = context_.crash_loop;
    context_.log.write(Level::error, "on probation: takes new attempts one by one", "rule",
                       loop.rule, "crashes", life.history.crashes.size(), "adopted",
                       context_.adopted);
    hand_back_unstarted();
    if (!loop.ends_one) return;
    CulpritFacts facts{.spares_nobody = loop.spares_nobody};
    for (const auto& found : life.found) {
        if (!found.started) continue;
        const auto* attempt = table_.find(found.attempt);
        facts.ran.push_back({.attempt = found.attempt,
                             .life = found.life,
                             .assignment = found.assignment,
                             .alive = attempt && attempt->phase == Phase::running,
                             .effects = found.terms.effects,
                             .policy = found.policy});
    }
    const auto culprit = decide_culprit(facts);
    if (!culprit.attempt) return;
    if (culprit.cause == Cause::suspect)
        reached<"worker_ended_a_suspect">();
    else
        reached<"worker_charged_the_only_attempt">();
    context_.log.write(Level::error, "crashed again: an attempt ends", "job",
                       culprit.attempt->job.text(), "epoch", culprit.attempt->epoch.value, "rule",
                       culprit.rule);
    kill(*culprit.attempt, culprit.cause);
}

// A worker on probation has shown that it survives one more.
void Supervisor::note_end(const Attempt& attempt) {
    if (attempt.adopted) --context_.adopted;
    if (!is_good_end(attempt.end)) return;
    const auto before = context_.slots();
    ++context_.good_ends;
    if (context_.slots() > before) context_.heartbeat_bell->ring();
}

void Supervisor::adopt_one(const OnDisk& found) {
    const auto decision = decide_found({.has_result = found.result.has_value(),
                                        .started = found.started,
                                        .shim_alive = found.shim_alive});
    Attempt attempt{.assignment = found.assignment, .terms = found.terms};
    // Who asked and started had its go; who did not ask may have been confirmed or not.
    attempt.start_is_known = found.started && found.terms.asks;
    switch (decision.phase) {
        case Listed::Phase::unstarted: attempt.phase = Phase::prepared; break;
        case Listed::Phase::running: attempt.phase = Phase::running; break;
        case Listed::Phase::ended: attempt.phase = Phase::ended; break;
    }
    if (decision.end) {
        reached<"worker_found_a_dead_shim">();
        attempt.found_as = decision.phase;
        attempt.phase = Phase::ended;
        attempt.end = *decision.end;
    } else if (found.result) {
        attempt.end = *found.result;
        attempt.end.reported = true;
        attempt.evidence = found.evidence;
    }
    attempt.adopted = attempt.phase == Phase::running;
    if (attempt.adopted) ++context_.adopted;
    attempt.ended_at = context_.now();
    attempt.has_new_output = found.started;  // how much of it a server has is not known here
    table_.add(found.attempt, std::move(attempt));
    context_.output_bell->ring();
    context_.log.write(Level::info, "found on disk", "job", found.attempt.job.text(), "epoch",
                       found.attempt.epoch.value, "rule", decision.rule);
}

void Supervisor::take(Assignment assignment) {
    const auto key = assignment.attempt;
    auto& numbers = session_.numbers();
    const auto decision = decide_assignment({.known = table_.contains(key),
                                             .handled = numbers.is_handled(assignment.number),
                                             .number = assignment.number,
                                             .named = numbers.named(),
                                             .epoch = key.epoch,
                                             .other = table_.other_epoch(key),
                                             .takes_new = context_.takes_new()});
    numbers.see(assignment.number);
    numbers.handle(assignment.number);
    context_.log.write(Level::debug, "assignment", "job", key.job.text(), "epoch", key.epoch.value,
                       "number", assignment.number, "rule", decision.rule);

    Attempt attempt{.assignment = assignment.number, .terms = assignment.terms};
    switch (decision.answer) {
        case AssignmentAnswer::ignore: reached<"worker_ignored_a_repeated_assignment">(); return;
        case AssignmentAnswer::discard: reached<"worker_discarded_an_assignment">(); return;
        case AssignmentAnswer::hand_back:
            reached<"worker_handed_back_an_assignment">();
            attempt.has_directory = false;
            table_.add(key, std::move(attempt));
            conclude(key, did_not_run(Cause::evicted));
            return;
        case AssignmentAnswer::take_and_kill_older:
            reached<"worker_replaced_an_older_epoch">();
            for (const auto old : table_.keys())
                if (old.job == key.job) disown(old);
            break;
        case AssignmentAnswer::take: break;
    }
    table_.add(key, std::move(attempt));
    die_if(Fault::worker_after_assignment);
    if (strikes(Fault::worker_start_hangs))
        return context_.gate.spawn("hang", prepare_late(std::move(assignment)));
    if (const auto prepared = context_.ports.processes.prepare_at_once(assignment))
        return on_prepared(key, *prepared);
    context_.gate.spawn("prepare", prepare(std::move(assignment)));
}

Task<void> Supervisor::prepare(Assignment assignment) {
    const auto key = assignment.attempt;
    const auto prepared = co_await context_.ports.processes.prepare(std::move(assignment));
    on_prepared(key, prepared);
}

Task<void> Supervisor::prepare_late(Assignment assignment) {
    const auto key = assignment.attempt;
    const auto alarm = context_.ports.clock.make_alarm();
    co_await alarm->wait(hang);
    const auto* attempt = table_.find(key);
    if (!attempt) co_return;
    if (attempt->killed_as) co_return conclude(key, did_not_run(*attempt->killed_as));
    co_await prepare(std::move(assignment));
}

void Supervisor::on_prepared(AttemptKey key, const Result<void>& prepared) {
    auto* attempt = table_.find(key);
    if (!attempt || attempt->phase != Phase::preparing) return;  // its shim has spoken first
    if (!prepared) {
        context_.log.write(Level::warn, "attempt not prepared", "job", key.job.text(), "epoch",
                           key.epoch.value, "why", prepared.error().what);
        auto evidence = std::make_shared<Evidence>();
        evidence->detail = prepared.error().what;
        conclude(key, did_not_run(decide_prepare_failure(prepared.error().code)),
                 std::move(evidence));
        return;
    }
    attempt->phase = Phase::prepared;
    if (attempt->killed_as) {
        reached<"worker_killed_what_was_just_prepared">();
        kill(key, *attempt->killed_as);
        return;
    }
    start_at_once(key, *attempt);
    if (attempt->phase == Phase::prepared) context_.report_bell->ring();  // it may have to ask
}

void Supervisor::start_what_waits() {
    bool asks = false;
    for (const auto key : table_.keys()) {
        auto& attempt = *table_.find(key);
        start_at_once(key, attempt);
        asks = asks || attempt.phase == Phase::prepared;
    }
    if (asks) context_.report_bell->ring();
}

bool Supervisor::may_begin(const Terms& terms) const {
    return lease_forbids_start(terms, *session_.lease_until(), context_.now(),
                               context_.options.timing)
        .empty();
}

void Supervisor::start_at_once(AttemptKey key, Attempt& attempt) {
    if (attempt.phase != Phase::prepared || attempt.terms.asks || attempt.killed_as) return;
    if (!session_.is_open() || context_.mode != WorkerMode::working) return;
    if (!may_begin(attempt.terms)) return;  // the next renewal starts it
    attempt.phase = Phase::ordered;
    attempt.raise_lease(*session_.lease_until());
    context_.ports.processes.start(key,
                                   {.go_until = std::nullopt, .lease_until = *attempt.lease_until});
}

void Supervisor::go(AttemptKey key, BootTime sent, BootTime lease_until) {
    auto* attempt = table_.find(key);
    if (!attempt) return;
    attempt->start_is_known = true;
    const bool waits = attempt->phase == Phase::prepared || attempt->phase == Phase::ordered;
    if (!waits || attempt->killed_as || context_.mode != WorkerMode::working) return;
    die_if(Fault::worker_after_go);
    attempt->phase = Phase::ordered;
    attempt->go_until = sent + context_.options.timing.go;
    // The lease as it was known before the ask: when that was committed, it was at least as long.
    attempt->raise_lease(lease_until);
    context_.ports.processes.start(
        key, {.go_until = attempt->go_until, .lease_until = *attempt->lease_until});
    context_.watch_bell->ring();
}

void Supervisor::kill(AttemptKey key, Cause cause) {
    auto* attempt = table_.find(key);
    if (!attempt || attempt->phase == Phase::ended) return;
    if (!attempt->killed_as) {
        attempt->killed_as = cause;
        context_.log.write(Level::info, "killing", "job", key.job.text(), "epoch", key.epoch.value,
                           "cause", to_string(cause));
    }
    // What is still being prepared is killed as soon as it is.
    if (attempt->phase != Phase::preparing) context_.ports.processes.kill(key, cause);
}

void Supervisor::disown(AttemptKey key) {
    auto* attempt = table_.find(key);
    if (!attempt || attempt->phase == Phase::ended || attempt->cut_off) return;
    attempt->cut_off = true;
    kill(key, Cause::cut_off);
}

void Supervisor::hand_back(AttemptKey key) {
    const auto* attempt = table_.find(key);
    if (!attempt || attempt->killed_as) return;
    // One that was told to start may be running, until its go has expired.
    const bool too_late = attempt->phase == Phase::ordered && attempt->go_until &&
                          *attempt->go_until <= context_.now();
    const bool waits =
        attempt->phase == Phase::preparing || attempt->phase == Phase::prepared || too_late;
    if (!waits) return;
    reached<"worker_handed_back_an_unstarted_attempt">();
    kill(key, Cause::evicted);
}

void Supervisor::hand_back_unstarted() {
    for (const auto key : table_.keys()) hand_back(key);
}

void Supervisor::evict_all() {
    for (const auto key : table_.keys()) {
        if (table_.find(key)->phase == Phase::ended) continue;
        reached<"worker_evicted_at_the_end_of_a_drain">();
        kill(key, Cause::evicted);
    }
}

void Supervisor::acknowledge(AttemptKey key) {
    const auto* attempt = table_.find(key);
    if (!attempt) return;
    die_if(Fault::worker_before_forget);
    if (attempt->has_directory) context_.ports.processes.forget(key);
    table_.erase(key);
    context_.drain_bell->ring();
}

void Supervisor::conclude(AttemptKey key, AttemptEnd end, EvidenceRef evidence) {
    auto* attempt = table_.find(key);
    if (!attempt || attempt->phase == Phase::ended) return;
    attempt->phase = Phase::ended;
    attempt->end = end;
    attempt->end.reported = true;
    attempt->evidence = std::move(evidence);
    attempt->ended_at = context_.now();
    attempt->progress.clear();
    note_end(*attempt);
    if (attempt->output_is_lost) attempt->has_new_output = true;
    if (attempt->has_new_output) context_.output_bell->ring();
    context_.report_bell->ring();
}

Task<void> Supervisor::follow_events() {
    while (!context_.stop.requested()) {
        auto events = co_await context_.ports.processes.next_events();
        if (context_.stop.requested()) break;  // they are on disk for the next worker
        for (auto& event : events) on_event(std::move(event));
    }
}

void Supervisor::on_event(ProcessEvent event) {
    switch (event.kind) {
        case ProcessEvent::Kind::started: on_started(event.attempt); break;
        case ProcessEvent::Kind::ended:
            die_if(Fault::worker_after_result);
            conclude(event.attempt, event.end, std::move(event.evidence));
            break;
        case ProcessEvent::Kind::printed: on_printed(event.attempt); break;
        case ProcessEvent::Kind::progress: on_note(std::move(event)); break;
        case ProcessEvent::Kind::begin:
        case ProcessEvent::Kind::checkpoint: on_progress(std::move(event)); break;
        case ProcessEvent::Kind::call: inside_.take(std::move(event)); break;
    }
}

void Supervisor::on_started(AttemptKey key) {
    auto* attempt = table_.find(key);
    if (!attempt || attempt->is_started()) return;
    attempt->phase = Phase::running;
    context_.report_bell->ring();
    context_.watch_bell->ring();
}

void Supervisor::on_printed(AttemptKey key) {
    auto* attempt = table_.find(key);
    if (!attempt) return;
    ++attempt->output_hints;
    if (attempt->output_is_lost) return;
    attempt->has_new_output = true;
    context_.output_bell->ring();
}

// The next heartbeat tells it.
void Supervisor::on_note(ProcessEvent event) {
    auto* attempt = table_.find(event.attempt);
    if (!attempt) return;
    event.text.resize(std::min(event.text.size(), progress_text_max));
    attempt->note = ProgressNote{event.attempt, event.percent, std::move(event.text)};
}

void Supervisor::on_progress(ProcessEvent event) {
    auto* attempt = table_.find(event.attempt);
    if (!attempt || attempt->phase == Phase::ended) {
        context_.ports.processes.answer(event.attempt, event.kind, false);
        return;
    }
    const auto patience = context_.options.timing.progress_patience;
    attempt->progress.push_back({.serial = ++last_serial_,
                                 .kind = event.kind,
                                 .checkpoint = std::move(event.checkpoint),
                                 .number = event.number,
                                 .give_up_at = context_.now() + patience});
    context_.report_bell->ring();
    context_.watch_bell->ring();
}

void Supervisor::answer_progress(AttemptKey key, std::uint64_t serial, bool committed) {
    auto* attempt = table_.find(key);
    // Given up, or ended, while the server's answer was under way.
    if (!attempt || attempt->progress.empty() || attempt->progress.front().serial != serial) return;
    const auto kind = attempt->progress.front().kind;
    attempt->progress.erase(attempt->progress.begin());
    context_.ports.processes.answer(key, kind, committed);
}

void Supervisor::give_up_old_progress() {
    for (const auto key : table_.keys()) {
        auto* attempt = table_.find(key);
        while (!attempt->progress.empty() &&
               attempt->progress.front().give_up_at <= context_.now()) {
            reached<"worker_gave_up_a_checkpoint">();
            answer_progress(key, attempt->progress.front().serial, false);
        }
    }
}

}  // namespace perdure
