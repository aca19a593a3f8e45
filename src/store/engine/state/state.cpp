#include "store/engine/state/state.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/probe.h"
#include "base/zoo.h"

namespace perdure::store {
namespace {

// Jobs in memory. What waits is read again together with its neighbours; what runs would be read
// one by one, so there is room for it besides.
constexpr std::size_t jobs_max = 16'384;
constexpr std::size_t bytes_max = std::size_t{16} << 20;
constexpr std::size_t running_max = 65'536;
constexpr std::size_t running_bytes_max = 2'048;  // of each
// What is removed at once with its job; the rows of one with more are owed (C8).
constexpr std::uint32_t removed_attempts_max = 20;
constexpr std::uint32_t removed_generations_max = 2;
constexpr std::size_t inline_max = 1'024;  // what an attempt's own row carries

std::size_t size_of(const JobSpec& spec) {
    auto size = sizeof(JobRow) + sizeof(JobSpec) + spec.args.size();
    for (const auto& word : spec.argv) size += word.size() + sizeof(word);
    for (const auto& [name, value] : spec.env) size += name.size() + value.size() + 64;
    for (const auto& callback : spec.callbacks) size += size_of(*callback.spec);
    return size;
}

}  // namespace

bool State::holds_its_permits(const JobRow& job) const {
    return std::all_of(job.permits.begin(), job.permits.end(),
                       [&](const Permit& t) { return holders.is_held_by(t, job.id); });
}

JobRow* State::loaded(JobId id) {
    const auto found = jobs_.find(id.value);
    return found == jobs_.end() ? nullptr : &found->second;
}

bool State::is_unloaded(JobId id) const {
    return !jobs_.contains(id.value) && id <= highest_job_ && !forgotten_.contains(id) &&
           !rows.has_answer_for(id) && !book.why_isolated(id);
}

JobRow* State::job(JobId id) {
    at = id;
    if (auto* found = loaded(id)) return found;
    if (id > highest_job_ || forgotten_.contains(id)) return nullptr;
    leave_alone_if_damaged(id);
    auto loaded = rows.job(id);
    return loaded ? &add(std::move(*loaded)) : nullptr;
}

JobRow& State::job_that_exists(JobId id) {
    auto* found = job(id);
    if (!found) fail_corrupt("job " + id.text() + " is named, and is not there");
    return *found;
}

JobRow* State::readable(JobId id) {
    const auto found =
        book.unless_damaged([&] { return &job_that_exists(id); }, [&] { return damaged_job(id); });
    return found.value_or(nullptr);
}

std::optional<JobRow*> State::find_job(JobId id) {
    return book.unless_damaged([&] { return job(id); }, [&] { return damaged_job(id); });
}

JobRow& State::add(JobRow job) {
    highest_job_ = std::max(highest_job_, job.id);
    jobs_bytes_ += size_of(*job.spec);
    const auto id = job.id.value;
    return jobs_.insert_or_assign(id, std::move(job)).first->second;
}

// What failed once would fail again, and take the whole group with it.
void State::leave_alone_if_damaged(JobId id) const {
    if (auto why = book.why_isolated(id)) fail_corrupt(std::move(*why));
}

JobRow& State::add_ready(JobId id, const LineReader::LoadRow& load) {
    at = id;
    leave_alone_if_damaged(id);
    return add(load());
}

void State::touch(JobRow& job) {
    rows.leap();
    if (job.changed) return;
    job.changed = true;
    pending.change().jobs.push_back(&job);
    if (job.in<Outcome>()) ended_jobs_.push_back(job.id);
}

State::RunMark State::mark_of(const JobRow& job, const Run& run) {
    const auto* attempt = job.attempt(run.epoch);
    if (!attempt) return {run, Terms{}, ServiceTime{}};
    return {run, attempt->terms, attempt->claimed_at};
}

void State::index(const JobRow& job, int step) {
    shapes.add(job.shape, state_of(job), step);
    if (const auto* ready = job.in<Ready>()) {
        const auto& order = ready->entry.order;
        return step > 0 ? fronts.enter(job.shape, order) : fronts.leave(job.shape, order);
    }
    const auto* run = job.in<Run>();
    if (!run) return;
    const std::pair key{run->assignment, job.id};
    if (step > 0) {
        auto& runs = runs_[run->session];
        if (runs.empty()) note_overdue(session_that_exists(run->session).lease_deadline);
        runs[key] = mark_of(job, *run);
        ++running_;
        if (run->state != JobState::starting) return;
        const auto late = late_from(*run);
        note_overdue(late);
        const auto bound = confirmed_until_.find(run->session);
        if (bound != confirmed_until_.end()) bound->second = std::min(bound->second, late);
        return;
    }
    const auto found = runs_.find(run->session);
    if (found == runs_.end() || found->second.erase(key) != 1)
        fail_corrupt("job " + job.id.text() + " runs, and is not listed");
    if (found->second.empty()) runs_.erase(found);
    --running_;
}

// A new job is in no place yet: it is not taken out of one.
void State::put(JobRow& job, PlaceRow next) {
    rows.leap();
    at = job.id;
    const bool is_new = !job.stored && !job.changed;
    if (!is_new) index(job, -1);
    std::swap(job.place, next);
    index(job, 1);
    lines_.note_move(job, is_new ? nullptr : &next);
    touch(job);
    if (job.in<Ready>()) work_appeared = true;
    if (job.in<Outcome>()) ended_jobs_.push_back(job.id);
}

void State::forget(JobRow& job) {
    rows.leap();
    index(job, -1);
    lines_.leave(job, job.place);
    auto& changes = pending.change();
    if (job.changed) std::erase(changes.jobs, &job);
    jobs_bytes_ -= size_of(*job.spec);
    const auto id = job.id;
    const bool is_large =
        job.epoch.value > removed_attempts_max || job.generation > removed_generations_max;
    changes.forgotten.push_back(relations.forget(std::move(job)));
    changes.forgotten.back().is_large = is_large;
    if (is_large) debts.owe_removal(id);
    jobs_.erase(id.value);
    forgotten_.insert(id);
}

void State::keep(JobRow& job, AttemptRow& attempt, Large kind, const std::string* bytes) {
    auto& changes = pending.change().large;
    auto& kept = kind == Large::checkpoint ? attempt.checkpoint : attempt.evidence;
    const AttemptKey key{job.id, attempt.epoch};
    if (kept.where == BlobRef::Where::apart) changes.push_back({key, kind, std::nullopt});
    if (!bytes) {
        kept = {};
    } else if (bytes->size() <= inline_max) {
        kept = {BlobRef::Where::here, *bytes};
    } else {
        kept = {BlobRef::Where::apart, {}};
        changes.push_back({key, kind, *bytes});
    }
    attempt.unsaved = true;
    touch(job);
}

std::string State::JobRows::large(AttemptKey attempt, Large kind) {
    const auto& pending = of_.pending->large;
    const auto found = std::find_if(pending.rbegin(), pending.rend(), [&](const LargeChange& c) {
        return c.attempt == attempt && c.kind == kind;
    });
    if (found != pending.rend() && found->bytes) return *found->bytes;
    return of_.rows.large(attempt, kind);
}

std::optional<IdempotencyRow> State::JobRows::idempotency(const std::string& tenant,
                                                          const std::string& key) {
    const auto found = of_.pending->keys.find({tenant, key});
    if (found != of_.pending->keys.end()) return found->second;
    return of_.rows.idempotency(tenant, key);
}

const State::Runs& State::runs_of(SessionId session) const {
    static const Runs none;
    const auto found = runs_.find(session);
    return found == runs_.end() ? none : found->second;
}

// Thousands may be starting: they are looked at only when the first of them can be late.
bool State::has_unconfirmed_start(SessionId session) {
    const auto bound = confirmed_until_.find(session);
    if (bound != confirmed_until_.end() && now() < bound->second) return false;
    auto earliest = ServiceTime{INT64_MAX};
    for (const auto& [key, mark] : runs_of(session))
        if (mark.run.state == JobState::starting)
            earliest = std::min(earliest, late_from(mark.run));
    confirmed_until_[session] = earliest;
    return earliest <= now();
}

// Leases are only ever raised: all sessions are looked at again only when the first of them can be
// over.
bool State::has_overdue_attempts() {
    if (now() < none_overdue_until_) return false;
    none_overdue_until_ = ServiceTime{INT64_MAX};
    for (const auto& [id, runs] : runs_) {
        const auto* owner = session(id);
        if (!owner) continue;
        note_overdue(owner->lease_deadline);
        note_overdue(has_unconfirmed_start(id) ? now() : confirmed_until_.at(id));
    }
    return none_overdue_until_ <= now();
}

const SessionRow* State::session(SessionId id) const {
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : &found->second;
}

const SessionRow& State::session_that_exists(SessionId id) const {
    const auto* found = session(id);
    if (!found) fail_corrupt("session " + id.text() + " is named, and is not there");
    return *found;
}

SessionRow& State::change_session(SessionId id) {
    rows.leap();
    changed_sessions_.insert(id);
    return const_cast<SessionRow&>(session_that_exists(id));
}

SessionRow& State::add_session(SessionRow session) {
    const auto id = session.id;
    const auto place = place_of(session.directory);
    pending.change().directories.push_back({place, id});
    latest_sessions_[place] = id;
    changed_sessions_.insert(id);
    return sessions_.emplace(id, std::move(session)).first->second;
}

void State::forget_session(SessionId id) {
    const auto place = place_of(session_that_exists(id).directory);
    pending.change().forgotten_sessions.push_back({place, id});
    const auto latest = latest_sessions_.find(place);
    if (latest != latest_sessions_.end() && latest->second == id) latest_sessions_.erase(latest);
    changed_sessions_.erase(id);
    confirmed_until_.erase(id);
    unheard.erase(id);
    sessions_.erase(id);
}

std::optional<SessionId> State::latest_session(const StateDirectory& directory) const {
    const auto found = latest_sessions_.find(place_of(directory));
    // One that is not there, or cannot be understood, leaves nothing to anybody.
    if (found == latest_sessions_.end() || !session(found->second)) return std::nullopt;
    return found->second;
}

std::uint64_t State::draw_assignment(SessionId session) {
    SessionRow& row = change_session(session);
    if (zoo(Bug::assignment_numbers_per_server)) {
        const auto drawn = ++zoo_rows.assignments[{session, server}];
        row.assignments = std::max(row.assignments, drawn);
        return drawn;
    }
    return ++row.assignments;
}

void State::save_server(ServerId id) { pending.change().servers[id] = servers_.at(id); }

void State::remove_server(ServerId id) {
    pending.change().servers[id] = std::nullopt;
    servers_.erase(id);
}

std::optional<IdempotencyRow> State::key(const JobSpec& spec) {
    return job_rows_.idempotency(spec.tenant, *spec.idempotency_key);
}

void State::put_key(const JobSpec& spec, const IdempotencyRow& row) {
    pending.change().keys.insert_or_assign({spec.tenant, *spec.idempotency_key}, row);
}

void State::drop_keys(const std::vector<KeyName>& old) {
    for (const auto& name : old)
        if (!pending->keys.contains(name)) pending.change().old_keys.insert(name);
}

bool State::isolate_last(const Error& why) {
    return at && tables.has_job(at) && book.isolate(at, why.what);
}

const LineReader::Due& State::next_due() {
    if (!next_due_) next_due_ = tables.lines().next_due();
    return *next_due_;
}

bool State::has_work() const {
    using enum JobState;
    return !debts.empty() || shapes.total(ready) + shapes.total(blocked) + shapes.total(starting) +
                                     shapes.total(running) >
                                 0;
}

void State::await_heartbeats() {
    for (const auto& [id, row] : sessions_) unheard.insert(id);
}

void State::save_all() {
    unwritten_since.reset();
    next_due_.reset();
    written_tick_ = service.clock.tick;
    base_ = base_of(service);
    shapes.save();
    auto& all = pending.change();
    for (const auto id : changed_sessions_) all.sessions.push_back(&sessions_.at(id));
    changed_sessions_.clear();
    all.service = service;
    for (const auto* job : all.jobs)
        if (job->attempts.size() > 1) with_history_.push_back(job->id);
    tables.write(all, at);
    lines_.note_written();
    relations.note_written();
    forgotten_.clear();
}

// Beyond a part of the room for those that wait, and all of it for those that run.
bool State::is_full(std::size_t parts) const {
    const auto running = std::min(running_, running_max);
    return jobs_.size() > jobs_max / parts + running ||
           jobs_bytes_ > bytes_max / parts + running * running_bytes_max;
}

void State::write_note() {
    IdleNote note{.base = *base_, .service = service, .sessions = {}};
    for (const auto id : changed_sessions_) note.sessions.push_back(heard(sessions_.at(id)));
    if (!tables.write_note(note)) return base_.reset();
    reached<"idle_note_written">();
    unwritten_since = now();
    written_tick_ = service.clock.tick;
}

void State::let_go(JobId id) {
    const auto found = jobs_.find(id.value);
    if (found == jobs_.end() || !found->second.in<Outcome>()) return;
    jobs_bytes_ -= size_of(*found->second.spec);
    jobs_.erase(found);
}

void State::forget_jobs() {
    PERDURE_ASSERT(pending->jobs.empty());
    jobs_.clear();
    jobs_bytes_ = 0;
}

// What runs is asked for again soon, what has ended hardly ever.
void State::trim() {
    PERDURE_ASSERT(pending->jobs.empty());
    for (const auto id : ended_jobs_) let_go(id);
    ended_jobs_.clear();
    for (const auto id : with_history_)
        if (auto* job = loaded(id)) job->keep_newest_attempt();
    with_history_.clear();
    if (!is_full(1)) return;
    std::erase_if(jobs_, [&](const auto& entry) {
        const auto& job = entry.second;
        const bool goes = !job.template in<Run>();
        if (goes) jobs_bytes_ -= size_of(*job.spec);
        return goes;
    });
    // Were few let go at a time, it would be done all the time.
    if (is_full(2)) forget_jobs();
}

}  // namespace perdure::store
