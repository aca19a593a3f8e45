#include "store/sql/tables/load.h"

#include "store/engine/rows/codec.h"

namespace perdure::store::sql {
namespace {

constexpr const char* session_by_id =
    "SELECT id, machine, boot, device, inode, life, worker, is_open, stream, assignments,"
    " heartbeat, content_hash, seen, renewal, slots, offer, lease_deadline, heard_at, given_up,"
    " policy FROM session WHERE id = ?";
constexpr const char* all_sessions =
    "SELECT id, machine, boot, device, inode, life, worker, is_open, stream, assignments,"
    " heartbeat, content_hash, seen, renewal, slots, offer, lease_deadline, heard_at, given_up,"
    " policy FROM session ORDER BY id";

template <class Enum>
Enum choice(const Found& row, int column, Enum last) {
    const auto value = row.number(column);
    if (value < 0 || value > static_cast<std::int64_t>(last))
        fail_corrupt("a stored choice is unknown");
    return static_cast<Enum>(value);
}

SessionRow session_of(const Found& row) {
    SessionRow s;
    s.id = row.session(0);
    s.directory = {row.text(1), row.text(2), row.bits(3), row.bits(4)};
    s.life = row.counter(5);
    s.worker = row.text(6);
    s.open = row.flag(7);
    s.stream = row.counter(8);
    s.assignments = row.counter(9);
    s.heartbeat = row.counter(10);
    s.content_hash = row.bits(11);
    s.seen = row.counter(12);
    s.renewal = row.counter(13);
    s.slots = row.small(14);
    decode_said(row.bytes(15), s);
    s.lease_deadline = row.at<ServiceTime>(16);
    s.heard_at = row.at<ServiceTime>(17);
    s.given_up = row.small(18);
    if (!row.is_null(19))
        s.policy = std::make_shared<const PolicyChoice>(decode_policy(row.bytes(19)));
    return s;
}

// Columns rank, since, queue_deadline from `first` on; avoid and avoid_until at `avoid`.
QueueEntry entry_of(const Found& row, int first, int avoid, JobId job) {
    const auto rank = row.number(first);
    if (rank < 0 || rank > 2 * UINT8_MAX + 1) fail_corrupt("a stored rank is out of bounds");
    QueueEntry entry{.order = {.priority = static_cast<std::uint8_t>(rank / 2),
                               .in_turn = rank % 2 == 1,
                               .since = row.at<ServiceTime>(first + 1),
                               .job = job},
                     .queue_deadline = row.at<ServiceTime>(first + 2)};
    if (!row.is_null(avoid))
        entry.avoid = Avoid{row.session(avoid), row.at<ServiceTime>(avoid + 1)};
    return entry;
}

}  // namespace

void put_ready(const Found& row, JobRow& job) {
    Ready ready{entry_of(row, 0, 4, job.id), row.maybe_at<ServiceTime>(3)};
    decode_life(row.bytes(6), job);
    job.place = ready;
}

void put_run(const Found& row, JobRow& job) {
    decode_life(row.bytes(5), job);
    Run run{.epoch = job.epoch,
            .session = row.session(0),
            .assignment = row.counter(1),
            .state = choice(row, 2, JobState::running),
            .confirm_deadline = row.at<ServiceTime>(3)};
    if (place_of(run.state).place != Place::run) fail_corrupt("a job in `run` does not run");
    if (job.attempts.empty()) fail_corrupt("a job in `run` has no attempt");
    // The attempt says the same: what is wrong in one of them is noticed.
    const auto& attempt = job.attempts.back();
    if (attempt.session() != run.session || attempt.assignment != run.assignment)
        fail_corrupt("the attempt and its row in `run` name two sessions or assignments");
    if (!row.is_null(4)) run.kill_cause = choice(row, 4, last_cause);
    // Nobody is killed as `evicted` by a server: it stands for "ordered back".
    run.recalled = run.kill_cause == Cause::evicted;
    if (run.recalled) run.kill_cause.reset();
    job.place = run;
}

void put_outcome(const Found& row, JobRow& job) {
    const Outcome outcome{.state = choice(row, 0, JobState::quarantined),
                          .cause = choice(row, 1, last_cause),
                          .rule = interned(row.bytes(2)),
                          .may_have_run = row.flag(3),
                          .discarded = row.flag(4),
                          .ended_at = row.at<ServiceTime>(5),
                          .ended_on = row.at<WallTime>(6),
                          .forget_at = row.at<ServiceTime>(7)};
    if (!has_ended(outcome.state)) fail_corrupt("a job in `outcome` has not ended");
    decode_life(row.bytes(8), job);
    job.place = outcome;
}

void put_timer(const Found& row, JobRow& job) {
    Timer timer{row.maybe_at<ServiceTime>(0), row.maybe_at<WallTime>(1), std::nullopt};
    if (!row.is_null(2)) timer.avoid = row.session(2);
    decode_life(row.bytes(3), job);
    job.place = timer;
}

void put_blocked(const Found& row, JobRow& job) {
    Blocked blocked{entry_of(row, 2, 5, job.id), std::nullopt};
    if (!row.is_null(0))
        blocked.on = Permit{choice(row, 0, Permit::Kind::limit), job.spec->tenant, row.text(1)};
    decode_life(row.bytes(7), job);
    job.place = blocked;
}

void put_wait(const Found& row, JobRow& job) {
    const Wait wait{row.at<ServiceTime>(0)};
    decode_life(row.bytes(1), job);
    job.place = wait;
}

SessionId owner_in_run(const Found& row) {
    JobRow said;
    try {
        decode_life(row.bytes(1), said);
    } catch (const Failure&) {
        return SessionId{row.bits(0)};
    }
    return said.attempts.empty() ? SessionId{row.bits(0)} : said.attempts.back().session();
}

Loader::Loader(Database& c)
    : database_(c),
      service_(c,
               "SELECT tick, now_at, grace_until, keeper, keeper_epoch, keeper_deadline, wall_on,"
               " servers_used, id_high_water, repairs, fenced, last_recovery, made_id_high_water"
               " FROM service"),
      session_(c, session_by_id),
      sessions_(c, all_sessions),
      latest_session_(
          c, "SELECT session FROM directory WHERE machine = ? AND device = ? AND inode = ?"),
      idempotency_(c,
                   "SELECT job, body_hash, body_hash_high, gone_as, kept_until FROM idempotency"
                   " WHERE tenant = ? AND key = ?"),
      job_(c, "SELECT shape, body_hash, body_hash_high, submitted_at, spec FROM job WHERE id = ?"),
      submits_(c, "SELECT id, submitted_at FROM job WHERE id > ? ORDER BY id LIMIT ?"),
      next_wake_(c,
                 "SELECT min(at) FROM (SELECT min(wake_at) AS at FROM timer WHERE wake_at IS NOT"
                 " NULL UNION ALL SELECT min(wake_at) FROM wait) AS wakes"),
      next_date_(c, "SELECT min(date) FROM timer WHERE date IS NOT NULL"),
      history_(c,
               "SELECT body FROM attempt WHERE job = ? AND epoch >= ? AND epoch < ?"
               " ORDER BY epoch"),
      large_(c, "SELECT body FROM large WHERE job = ? AND epoch = ? AND kind = ?"),
      // Most of those that are loaded by their ids run.
      job_and_run_(c,
                   "SELECT session, assignment, state, confirm_deadline, kill_order, life, shape,"
                   " body_hash, body_hash_high, submitted_at, spec, run.job FROM job"
                   " LEFT JOIN run ON run.job = job.id WHERE id = ?"),
      outcome_(c,
               "SELECT state, cause, rule, may_have_run, discarded, ended_at, ended_on, forget_at,"
               " life FROM outcome WHERE job = ?"),
      timer_(c, "SELECT due, date, avoid, life FROM timer WHERE job = ?"),
      blocked_(c,
               "SELECT kind, name, rank, since, queue_deadline, avoid, avoid_until, life"
               " FROM blocked WHERE job = ?"),
      wait_(c, "SELECT queue_deadline, life FROM wait WHERE job = ?"),
      ready_(c,
             "SELECT rank, since, queue_deadline, kept_until, avoid, avoid_until, life FROM ready"
             " WHERE shape = ? AND rank = ? AND since = ? AND job = ?"),
      line_(c, "SELECT rank, since FROM line WHERE job = ?") {}

ServiceRow service_of(const Found& row) {
    ServiceRow s;
    s.clock = {row.natural(0), row.at<ServiceTime>(1), row.at<ServiceTime>(2)};
    s.keeper = {ServerId{row.natural(3)}, row.natural(4), row.at<ServiceTime>(5)};
    s.wall = row.at<WallTime>(6);
    s.servers_used = row.natural(7);
    s.id_high_water = row.natural(8);
    s.repairs = row.natural(9);
    s.fenced = row.natural(10);
    s.last_recovery = row.natural(11);
    s.made_id_high_water = row.natural(12);
    return s;
}

ServiceRow Loader::service() {
    auto row = service_.query({});
    if (!row.next()) fail_corrupt("the row of service time is missing");
    auto service = service_of(row);
    if (const auto* notes = database_.notes()) notes->add_to(service);
    return service;
}

std::optional<SessionRow> Loader::session(SessionId id) {
    auto row = session_.query({id});
    if (!row.next()) return std::nullopt;
    auto session = session_of(row);
    if (const auto* notes = database_.notes()) notes->add_to(session);
    return session;
}

std::vector<SessionRow> Loader::sessions(DamageBook& book) {
    std::vector<SessionRow> all;
    auto row = sessions_.query({});
    while (row.next()) {
        auto read = book.unless_damaged(
            [&] { return session_of(row); },
            [&] { return damaged_row("session", std::to_string(row.number(0))); });
        if (!read) continue;
        if (const auto* notes = database_.notes()) notes->add_to(*read);
        all.push_back(std::move(*read));
    }
    return all;
}

std::optional<SessionId> Loader::latest_session(const StateDirectory& directory) {
    auto row = latest_session_.query({directory.machine, directory.device, directory.inode});
    if (!row.next()) return std::nullopt;
    return row.session(0);
}

std::optional<IdempotencyRow> Loader::idempotency(const std::string& tenant,
                                                  const std::string& key) {
    auto row = idempotency_.query({tenant, key});
    if (!row.next()) return std::nullopt;
    return idempotency_of(row);
}

IdempotencyRow idempotency_of(const Found& row) {
    IdempotencyRow found{.job = row.job(0), .body_hash = hash_in(row, 1)};
    if (!row.is_null(3)) found.gone = choice(row, 3, JobState::quarantined);
    if (found.gone && !has_ended(*found.gone)) fail_corrupt("a job is gone that has not ended");
    found.until = row.maybe_at<ServiceTime>(4);
    return found;
}

LineReader::Due Loader::next_due() {
    LineReader::Due due;
    auto wake = next_wake_.query({});
    if (wake.next() && !wake.is_null(0)) due.at = wake.at<ServiceTime>(0);
    auto date = next_date_.query({});
    if (date.next() && !date.is_null(0)) due.date = date.at<WallTime>(0);
    return due;
}

LineReader::Submits Loader::submits(JobId after, std::uint32_t max, const std::set<JobId>& gone) {
    LineReader::Submits some;
    std::uint32_t rows = 0;
    auto row = submits_.query({after, max});
    for (; row.next(); ++rows) {
        some.last = JobId{row.bits(0)};
        const auto at = row.number(1);
        // If it is damaged nobody knows: then as early as can be.
        const ServiceTime submitted{at < 0 || at > instant_max ? 0 : at};
        const std::pair submit{submitted, some.last};
        if (gone.contains(some.last) || (some.first && *some.first <= submit)) continue;
        some.first = submit;
    }
    some.are_all = rows < max;
    return some;
}

JobRow Loader::asked_of(JobId id, const Found& row, int first) {
    JobRow job;
    job.id = id;
    job.shape = row.number(first);
    job.body_hash = hash_in(row, first + 1);
    job.submitted_at = row.at<ServiceTime>(first + 3);
    job.spec = spec_in(row.bytes(first + 4));
    job.permits = permits_of(*job.spec);
    return job;
}

std::shared_ptr<const JobSpec> Loader::spec_in(std::string_view bytes) {
    if (!last_spec_ || bytes != last_bytes_) {
        last_spec_ = std::make_shared<const JobSpec>(decode_spec(bytes));
        last_bytes_ = bytes;
    }
    return last_spec_;
}

std::optional<JobRow> Loader::what_was_asked(JobId id) {
    auto row = job_.query({id});
    if (!row.next()) return std::nullopt;
    return asked_of(id, row, 0);
}

bool Loader::find_ready(JobRow& job) {
    const auto is_there = [&](std::int64_t rank, ServiceTime since) {
        auto row = ready_.query({job.shape, rank, since, job.id});
        if (!row.next()) return false;
        put_ready(row, job);
        return true;
    };
    if (is_there(2 * job.spec->priority + 1, job.submitted_at)) return true;
    auto line = line_.query({job.id});
    return line.next() && is_there(line.number(0), line.at<ServiceTime>(1));
}

// One that does not run.
bool Loader::find_place(JobRow& job) {
    if (auto row = outcome_.query({job.id}); row.next()) return put_outcome(row, job), true;
    if (find_ready(job)) return true;
    if (auto row = timer_.query({job.id}); row.next()) return put_timer(row, job), true;
    if (auto row = blocked_.query({job.id}); row.next()) return put_blocked(row, job), true;
    if (auto row = wait_.query({job.id}); row.next()) return put_wait(row, job), true;
    return false;
}

std::optional<JobRow> Loader::job(JobId id) {
    constexpr int asked = 6;
    constexpr int run_of = 11;
    std::optional<JobRow> job;
    bool runs = false;
    {
        auto row = job_and_run_.query({id});
        if (!row.next()) return std::nullopt;
        job = asked_of(id, row, asked);
        runs = !row.is_null(run_of);
        if (runs) put_run(row, *job);
    }
    if (!runs && !find_place(*job)) fail_corrupt("job " + id.text() + " is in no place");
    job->stored = job->place;
    return job;
}

JobRow Loader::whole_ready_job(JobId id, const Found& row, int asked) {
    if (row.is_null(asked)) fail_corrupt("job " + id.text() + " is ready, but nobody asked for it");
    auto job = asked_of(id, row, asked);
    put_ready(row, job);
    job.stored = job.place;
    return job;
}

JobRow Loader::ready_job(JobId id, const Found& row) {
    auto job = what_was_asked(id);
    if (!job) fail_corrupt("job " + id.text() + " is ready, but nobody asked for it");
    put_ready(row, *job);
    job->stored = job->place;
    return std::move(*job);
}

std::vector<AttemptRow> Loader::history(JobId job, Epoch from, Epoch before) {
    std::vector<AttemptRow> earlier;
    auto row = history_.query({job, from.value, before.value});
    while (row.next()) earlier.push_back(decode_attempt(row.bytes(0)));
    return earlier;
}

std::string Loader::large(AttemptKey attempt, Large kind) {
    auto row = large_.query({attempt.job, attempt.epoch.value, static_cast<int>(kind)});
    if (!row.next()) fail_corrupt("what an attempt of job " + attempt.job.text() + " left is gone");
    return row.text(0);
}

}  // namespace perdure::store::sql
