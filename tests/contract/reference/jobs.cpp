// Jobs: submitting, waiting, and what a person does to one (C5, E1, E2, E5).
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "core/aftermath.h"
#include "core/batch.h"
#include "core/presence.h"
#include "core/submit.h"
#include "tests/contract/reference/apply.h"
#include "tests/contract/reference/ending.h"
#include "tests/contract/reference/history/ledger.h"
#include "tests/contract/reference/relations/relations.h"

namespace perdure::reference {
namespace {

Error not_possible(std::string_view why) { return error(Errc::conflict, std::string(why)); }

const IdempotencyRow* row_of_key(const State& state, const JobSpec& spec) {
    if (!spec.idempotency_key) return nullptr;
    const auto found = state.idempotency.find({spec.tenant, *spec.idempotency_key});
    if (found == state.idempotency.end()) return nullptr;
    const auto& until = found->second.until;
    return until && *until <= state.clock.now ? nullptr : &found->second;
}

// A date that is still ahead when the job first begins to wait.
bool begins_later(const State& state, const JobRow& job) {
    return job.attempts.empty() && job.spec->run_at && *job.spec->run_at > state.wall;
}

void begin_generation(State& state, JobRow& job) {
    job.presumed_lost.reset();
    const auto& total = job.spec->timeouts.total;
    if (total) job.total_deadline = state.clock.now + *total;
}

// An attempt that had to ask and did not: nothing has started.
void cancel_unstarted(State& state, JobRow& job, std::string_view rule) {
    const AttemptEnd end{.cause = Cause::cancelled, .ran = Ran::no, .reported = true};
    const Next next{.state = JobState::cancelled, .rule = rule};
    end_attempt(state, job, *job.attempt(job.in<Run>()->epoch), end, next, Sighting{});
}

void order(State& state, JobRow& job, Cause cause) {
    auto run = *job.in<Run>();
    run.order = cause;
    run.recalled = false;  // a kill is stronger
    move(state, job, run);
}

QuarantineFacts quarantine_facts(const JobRow& job, const DealWithQuarantined& change) {
    QuarantineFacts facts{.state = state_of(job), .may_still_run = change.may_still_run};
    if (const auto* outcome = job.in<Outcome>()) facts.discarded = outcome->discarded;
    if (job.attempts.empty()) return facts;
    const auto& last = job.attempts.back();
    facts.late_result = last.late_result;
    facts.process_known_dead = is_known_dead(last.end, last.late_result);
    return facts;
}

void carry_out(State& state, JobRow& job, const QuarantineDecision& decision) {
    using Kind = QuarantineDecision::Kind;
    switch (decision.kind) {
        case Kind::refuse: return;
        case Kind::new_generation:
            ++job.generation;
            begin_generation(state, job);
            return move(state, job, Ready{begin_stay(state, job, Entry::at_the_end)});
        case Kind::end_generation: {
            const auto cause = job.attempts.back().late_result->cause;
            ++job.generation;
            return move(state, job,
                        Outcome{.state = decision.state, .cause = cause, .rule = decision.rule});
        }
        case Kind::mark_discarded: {
            auto outcome = *job.in<Outcome>();
            outcome.discarded = true;
            return move(state, job, outcome);
        }
    }
}

// The key outlives the job (C5).
void forget(State& state, JobRow& job) {
    const auto outcome = *job.in<Outcome>();
    if (const auto& key = job.spec->idempotency_key) {
        auto& row = state.idempotency.at({job.spec->tenant, *key});
        row.gone = outcome.state;
        row.until = std::max(*outcome.ended_at + job.spec->keep_key.value_or(state.timing.keep_key),
                             state.clock.now);
    }
    forget_awaited(state, job);
    state.places.remove(job);
    forget_entries(state, job);
    state.jobs.erase(job.id);
}

Error other_body() { return not_possible("this idempotency key was used for a different job"); }

// The job that this submit asks for, if it is there already; an error if it cannot be had.
// `earlier`: what comes before it in its batch.
Result<std::optional<Submitted>> look_up(State& state, const Submit& change,
                                         const EarlierInBatch& earlier) {
    if (const JobRow* job = state.job(change.id)) {
        // Ids are never drawn twice: this very submit is repeated, after a lost reply.
        if (job->body_hash != change.body_hash) return not_possible("a job with this id exists");
        return std::optional(Submitted{job->id, true, state_of(*job)});
    }
    const auto* known = row_of_key(state, *change.spec);
    const auto decision =
        decide_idempotency({.key_known = known != nullptr,
                            .same_body = known && known->body_hash == change.body_hash,
                            .job_gone = known && known->gone.has_value()});
    switch (decision.kind) {
        case IdempotencyDecision::Kind::same_job:
            return std::optional(Submitted{known->job, false, state_of(state.jobs.at(known->job))});
        case IdempotencyDecision::Kind::other_body: return other_body();
        case IdempotencyDecision::Kind::gone:
            return error(Errc::gone, "job " + known->job.text() +
                                         " of this idempotency key ended as " +
                                         std::string(to_string(*known->gone)) + " and was removed");
        case IdempotencyDecision::Kind::create: break;
    }
    if (auto why = why_not_limited(state, *change.spec)) return *why;
    if (auto why = why_not_after(state, *change.spec, earlier)) return *why;
    return std::optional<Submitted>{};
}

Submitted create(State& state, const Submit& change) {
    JobRow& job = make_job(state, change);
    if (change.spec->idempotency_key)
        state.idempotency[{change.spec->tenant, *change.spec->idempotency_key}] = {
            job.id, change.body_hash};
    look_at_waiter(state, job);  // what it waits for may have ended otherwise
    return {job.id, true, state_of(job)};
}

}  // namespace

PlaceRow first_place(const State& state, const JobRow& job) {
    if (waits_for_others(job)) return Wait{state.clock.now + job.spec->timeouts.queue};
    if (begins_later(state, job)) return Timer{.date = job.spec->run_at};
    return Ready{begin_stay(state, job, Entry::at_the_end)};
}

JobRow& make_job(State& state, const Submit& change) {
    JobRow& job = state.jobs[change.id];
    job.id = change.id;
    job.spec = change.spec;
    job.body_hash = change.body_hash;
    job.shape = shape_of(*change.spec);
    job.things = things_of(*change.spec);
    job.submitted_at = state.clock.now;
    begin_generation(state, job);
    begin_waiting(state, job);
    job.place = first_place(state, job);
    state.places.insert(job);
    note_who_waits(state, job.shape);
    if (job.in<Ready>()) state.work_appeared = true;
    return job;
}

void end_waiting(State& state, JobRow& job, const Outcome& outcome) {
    job.presumed_lost.reset();
    move_and_free(state, job, outcome);
}

std::optional<Error> why_not_limited(const State& state, const JobSpec& spec) {
    for (const auto& limit : spec.limits) {
        if (!state.holders.is_defined({Thing::Kind::limit, spec.tenant, limit}))
            return error(Errc::invalid, "limit `" + limit + "` is not defined: define it first");
    }
    for (const auto& callback : spec.callbacks)
        if (auto why = why_not_limited(state, *callback.spec)) return why;
    return std::nullopt;
}

ChangeReply apply(State& state, const Submit& change) {
    auto known = look_up(state, change, {});
    if (!known) return known.error();
    if (*known) return {**known};
    return {create(state, change)};
}

ChangeReply apply(State& state, const SubmitAll& change) {
    std::map<std::pair<std::string, std::string>, std::uint64_t> keys;  // of this very batch
    std::map<JobId, std::uint64_t> ids;
    EarlierInBatch earlier;
    for (std::size_t i = 0; i < change.jobs.size(); ++i) {
        const auto& job = change.jobs[i];
        auto known = look_up(state, job, earlier);
        earlier.emplace(job.id, job.spec->tenant);
        const bool drawn_twice =
            ids.try_emplace(job.id, job.body_hash).first->second != job.body_hash;
        if (known && drawn_twice) known = not_possible("a job with this id exists");
        if (!known) return {BatchSubmitted{.refused = BatchSubmitted::Refused{i, known.error()}}};
        if (!job.spec->idempotency_key) continue;
        const std::pair key{job.spec->tenant, *job.spec->idempotency_key};
        const auto first = keys.try_emplace(key, job.body_hash).first;
        if (first->second != job.body_hash)
            return {BatchSubmitted{.refused = BatchSubmitted::Refused{i, other_body()}}};
    }
    BatchSubmitted batch;
    std::map<JobId, JobId> found;  // what was asked for under this id is that job
    for (const auto& asked : change.jobs) {
        const Submit job{asked.id, with_found(asked.spec, found), asked.body_hash};
        const auto known = look_up(state, job, earlier);
        batch.jobs.push_back(*known ? **known : create(state, job));
        found[asked.id] = batch.jobs.back().id;
    }
    return {std::move(batch)};
}

void end_wait(State& state, JobRow& job, const WaitDecision& decision) {
    using Kind = WaitDecision::Kind;
    const Outcome outcome{
        .state = JobState::expired, .cause = decision.cause, .rule = decision.rule};
    switch (decision.kind) {
        case Kind::wait: return;
        case Kind::make_ready: {
            const auto avoid = job.in<Timer>()->avoid;
            return move(state, job, Ready{begin_stay(state, job, Entry::at_the_end, avoid)});
        }
        case Kind::free_holders: return move_and_free(state, job, Ready{job.in<Ready>()->stay});
        case Kind::expire:
            enter_expiry(state, job, decision, outcome.state);
            return end_waiting(state, job, outcome);
        case Kind::fail: {
            auto failed = outcome;
            failed.state = JobState::failed;
            enter_expiry(state, job, decision, failed.state);
            return end_waiting(state, job, failed);
        }
        case Kind::order_kill: return order(state, job, decision.cause);
    }
}

ChangeReply apply(State& state, const Cancel& change) {
    JobRow* job = state.job(change.job);
    if (!job) return no_such_job();
    const auto* run = job->in<Run>();
    const auto decision = decide_cancel(
        {.state = state_of(*job), .asks = run && job->attempt(run->epoch)->terms.asks});
    Cancelled reply{.kind = decision.kind};
    switch (decision.kind) {
        case CancelDecision::Kind::already_ended: break;
        case CancelDecision::Kind::order_kill:
            reply.running = AttemptKey{job->id, run->epoch};
            reply.session = run->session;
            order(state, *job, Cause::cancelled);
            break;
        case CancelDecision::Kind::end_now:
            if (run) {
                cancel_unstarted(state, *job, decision.rule);
            } else {
                end_waiting(state, *job,
                            Outcome{.state = JobState::cancelled,
                                    .cause = Cause::cancelled,
                                    .rule = decision.rule});
            }
            break;
    }
    return {reply};
}

ChangeReply apply(State& state, const Hold& change) {
    JobRow* job = state.job(change.job);
    if (!job) return no_such_job();
    if (!can_be_held(state_of(*job))) return not_possible("only a job that waits can be held");
    if (!change.hold) {
        if (!job->is_held_by_a_person()) return not_possible("the job is not held");
        move(state, *job, first_place(state, *job));
        return {Applied{}};
    }
    if (job->is_held_by_a_person()) return {Applied{}};
    auto stay = begin_stay(state, *job, Entry::at_the_end);
    stay.queue_deadline = state.clock.now + state.timing.held_by_person;
    move_and_free(state, *job, Blocked{stay, std::nullopt});
    return {Applied{}};
}

namespace {

void forget_sessions(State& state, std::uint32_t max) {
    std::vector<SessionId> unneeded;
    for (const auto& [id, session] : state.sessions) {
        if (unneeded.size() == max) break;
        SessionRetentionFacts facts{.owns_attempts = !state.places.runs_of(id).empty(),
                                    .lease_deadline = session.lease_deadline,
                                    .heard_at = session.heard_at,
                                    .now = state.clock.now};
        if (!state.jobs.empty()) facts.oldest_submit = state.jobs.begin()->second.submitted_at;
        if (decide_session_retention(facts).forget) unneeded.push_back(id);
    }
    for (const auto id : unneeded) {
        std::erase_if(state.latest_sessions, [&](const auto& entry) { return entry.second == id; });
        state.sessions.erase(id);
    }
}

}  // namespace

ChangeReply apply(State& state, const ForgetEnded& change) {
    Forgotten forgotten;
    const auto& due = state.places.retentions();
    while (!due.empty() && due.begin()->first <= state.clock.now &&
           forgotten.jobs.size() < change.max) {
        const JobId id = due.begin()->second;
        forget(state, state.jobs.at(id));
        forgotten.jobs.push_back(id);
    }
    std::uint32_t keys = 0;
    std::erase_if(state.idempotency, [&](const auto& entry) {
        const auto& until = entry.second.until;
        const bool goes = keys < change.max && until && *until <= state.clock.now;
        keys += goes ? 1 : 0;
        return goes;
    });
    forgotten.unfinished = forgotten.jobs.size() == change.max || keys == change.max;
    forget_sessions(state, change.max);
    return {forgotten};
}

ChangeReply apply(State& state, const DealWithQuarantined& change) {
    JobRow* job = state.job(change.job);
    if (!job) return no_such_job();
    const auto decision = decide_quarantine(change.action, quarantine_facts(*job, change));
    if (decision.kind == QuarantineDecision::Kind::refuse) return not_possible(decision.rule);
    carry_out(state, *job, decision);
    return {Applied{}};
}

}  // namespace perdure::reference
