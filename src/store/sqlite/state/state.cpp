#include "store/sqlite/state/state.h"

#include <algorithm>

#include "base/assert.h"
#include "store/sqlite/rows/codec.h"

namespace perdure::sqlite {
namespace {

constexpr std::size_t jobs_max = 16'384;
constexpr std::size_t bytes_max = std::size_t{16} << 20;
constexpr std::size_t inline_max = 1'024;  // what an attempt's own row carries

std::size_t size_of(const JobSpec& spec) {
    auto size = sizeof(JobRow) + sizeof(JobSpec) + spec.args.size();
    for (const auto& word : spec.argv) size += word.size() + sizeof(word);
    for (const auto& [name, value] : spec.env) size += name.size() + value.size() + 64;
    for (const auto& callback : spec.callbacks) size += size_of(*callback.spec);
    return size;
}

}  // namespace

State::State(Connection& c, const Timing& t, DamageBook& b)
    : timing(t),
      connection(c),
      book(b),
      load(c),
      shapes(c, b),
      holders(c, b),
      ledger(c),
      relations(c),
      places_(c),
      copies_(c, b),
      save_session_(c,
                    "INSERT OR REPLACE INTO session (id, machine, boot, device, inode, life,"
                    " worker, is_open, stream, assignments, heartbeat, content_hash, seen, renewal,"
                    " slots, tenant, offer, lease_deadline, heard_at, given_up, policy)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      save_directory_(c,
                      "INSERT OR REPLACE INTO directory (machine, device, inode, session)"
                      " VALUES (?, ?, ?, ?)"),
      delete_session_(c, "DELETE FROM session WHERE id = ?"),
      delete_directory_(c, "DELETE FROM directory WHERE session = ?"),
      put_key_(c,
               "INSERT OR REPLACE INTO idempotency (tenant, key, job, body_hash, gone_as,"
               " kept_until) VALUES (?, ?, ?, ?, ?, ?)"),
      drop_keys_(c,
                 "DELETE FROM idempotency WHERE (tenant, key) IN (SELECT tenant, key FROM"
                 " idempotency WHERE kept_until <= ? ORDER BY kept_until LIMIT ?)") {
    load_all();
}

bool State::holds_its_things(const JobRow& job) const {
    return std::all_of(job.things.begin(), job.things.end(),
                       [&](const Thing& t) { return holders.is_held_by(t, job.id); });
}

JobRow* State::loaded(JobId id) {
    const auto found = jobs_.find(id.value);
    return found == jobs_.end() ? nullptr : &found->second;
}

JobRow* State::job(JobId id) {
    at = id;
    if (auto* found = loaded(id)) return found;
    if (id > highest_job_) return nullptr;
    leave_alone_if_damaged(id);
    auto loaded = load.job(id);
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

JobRow& State::add_ready(JobId id, const Found& row, PlaceTables::Line read) {
    at = id;
    leave_alone_if_damaged(id);
    if (read == PlaceTables::Line::places) return add(load.ready_job(id, row));
    return add(load.whole_ready_job(id, row, PlaceTables::line_asked));
}

void State::touch(JobRow& job) {
    if (job.changed) return;
    job.changed = true;
    changed_jobs_.push_back(&job);
}

void State::index(const JobRow& job, int step) {
    shapes.add(job.shape, state_of(job), step);
    const auto* run = job.in<Run>();
    if (!run) return;
    const std::pair key{run->assignment, job.id};
    if (step > 0) {
        const auto late = late_from(*run);
        runs_[run->session][key] = {run->state, late};
        const auto bound = confirmed_until_.find(run->session);
        if (run->state == JobState::starting && bound != confirmed_until_.end())
            bound->second = std::min(bound->second, late);
        return;
    }
    const auto found = runs_.find(run->session);
    if (found == runs_.end() || found->second.erase(key) != 1)
        fail_corrupt("job " + job.id.text() + " runs, and is not listed");
    if (found->second.empty()) runs_.erase(found);
}

// A new job is in no place yet: it is not taken out of one.
void State::put(JobRow& job, PlaceRow next) {
    at = job.id;
    const bool is_new = !job.stored && !job.changed;
    if (!is_new) index(job, -1);
    job.place = std::move(next);
    index(job, 1);
    touch(job);
    if (job.in<Ready>()) work_appeared = true;
}

void State::forget(JobRow& job) {
    flush();
    index(job, -1);
    places_.forget(job);
    relations.forget(job);
    ledger.forget(job.id);
    jobs_bytes_ -= size_of(*job.spec);
    jobs_.erase(job.id.value);
}

void State::keep(JobRow& job, AttemptRow& attempt, Large kind, const std::string* bytes) {
    auto& kept = kind == Large::checkpoint ? attempt.checkpoint : attempt.evidence;
    const AttemptKey key{job.id, attempt.epoch};
    if (kept.where == Kept::Where::apart) places_.drop(key, kind);
    if (!bytes) {
        kept = {};
    } else if (bytes->size() <= inline_max) {
        kept = {Kept::Where::here, *bytes};
    } else {
        kept = {Kept::Where::apart, {}};
        places_.keep(key, kind, *bytes);
    }
    attempt.unsaved = true;
    touch(job);
}

PlaceTables& State::places() {
    flush();
    return places_;
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
    for (const auto& [key, run] : runs_of(session))
        if (run.state == JobState::starting) earliest = std::min(earliest, run.late_from);
    confirmed_until_[session] = earliest;
    return earliest <= now();
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
    changed_sessions_.insert(id);
    return const_cast<SessionRow&>(session_that_exists(id));
}

SessionRow& State::add_session(SessionRow session) {
    const auto id = session.id;
    const auto& d = session.directory;
    save_directory_.run_one({d.machine, d.device, d.inode, id});
    latest_sessions_[place_of(d)] = id;
    changed_sessions_.insert(id);
    return sessions_.emplace(id, std::move(session)).first->second;
}

void State::forget_session(SessionId id) {
    delete_session_.run_one({id});
    delete_directory_.run({id});  // unless a later session has it
    std::erase_if(latest_sessions_, [&](const auto& entry) { return entry.second == id; });
    changed_sessions_.erase(id);
    confirmed_until_.erase(id);
    sessions_.erase(id);
}

std::optional<SessionId> State::latest_session(const StateDirectory& directory) const {
    const auto found = latest_sessions_.find(place_of(directory));
    // One that is not there, or cannot be understood, leaves nothing to anybody.
    if (found == latest_sessions_.end() || !session(found->second)) return std::nullopt;
    return found->second;
}

std::uint64_t State::draw_assignment(SessionId session) {
    return ++change_session(session).assignments;
}

void State::save_server(ServerId id) { copies_.save(id, servers_.at(id)); }

void State::remove_server(ServerId id) {
    copies_.remove(id);
    servers_.erase(id);
}

void State::put_key(const JobSpec& spec, const IdempotencyRow& row) {
    std::optional<std::int64_t> gone;
    if (row.gone) gone = static_cast<std::int64_t>(*row.gone);
    put_key_.run({spec.tenant, *spec.idempotency_key, row.job, row.body_hash, gone, row.until});
}

std::uint32_t State::drop_old_keys(std::uint32_t max) {
    return static_cast<std::uint32_t>(drop_keys_.run({now(), max}));
}

bool State::isolate_last(const Error& why) {
    if (!at) return false;
    Statement known(connection, "SELECT 1 FROM job WHERE id = ?");
    return known.query({at}).next() && book.isolate(at, why.what);
}

void State::flush() {
    if (changed_jobs_.empty()) return;
    places_.save(changed_jobs_, at);
    for (const auto* job : changed_jobs_)
        if (job->in<Outcome>()) ended_jobs_.push_back(job->id);
    changed_jobs_.clear();
}

void State::save_all() {
    flush();
    at = {};
    shapes.save();
    for (const auto id : changed_sessions_) {
        const auto& s = sessions_.at(id);
        const auto offer = encode_said(s);
        const auto policy = s.policy ? encode(*s.policy) : std::string{};
        save_session_.run({s.id,
                           s.directory.machine,
                           s.directory.boot,
                           s.directory.device,
                           s.directory.inode,
                           s.life,
                           s.worker,
                           s.open,
                           s.stream,
                           s.assignments,
                           s.heartbeat,
                           s.content_hash,
                           s.seen,
                           s.renewal,
                           s.slots,
                           s.offer.tenant,
                           Value::blob(offer),
                           s.lease_deadline,
                           s.heard_at,
                           s.given_up,
                           s.policy ? Value::blob(policy) : Value(nullptr)});
    }
    changed_sessions_.clear();
    copies_.save(service);
}

bool State::is_full() const { return jobs_.size() > jobs_max || jobs_bytes_ > bytes_max; }

void State::let_go(JobId id) {
    const auto found = jobs_.find(id.value);
    if (found == jobs_.end() || !found->second.in<Outcome>()) return;
    jobs_bytes_ -= size_of(*found->second.spec);
    jobs_.erase(found);
}

// What runs is asked for again soon, what has ended hardly ever.
void State::trim() {
    PERDURE_ASSERT(changed_jobs_.empty());
    for (const auto id : ended_jobs_) let_go(id);
    ended_jobs_.clear();
    if (!is_full()) return;
    std::erase_if(jobs_, [&](const auto& entry) {
        const auto& job = entry.second;
        const bool goes = !job.template in<Run>();
        if (goes) jobs_bytes_ -= size_of(*job.spec);
        return goes;
    });
    // Were few let go at a time, it would be done all the time.
    if (jobs_.size() <= jobs_max / 2 && jobs_bytes_ <= bytes_max / 2) return;
    jobs_.clear();
    jobs_bytes_ = 0;
}

}  // namespace perdure::sqlite
