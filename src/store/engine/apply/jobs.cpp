// Jobs: submitting, waiting, and being forgotten (C5, E5).
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/zoo.h"
#include "core/job/batch.h"
#include "core/job/submit.h"
#include "core/ownership/presence.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/ledger.h"
#include "store/engine/apply/moves.h"
#include "store/engine/apply/relations.h"
#include "store/engine/row_name.h"

namespace perdure::store {
namespace {

using KeyRow = std::optional<IdempotencyRow>;

// corrupt: it cannot be understood, so that nobody knows whose key it is (C9).
Result<KeyRow> row_of_key(State& state, const JobSpec& spec) {
    if (!spec.idempotency_key) return KeyRow{};
    const auto& key = *spec.idempotency_key;
    const auto name = [&] { return damaged_row("idempotency", row_name({spec.tenant, key})); };
    auto read = state.book.unless_damaged(
        [&] {
            auto found = state.key(spec);
            if (found && !found->gone) state.job_that_exists(found->job);
            return found;
        },
        name);
    if (!read)
        return error(Errc::corrupt,
                     "the row of this idempotency key cannot be understood:"
                     " perdure fsck names it");
    auto& found = *read;
    if (found && found->until && *found->until <= state.now()) return KeyRow{};
    return std::move(found);
}

// The key outlives the job (C5).
void forget(State& state, JobRow& job) {
    const auto* outcome = job.in<Outcome>();
    if (!outcome) fail_corrupt("job " + job.id.text() + " is listed as ended");
    if (job.spec->idempotency_key) {
        const auto until = std::max(
            *outcome->ended_at + job.spec->keep_key.value_or(state.timing.keep_key), state.now());
        state.put_key(*job.spec, {job.id, job.body_hash, outcome->state, until});
    }
    state.forget(job);
}

// Jobs whose retention may be over, earliest first. They are not noted any more.
std::vector<JobId> take_notes(State& state, std::uint32_t max) {
    std::vector<JobId> jobs;
    if (!state.pending.notes.empty()) return jobs;  // this group has taken some
    for (const auto& [forget_at, noted] : state.rows.to_forget(state.now(), max)) {
        TakenNote note{forget_at, noted.front(), {}};
        for (const auto id : noted) {
            // Not before all who waited for it were told.
            const bool stays = jobs.size() == max || state.debts.owes(id);
            (stays ? note.left : jobs).push_back(id);
        }
        state.pending.notes.push_back(std::move(note));
    }
    return jobs;
}

// Once these jobs are gone.
std::vector<SessionId> unneeded_sessions(State& state, const std::set<JobId>& gone, ServiceTime now,
                                         std::uint32_t max) {
    const auto oldest = state.rows.oldest_submit(gone);
    std::vector<SessionId> unneeded;
    for (const auto& [id, session] : state.sessions()) {
        if (unneeded.size() == max) break;
        const SessionRetentionFacts facts{.owns_attempts = !state.runs_of(id).empty(),
                                          .lease_deadline = session.lease_deadline,
                                          .heard_at = session.heard_at,
                                          .oldest_submit = oldest,
                                          .now = now};
        if (decide_session_retention(facts).forget) unneeded.push_back(id);
    }
    return unneeded;
}

Error same_id() { return not_possible("a job with this id exists"); }
Error other_body() { return not_possible("this idempotency key was used for a different job"); }

// The job that this submit asks for, if it is there already; an error if it cannot be had.
// `earlier`: what comes before it in its batch.
Result<std::optional<Submitted>> look_up(State& state, const Submit& change,
                                         const EarlierInBatch& earlier) {
    if (const JobRow* job = state.job(change.id)) {
        // Ids are never drawn twice: this very submit is repeated, after a lost reply.
        if (!is_same_body(job->body_hash, change.body_hash, change.old_hash)) return same_id();
        return std::optional(Submitted{job->id, true, state_of(*job)});
    }
    const auto row = row_of_key(state, *change.spec);
    if (!row) return row.error();
    const auto& known = *row;
    const bool is_same = known && is_same_body(known->body_hash, change.body_hash, change.old_hash);
    const auto decision = decide_idempotency({.key_known = known.has_value(),
                                              .same_body = is_same,
                                              .job_gone = known && known->gone.has_value()});
    switch (decision.kind) {
        case IdempotencyDecision::Kind::same_job: {
            const auto& job = state.job_that_exists(known->job);
            return std::optional(Submitted{job.id, false, state_of(job)});
        }
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

bool are_ascending(const std::vector<Submit>& jobs) {
    return std::adjacent_find(jobs.begin(), jobs.end(), [](const Submit& a, const Submit& b) {
               return !(a.id < b.id);
           }) == jobs.end();
}

Submitted create(State& state, const Submit& change) {
    JobRow& job = make_job(state, change);
    if (change.spec->idempotency_key)
        state.put_key(*change.spec, {job.id, change.body_hash, std::nullopt, std::nullopt});
    look_at_waiter(state, job);  // what it waits for may have ended otherwise
    return {job.id, true, state_of(job)};
}

}  // namespace

JobRow& make_job(State& state, const Submit& change) {
    JobRow job;
    job.id = change.id;
    job.spec = change.spec;
    job.body_hash = change.body_hash;
    job.shape = state.shapes.id_of(shape_of(*change.spec));
    job.things = things_of(*change.spec);
    job.submitted_at = state.now();
    job.watched = false;
    JobRow& made = state.add(std::move(job));
    begin_generation(state, made);
    begin_waiting(state, made);
    state.put(made, first_place(state, made));
    return made;
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

PlaceRow first_place(State& state, const JobRow& job) {
    if (waits_for_others(state, job)) return Wait{state.now() + job.spec->timeouts.queue};
    const auto& date = job.spec->run_at;
    // A date that is still ahead when the job first begins to wait.
    const bool begins_later = job.attempts.empty() && date && *date > state.service.wall;
    if (begins_later) return Timer{.date = date};
    return Ready{begin_stay(state, job, Entry::at_the_end), std::nullopt};
}

void begin_generation(State& state, JobRow& job) {
    job.presumed_lost.reset();
    const auto& total = job.spec->timeouts.total;
    if (total) job.total_deadline = state.now() + *total;
}

void end_waiting(State& state, JobRow& job, const Outcome& outcome) {
    job.presumed_lost.reset();
    move_and_free(state, job, outcome);
}

void order_kill(State& state, JobRow& job, Cause cause) {
    auto run = *job.in<Run>();
    run.order = cause;
    run.recalled = false;  // a kill is stronger
    move(state, job, run);
}

ChangeReply apply(State& state, const Submit& change) {
    auto known = look_up(state, change, {});
    if (!known) return known.error();
    if (*known) return {**known};
    return {create(state, change)};
}

ChangeReply apply(State& state, const SubmitAll& change) {
    // Mostly each is for itself: then nobody need be remembered for those behind it.
    const bool has_repeats = !are_ascending(change.jobs);
    const bool has_relations =
        std::any_of(change.jobs.begin(), change.jobs.end(),
                    [](const auto& job) { return !job.spec->after.empty(); });
    // Of this very batch: one key or id, one body.
    std::map<std::pair<std::string, std::string>, BodyHash> keys;
    std::map<JobId, BodyHash> ids;
    EarlierInBatch earlier;
    for (std::size_t i = 0; i < change.jobs.size(); ++i) {
        const auto& job = change.jobs[i];
        const auto refuse = [&](Error why) -> ChangeReply {
            return {BatchSubmitted{.refused = BatchSubmitted::Refused{i, std::move(why)}}};
        };
        const auto known = look_up(state, job, earlier);
        if (!known) return refuse(known.error());
        // Those behind it may wait for it.
        if (has_relations && *known) look_at_input(state, state.job_that_exists((*known)->id));
        if (has_relations) earlier.emplace(job.id, job.spec->tenant);
        if (has_repeats && ids.try_emplace(job.id, job.body_hash).first->second != job.body_hash)
            return refuse(same_id());
        if (!job.spec->idempotency_key) continue;
        const std::pair key{job.spec->tenant, *job.spec->idempotency_key};
        if (keys.try_emplace(key, job.body_hash).first->second != job.body_hash)
            return refuse(other_body());
    }
    BatchSubmitted batch;
    batch.jobs.reserve(change.jobs.size());
    std::map<JobId, JobId> found;  // what was asked for under this id is that job
    for (const auto& asked : change.jobs) {
        auto job = asked;
        job.spec = with_found(asked.spec, found);
        const auto known = look_up(state, job, earlier);
        batch.jobs.push_back(*known ? **known : create(state, job));
        if (has_relations) found[asked.id] = batch.jobs.back().id;
    }
    return {std::move(batch)};
}

void end_wait(State& state, JobRow& job, const WaitDecision& decision) {
    using Kind = WaitDecision::Kind;
    Outcome outcome{.state = JobState::expired, .cause = decision.cause, .rule = decision.rule};
    switch (decision.kind) {
        case Kind::wait: return;
        case Kind::make_ready: {
            const auto avoid = job.in<Timer>()->avoid;
            const Ready ready{begin_stay(state, job, Entry::at_the_end, avoid), std::nullopt};
            return move(state, job, ready);
        }
        case Kind::free_holders:
            return move_and_free(state, job, Ready{job.in<Ready>()->stay, std::nullopt});
        case Kind::fail: outcome.state = JobState::failed; [[fallthrough]];
        case Kind::expire:
            enter_expiry(state, job, decision, outcome.state);
            return end_waiting(state, job, outcome);
        case Kind::order_kill: return order_kill(state, job, decision.cause);
    }
}

ChangeReply apply(State& state, const ForgetEnded& change) {
    Forgotten forgotten;
    if (state.stays_unwritten) return {forgotten};  // nothing is gone before that is written
    const auto noted = take_notes(state, change.max);
    state.load_jobs(noted);
    auto gone = state.forgotten();
    for (const auto id : noted) {
        const auto* job = state.readable(id);
        const auto* outcome = job ? job->in<Outcome>() : nullptr;
        if (!outcome || state.now() < outcome->forget_at) continue;  // the note is outdated
        if (gone.insert(id).second) forgotten.jobs.push_back(id);
    }
    const auto unneeded = unneeded_sessions(state, gone, state.now(), change.max);
    const auto old = state.rows.old_keys(state.now(), change.max);
    forgotten.unfinished = noted.size() == change.max || old.size() == change.max;
    for (const auto id : forgotten.jobs) forget(state, state.job_that_exists(id));
    state.drop_keys(old);
    for (const auto id : unneeded) state.forget_session(id);
    return {forgotten};
}

bool is_anything_to_forget(State& state, ServiceTime now) {
    return !state.rows.to_forget(now, 1).empty() || !state.rows.old_keys(now, 1).empty() ||
           !unneeded_sessions(state, {}, now, 1).empty();
}

}  // namespace perdure::store
