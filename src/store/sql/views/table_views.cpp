#include "store/sql/views/table_views.h"

#include <algorithm>

#include "store/engine/apply/ending.h"
#include "store/engine/row_views.h"
#include "store/engine/rows/history.h"

namespace perdure::store::sql {
namespace {

constexpr std::uint32_t audit_rows_max = 5'000;  // of a piece, for each kind of row

// An attempt may have evidence beside it.
std::size_t rows_of(const JobView& job) {
    return 2 + 2 * job.attempts.size() + job.awaited.size() + job.added.size() + job.made.size();
}

}  // namespace

TableViews::TableViews(Database& c, const Timing& timing, DamageBook& book)
    : database_(c),
      timing_(timing),
      book_(book),
      load_(c),
      relations_(c),
      busy_(c, "SELECT 1 FROM jobs_in_state WHERE state BETWEEN ? AND ? AND jobs > 0 LIMIT 1"),
      highest_mark_(c, "SELECT max(id_high_water) FROM server"),
      runs_(c, "SELECT job, session FROM run WHERE job > ? ORDER BY job LIMIT ?"),
      timer_wakes_(c,
                   "SELECT wake_at, job FROM timer WHERE wake_at <= ? ORDER BY wake_at, job"
                   " LIMIT ?"),
      blocked_wakes_(c,
                     "SELECT wake_at, job FROM blocked WHERE wake_at <= ? ORDER BY wake_at, job"
                     " LIMIT ?"),
      wait_wakes_(c,
                  "SELECT wake_at, job FROM wait WHERE wake_at <= ? ORDER BY wake_at, job LIMIT ?"),
      run_wakes_(c,
                 "SELECT wake_at, job FROM run WHERE wake_at <= ? ORDER BY wake_at, job LIMIT ?"),
      ready_wakes_(c,
                   "SELECT wake_at, shape, rank, since FROM ready_wake WHERE wake_at <= ?"
                   " ORDER BY wake_at LIMIT ?"),
      ready_at_(c,
                "SELECT job FROM ready WHERE shape = ? AND rank = ? AND since = ? AND wake_at = ?"
                " ORDER BY job LIMIT ?"),
      dates_(c, "SELECT date, job FROM timer WHERE date <= ? ORDER BY date, job LIMIT ?"),
      next_permit_(
          c,
          "SELECT tenant, kind, name FROM blocked WHERE kind IS NOT NULL AND kind IN (0, 1)"
          " AND (tenant, kind, name) > (?, ?, ?) ORDER BY tenant, kind, name LIMIT 1"),
      limit_max_(c, "SELECT max FROM limit_max WHERE tenant = ? AND name = ?"),
      keys_held_(c,
                 "SELECT count(*) FROM (SELECT 1 FROM key_holder WHERE tenant = ? AND key = ?"
                 " LIMIT ?) AS some_of_them"),
      limits_held_(c,
                   "SELECT count(*) FROM (SELECT 1 FROM limit_holder WHERE tenant = ? AND name = ?"
                   " LIMIT ?) AS some_of_them"),
      blocked_shapes_(c,
                      "SELECT min(shape) FROM blocked WHERE tenant = ? AND kind = ? AND name = ?"
                      " AND shape > ? AND kind IS NOT NULL"),
      wanting_(c,
               "SELECT count(*) FROM (SELECT 1 FROM want WHERE tenant = ? AND kind = ?"
               " AND name = ? AND shape = ? LIMIT ?) AS some_of_them"),
      audit_(c, "SELECT id FROM job WHERE id > ? ORDER BY id LIMIT ?"),
      keys_(c,
            "SELECT tenant, key, 1, job FROM key_holder WHERE (tenant, key) > (?, ?)"
            " ORDER BY tenant, key LIMIT ?"),
      limits_(c,
              "SELECT tenant, name, slot, job FROM limit_holder WHERE (tenant, name, slot) >"
              " (?, ?, ?) ORDER BY tenant, name, slot LIMIT ?") {}

JobRow TableViews::job_that_exists(JobId id) {
    auto job = load_.job(id);
    if (!job) fail_corrupt("job " + id.text() + " is named, and is not there");
    return std::move(*job);
}

std::optional<SessionRow> TableViews::readable_session(SessionId id) {
    auto read = book_.unless_damaged(
        [&] { return load_.session(id); },
        [&] {
            return damaged_row("session", std::to_string(static_cast<std::int64_t>(id.value)));
        });
    return read ? std::move(*read) : std::nullopt;
}

std::optional<RunView> TableViews::readable_run(JobId id, const WorkerPolicy& worker_policy) {
    const auto read = [&] {
        auto job = job_that_exists(id);
        if (!job.in<Run>()) fail_corrupt("job " + id.text() + " is listed as running");
        return run_view(job, worker_policy);
    };
    return book_.unless_damaged(read, [&] { return damaged_job(id); });
}

TableViews::WorkerPolicy TableViews::worker_policy_of(const JobRow& running) {
    const auto session = readable_session(running.in<Run>()->session);
    return session ? session->policy : nullptr;
}

RunView TableViews::run_view(JobRow& job, WorkerPolicy worker_policy) {
    return store::run_view({load_, relations_}, job, std::move(worker_policy));
}

JobView TableViews::job_view(JobRow& job, AttemptWindow attempts) {
    auto view = store::job_view(load_, job, attempts);
    if (job.in<Run>()) view.run = run_view(job, worker_policy_of(job));
    relations_.show(job, view);
    return view;
}

// No index tells what runs in a session: it would cost every attempt, and be asked for hardly ever.
void TableViews::add_runs(const SessionRow& session, JobId behind, SessionView& view) {
    std::vector<JobId> jobs;
    std::uint32_t rows = 0;
    auto row = runs_.query({behind, runs_read_max});
    while (row.next()) {
        const JobId job{row.bits(0)};
        if (row.bits(1) == session.id.value) jobs.push_back(job);
        if (++rows == runs_read_max) view.more_runs = job;
    }
    for (const auto id : jobs)
        if (auto run = readable_run(id, session.policy)) view.runs.push_back(std::move(*run));
    std::sort(view.runs.begin(), view.runs.end(),
              [](const RunView& a, const RunView& b) { return a.assignment < b.assignment; });
}

bool TableViews::is_anything_due(const ServiceRow& row) {
    const auto soon = timing_.idle_tick;
    const auto due = load_.next_due();
    return (due.at && *due.at <= row.clock.now + soon) ||
           (due.date && *due.date <= row.wall + soon);
}

ServiceView TableViews::service() {
    Transaction snapshot(database_, Transaction::Kind::read);
    const auto row = load_.service();
    ServiceView view{.clock = row.clock, .keeper = row.keeper};
    auto busy =
        busy_.query({static_cast<int>(JobState::ready), static_cast<int>(JobState::running)});
    // What is ready, blocked or in `run` makes it busy, so that only timers and waits can be due.
    view.idle = !busy.next() && !is_anything_due(row);
    view.id_high_water = std::max(row.id_high_water, row.made_id_high_water);
    auto mark = highest_mark_.query({});
    if (mark.next() && !mark.is_null(0))
        view.id_high_water = std::max(view.id_high_water, mark.natural(0));
    return view;
}

std::optional<SessionView> TableViews::session(SessionId id, JobId runs_behind) {
    Transaction snapshot(database_, Transaction::Kind::read);
    const auto row = load_.session(id);
    if (!row) return std::nullopt;
    auto view = store::session_view(*row, load_.service().clock);
    add_runs(*row, runs_behind, view);
    return view;
}

std::optional<SessionId> TableViews::latest_session(const StateDirectory& directory) {
    Transaction snapshot(database_, Transaction::Kind::read);
    const auto id = load_.latest_session(directory);
    // One that is not there, or cannot be understood, leaves nothing to anybody.
    if (!id || !readable_session(*id)) return std::nullopt;
    return id;
}

std::optional<OwnerView> TableViews::owner(SessionId id) {
    Transaction snapshot(database_, Transaction::Kind::read);
    const auto row = load_.session(id);
    if (!row) return std::nullopt;
    return owner_view(*row, load_.service().clock);
}

std::vector<OwnerView> TableViews::owners(const std::vector<SessionId>& ids) {
    Transaction snapshot(database_, Transaction::Kind::read);
    const auto clock = load_.service().clock;
    std::vector<OwnerView> owners;
    for (const auto id : ids)
        if (const auto row = readable_session(id)) owners.push_back(owner_view(*row, clock));
    return owners;
}

std::optional<JobView> TableViews::job(JobId id, AttemptWindow attempts) {
    auto job = load_.job(id);
    if (!job) return std::nullopt;
    if (auto why = book_.why_isolated(id)) fail_corrupt(std::move(*why));
    return job_view(*job, attempts);
}

std::vector<JobView> TableViews::jobs(const std::vector<JobId>& ids, AttemptWindow attempts) {
    Transaction snapshot(database_, Transaction::Kind::read);
    std::vector<JobView> views;
    std::vector<Damaged> met;
    for (const auto id : ids) {
        auto found = book_.unless_damaged([&] { return job(id, attempts); },
                                          [&] { return damaged_job(id); }, &met);
        if (found && *found) views.push_back(std::move(**found));
    }
    // Who asks for one is told; among many it is left out.
    if (ids.size() == 1 && !met.empty()) fail_corrupt(met.front().why);
    return views;
}

std::optional<JobId> TableViews::job_of_key(const std::string& tenant, const std::string& key) {
    const auto row = load_.idempotency(tenant, key);
    if (!row) return std::nullopt;
    return row->job;
}

AuditView TableViews::audit(const AuditPlace& after, std::uint32_t limit) {
    Transaction snapshot(database_, Transaction::Kind::read);
    const auto service = load_.service();
    AuditView view{.repairs = service.repairs, .fenced = service.fenced, .clock = service.clock};
    const bool is_first = !after.job && !after.holder;
    if (is_first) add_debts(view);
    const bool has_all_holders = after.job || add_holders(after.holder, view);
    if (has_all_holders) add_jobs(after.job, limit, view);
    return view;
}

void TableViews::add_jobs(JobId after, std::uint32_t limit, AuditView& view) {
    std::size_t rows = 0;
    JobId last = after;
    auto row = audit_.query({after, std::int64_t{limit} + 1});
    while (row.next()) {
        if (view.jobs.size() + view.damaged.size() == limit || rows >= audit_rows_max) {
            view.next = AuditPlace{.job = last};
            return;
        }
        last = JobId{row.bits(0)};
        add_audited(last, view);
        const bool is_shown = !view.jobs.empty() && view.jobs.back().id == last;
        rows += is_shown ? rows_of(view.jobs.back()) : 1;
    }
}

void TableViews::add_audited(JobId id, AuditView& view) {
    const auto read = [&] {
        auto job = job_that_exists(id);
        if (auto why = book_.why_isolated(id)) fail_corrupt(std::move(*why));
        return job_view(job, {});
    };
    auto found = book_.unless_damaged(
        read, [&] { return damaged_job(id); }, &view.damaged);
    if (found) view.jobs.push_back(std::move(*found));
}

void TableViews::add_debts(AuditView& view) {
    Statement ends(database_, "SELECT job FROM owed_end LIMIT ?");
    for (auto end = ends.query({audit_rows_max}); end.next();)
        view.owed_ends.emplace_back(end.bits(0));
    Statement permits(database_, "SELECT tenant, kind, name FROM owed_thing LIMIT ?");
    for (auto row = permits.query({audit_rows_max}); row.next();) {
        const auto kind = row.number(1) == 0 ? Permit::Kind::key : Permit::Kind::limit;
        view.owed_permits.push_back({kind, row.text(0), row.text(2)});
    }
}

bool TableViews::add_holders(Statement& statement, std::initializer_list<Value> after,
                             Permit::Kind kind, AuditView& view) {
    std::uint32_t rows = 0;
    auto row = statement.query(after);
    while (row.next()) {
        view.holders.push_back({{kind, row.text(0), row.text(1)},
                                static_cast<std::uint32_t>(row.number(2)),
                                JobId{row.bits(3)}});
        ++rows;
    }
    if (rows < audit_rows_max) return true;
    view.next = AuditPlace{.job = {}, .holder = view.holders.back()};
    return false;
}

// Keys, then limits.
bool TableViews::add_holders(const std::optional<HolderView>& after, AuditView& view) {
    const auto from = after.value_or(HolderView{});
    const auto& [tenant, name] = std::pair(from.permit.tenant, from.permit.name);
    const bool is_at_limits = after && from.permit.kind == Permit::Kind::limit;
    if (!is_at_limits &&
        !add_holders(keys_, {tenant, name, audit_rows_max}, Permit::Kind::key, view))
        return false;
    const std::string none;
    return add_holders(limits_,
                       {is_at_limits ? tenant : none, is_at_limits ? name : none,
                        is_at_limits ? from.slot : 0, audit_rows_max},
                       Permit::Kind::limit, view);
}

}  // namespace perdure::store::sql
