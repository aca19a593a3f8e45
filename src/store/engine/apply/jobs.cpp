// Jobs: submitting, waiting, and being forgotten (C5, E5).
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/zoo.h"
#include "core/job/submit.h"
#include "core/ownership/presence.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/attempts.h"
#include "store/engine/apply/job_relations.h"
#include "store/engine/apply/moves.h"
#include "store/engine/apply/repairs.h"
#include "store/engine/row_name.h"

namespace perdure::store {
namespace {

using KeyRow = std::optional<IdempotencyRow>;

// By one change (C8).
constexpr std::uint32_t submits_walked_max = 5'000;
constexpr std::uint32_t sessions_walked_max = 5'000;

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

// Jobs whose retention may be over, earliest first. What they are noted in is added to `taken`.
std::vector<JobId> find_noted(State& state, std::uint32_t max, std::vector<TakenNote>& taken) {
    std::vector<JobId> jobs;
    if (!state.pending->notes.empty()) return jobs;  // this group has taken some
    for (const auto& [forget_at, noted] : state.rows.to_forget(state.now(), max)) {
        TakenNote note{forget_at, noted.front(), {}};
        for (const auto id : noted) {
            // Not before all who waited for it were told.
            const bool stays = jobs.size() == max || state.debts.owes(id);
            (stays ? note.left : jobs).push_back(id);
        }
        taken.push_back(std::move(note));
    }
    return jobs;
}

// Goes through all jobs, a piece at a time, again and again: but not while the one that was found
// first is there, since what is submitted meanwhile is later.
void find_first_submit(State& state, const std::set<JobId>& gone) {
    const auto is_there = [&](JobId id) {
        return id && !gone.contains(id) && state.rows.has_job(id);
    };
    if (state.first_submit && is_there(state.first_submit->job)) return;
    auto& walk = state.submit_walk;
    if (!walk) walk = State::SubmitWalk{.after = {}, .began = state.now(), .first = {}};
    const auto some = state.rows.submits(walk->after, submits_walked_max, gone);
    walk->after = some.last;
    const auto& first = some.first;
    if (first && (!walk->first || first->first < walk->first->at))
        walk->first = State::FirstSubmit{first->second, first->first};
    if (!some.are_all) return;
    state.first_submit = walk->first.value_or(State::FirstSubmit{{}, walk->began});
    walk.reset();
}

// Once these jobs are gone. Looks at some of the sessions, then at the next ones; `at` is where.
std::vector<SessionId> unneeded_sessions(State& state, const std::set<JobId>& gone, ServiceTime now,
                                         std::uint32_t max, SessionId& at) {
    std::vector<SessionId> unneeded;
    if (state.sessions().size() <= sessions_walked_max) at = {};
    auto next = state.sessions().upper_bound(at);
    std::uint32_t looked_at = 0;
    bool is_first_submit_known = false;
    for (; next != state.sessions().end() && looked_at < sessions_walked_max; ++next) {
        if (unneeded.size() == max) return unneeded;
        const auto& [id, session] = *next;
        SessionRetentionFacts facts{.owns_attempts = !state.runs_of(id).empty(),
                                    .lease_deadline = session.lease_deadline,
                                    .heard_at = session.heard_at,
                                    .oldest_submit = std::nullopt,
                                    .now = now};
        ++looked_at;
        at = id;
        if (!decide_session_retention(facts).forget) continue;
        if (!std::exchange(is_first_submit_known, true)) find_first_submit(state, gone);
        // Not known yet: then it may have been as early as can be.
        facts.oldest_submit = state.first_submit ? state.first_submit->at : ServiceTime{};
        if (decide_session_retention(facts).forget) unneeded.push_back(id);
    }
    if (next == state.sessions().end()) at = {};
    return unneeded;
}

Error same_id() { return not_possible("a job with this id exists"); }
Error other_body() { return not_possible("this idempotency key was used for a different job"); }

// The job that this submit asks for, if it is there already; an error if it cannot be had.
Result<std::optional<Submitted>> find_known(State& state, const Submit& change) {
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
    return std::optional<Submitted>{};
}

// `earlier`: what comes before it in its batch.
std::optional<Error> why_not_created(State& state, const JobSpec& spec,
                                     const EarlierInBatch& earlier) {
    if (auto why = find_undefined_limit(state, spec)) return why;
    return why_not_after(state, spec, earlier);
}

// What a batch asks for, as far as its jobs are compared with each other.
class BatchSoFar {
public:
    // Whether the same was asked for under this id, or this key. Something else is refused.
    Result<bool> repeats_id(const Submit& job) {
        const auto [known, is_new] = ids_.try_emplace(job.id, job.body_hash);
        if (is_new) return false;
        return judged(known->second, job, same_id());
    }
    Result<bool> repeats_key(const Submit& job) {
        if (!job.spec->idempotency_key) return false;
        const std::pair name{job.spec->tenant, *job.spec->idempotency_key};
        const auto [known, is_new] = keys_.try_emplace(name, job.body_hash);
        if (is_new) return false;
        return judged(known->second, job, other_body());
    }

private:
    static Result<bool> judged(const BodyHash& known, const Submit& job, Error otherwise) {
        if (known != job.body_hash) return otherwise;
        return true;
    }

    std::map<JobId, BodyHash> ids_;
    std::map<std::pair<std::string, std::string>, BodyHash> keys_;
};

// Why a job cannot be had, as if all before it were there already: the same as one after another.
std::optional<Error> why_not_in_batch(State& state, const Submit& job, BatchSoFar* batch,
                                      const EarlierInBatch& earlier) {
    const auto same_id = batch ? batch->repeats_id(job) : Result<bool>(false);
    if (!same_id) return same_id.error();
    if (*same_id) return std::nullopt;
    const auto known = find_known(state, job);
    if (!known) return known.error();
    const auto same_key = batch ? batch->repeats_key(job) : Result<bool>(false);
    if (!same_key) return same_key.error();
    if (*same_key) return std::nullopt;
    return *known ? std::nullopt : why_not_created(state, *job.spec, earlier);
}

// If it is there already, those behind it may wait for it.
void preload_repeated(State& state, const Submit& job) {
    const auto known = find_known(state, job);
    if (known && *known) preload_input(state, state.job_that_exists((*known)->id));
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
    check_waiter(state, job);  // what it waits for may have ended otherwise
    return {job.id, true, state_of(job)};
}

}  // namespace

JobRow& make_job(State& state, const Submit& change) {
    JobRow job;
    job.id = change.id;
    job.spec = change.spec;
    job.body_hash = change.body_hash;
    job.shape = state.shapes.id_of(shape_of(*change.spec));
    job.permits = permits_of(*change.spec);
    job.submitted_at = state.now();
    job.watched = false;
    JobRow& made = state.add(std::move(job));
    begin_generation(state, made);
    begin_waiting(state, made);
    state.put(made, first_place(state, made));
    return made;
}

std::optional<Error> find_undefined_limit(const State& state, const JobSpec& spec) {
    for (const auto& limit : spec.limits) {
        if (!state.holders.is_defined({Permit::Kind::limit, spec.tenant, limit}))
            return error(Errc::invalid, "limit `" + limit + "` is not defined: define it first");
    }
    for (const auto& callback : spec.callbacks)
        if (auto why = find_undefined_limit(state, *callback.spec)) return why;
    return std::nullopt;
}

PlaceRow first_place(State& state, const JobRow& job) {
    if (waits_for_others(state, job)) return Wait{state.now() + job.spec->timeouts.queue};
    const auto& date = job.spec->run_at;
    // A date that is still ahead when the job first begins to wait.
    const bool begins_later = job.attempts.empty() && date && *date > state.service.wall;
    if (begins_later) return Timer{.date = date};
    return Ready{begin_entry(state, job, InLine::at_the_end), std::nullopt};
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
    run.kill_cause = cause;
    run.recalled = false;  // a kill is stronger
    move(state, job, run);
}

ChangeReply apply(State& state, const Submit& change) {
    if (auto why = why_not_inside(state, change.by)) return *why;
    auto known = find_known(state, change);
    if (!known) return known.error();
    if (*known) return {**known};
    if (auto why = why_not_created(state, *change.spec, {})) return *why;
    return {create(state, change)};
}

// It is refused for its first job that cannot be had, and for the first reason of that.
ChangeReply apply(State& state, const SubmitAll& change) {
    if (auto why = why_not_inside(state, change.by)) return *why;
    // Mostly each is for itself: then nobody need be remembered for those behind it.
    const auto has_key = [](const Submit& job) { return job.spec->idempotency_key.has_value(); };
    const bool has_repeats =
        !are_ascending(change.jobs) || std::any_of(change.jobs.begin(), change.jobs.end(), has_key);
    const bool has_relations =
        std::any_of(change.jobs.begin(), change.jobs.end(),
                    [](const auto& job) { return !job.spec->after.empty(); });
    BatchSoFar so_far;
    EarlierInBatch earlier;
    for (std::size_t i = 0; i < change.jobs.size(); ++i) {
        const auto& job = change.jobs[i];
        if (auto why = why_not_in_batch(state, job, has_repeats ? &so_far : nullptr, earlier))
            return {BatchSubmitted{.refused = BatchSubmitted::Refused{i, std::move(*why)}}};
        if (has_relations) {
            preload_repeated(state, job);
            earlier.emplace(job.id, job.spec->tenant);
        }
    }
    BatchSubmitted batch;
    batch.jobs.reserve(change.jobs.size());
    std::map<JobId, JobId> found;  // what was asked for under this id is that job
    for (const auto& asked : change.jobs) {
        auto job = asked;
        job.spec = with_found(asked.spec, found);
        const auto known = find_known(state, job);
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
            const Ready ready{begin_entry(state, job, InLine::at_the_end, avoid), std::nullopt};
            return move(state, job, ready);
        }
        case Kind::free_holders:
            return move_and_free(state, job, Ready{job.in<Ready>()->entry, std::nullopt});
        case Kind::fail: outcome.state = JobState::failed; [[fallthrough]];
        case Kind::expire:
            record_expiry(state, job, decision, outcome.state);
            return end_waiting(state, job, outcome);
        case Kind::order_kill: return order_kill(state, job, decision.cause);
    }
}

ChangeReply apply(State& state, const ForgetEnded& change) {
    Forgotten forgotten;
    if (state.stays_unwritten) return {forgotten};  // nothing is gone before that is written
    std::vector<TakenNote> taken;
    const auto noted = find_noted(state, change.max, taken);
    state.load_jobs(noted);
    auto gone = state.forgotten();
    for (const auto id : noted) {
        const auto* job = state.readable(id);
        const auto* outcome = job ? job->in<Outcome>() : nullptr;
        if (!outcome || state.now() < outcome->forget_at) continue;  // the note is outdated
        if (gone.insert(id).second) forgotten.jobs.push_back(id);
    }
    const auto unneeded =
        unneeded_sessions(state, gone, state.now(), change.max, state.session_walk);
    const auto old = state.rows.old_keys(state.now(), change.max);
    forgotten.unfinished = noted.size() == change.max || old.size() == change.max;
    auto& notes = state.pending.change().notes;
    notes.insert(notes.end(), taken.begin(), taken.end());
    for (const auto id : forgotten.jobs) forget(state, state.job_that_exists(id));
    state.drop_keys(old);
    for (const auto id : unneeded) state.forget_session(id);
    return {forgotten};
}

bool is_anything_to_forget(State& state, ServiceTime now) {
    if (!state.rows.to_forget(now, 1).empty() || !state.rows.old_keys(now, 1).empty()) return true;
    auto at = state.session_walk;
    if (!unneeded_sessions(state, {}, now, 1, at).empty()) return true;
    state.session_walk = at;
    return false;
}

}  // namespace perdure::store
