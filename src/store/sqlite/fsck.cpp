#include "store/sqlite/fsck.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/policy/custom_policy.h"
#include "core/policy/policy_book.h"
#include "store/engine/apply/ending.h"
#include "store/engine/rows/history.h"
#include "store/sql/tables/load.h"
#include "store/sql/tables/load_relations.h"
#include "store/sqlite/damage/scan.h"
#include "store/sqlite/db/migrate.h"
#include "store/sqlite/db/open.h"
#include "store/sqlite/tables/retention_queue.h"

namespace perdure {
namespace {

using namespace store;
using namespace store::sqlite;

constexpr std::size_t findings_max = 1'000;
constexpr const char* restore = "stop the server and restore a backup";
constexpr const char* report = "report it: this is a bug of Perdure";

// Each query answers (job or 0, what is wrong) for every row that contradicts another one.
struct Check {
    const char* sql;
    const char* fix;
};

constexpr const char* one_place =
    "SELECT id, 'it is in ' || n || ' places instead of one' FROM (SELECT j.id,"
    " (SELECT count(*) FROM timer t WHERE t.job = j.id) +"
    " (SELECT count(*) FROM blocked b WHERE b.job = j.id) +"
    " (SELECT count(*) FROM wait w WHERE w.job = j.id) +"
    " (SELECT count(*) FROM run r WHERE r.job = j.id) +"
    " (SELECT count(*) FROM outcome o WHERE o.job = j.id) +"
    " (SELECT count(*) FROM found_ready f WHERE f.job = j.id) AS n FROM job j) WHERE n <> 1";
constexpr const char* asked_for =
    "SELECT job, 'it has a place, and nobody asked for it' FROM ("
    " SELECT job FROM timer UNION ALL SELECT job FROM ready UNION ALL SELECT job FROM blocked"
    " UNION ALL SELECT job FROM wait UNION ALL SELECT job FROM awaited"
    " UNION ALL SELECT parent FROM callback"
    " UNION ALL SELECT job FROM run UNION ALL SELECT job FROM outcome"
    " UNION ALL SELECT job FROM (SELECT parent AS job FROM made"
    " UNION ALL SELECT job FROM attempt UNION ALL SELECT job FROM recovery)"
    " WHERE job NOT IN (SELECT job FROM owed_removal)) WHERE job NOT IN (SELECT id FROM job)";
constexpr const char* sessions =
    "SELECT job, 'it runs in a session that is not there' FROM run"
    " WHERE session NOT IN (SELECT id FROM session)";
constexpr const char* keys_held =
    "SELECT h.job, 'it holds key ' || h.key || ' and neither runs nor keeps it' FROM key_holder h"
    " WHERE h.job NOT IN (SELECT job FROM run)"
    " AND h.job NOT IN (SELECT job FROM ready WHERE kept_until IS NOT NULL)";
constexpr const char* limits_held =
    "SELECT h.job, 'it holds limit ' || h.name || ' and neither runs nor keeps it'"
    " FROM limit_holder h WHERE h.job NOT IN (SELECT job FROM run)"
    " AND h.job NOT IN (SELECT job FROM ready WHERE kept_until IS NOT NULL)";
constexpr const char* lines =
    "SELECT l.job, 'it is noted in a line that it is not in' FROM line l JOIN job j ON j.id = l.job"
    " WHERE NOT EXISTS (SELECT 1 FROM ready r WHERE r.shape = j.shape AND r.rank = l.rank"
    " AND r.since = l.since AND r.job = l.job)";
constexpr const char* wakes =
    "SELECT r.job, 'its deadline is not noted' FROM ready r WHERE NOT EXISTS (SELECT 1 FROM"
    " ready_wake w WHERE w.wake_at = r.wake_at AND w.shape = r.shape AND w.rank = r.rank"
    " AND w.since = r.since)";
constexpr const char* wants =
    "SELECT w.job, 'it is noted as wanting ' || w.name || ', and is not ready' FROM want w"
    " WHERE w.job NOT IN (SELECT job FROM ready WHERE kept_until IS NULL)";
constexpr const char* tallies =
    "SELECT 0, 'queue ' || s.queue || ' counts ' || c.noted || ' jobs of kind \"' || s.kind ||"
    " '\" and share \"' || s.share || '\" in state ' || c.state || ', there are ' || c.there FROM "
    "(SELECT shape, state,"
    " sum(noted) AS noted, sum(there) AS there FROM ("
    " SELECT shape, state, jobs AS noted, 0 AS there FROM jobs_in_state UNION ALL"
    " SELECT shape, state, 0, 1 FROM found_state) GROUP BY shape, state) c"
    " JOIN shape s ON s.id = c.shape WHERE c.noted <> c.there";

constexpr const char* retention =
    "SELECT o.job, 'nobody has noted when it is to be removed' FROM outcome o WHERE NOT EXISTS"
    " (SELECT 1 FROM found_forget f WHERE f.job = o.job AND f.forget_at = o.forget_at)";

// K2: who waits has something to wait for, and that one has not ended.
constexpr const char* waits =
    "SELECT w.job, 'it waits, and all that it waits for has ended' FROM wait w WHERE NOT EXISTS"
    " (SELECT 1 FROM awaited a WHERE a.job = w.job AND a.state IS NULL)";
constexpr const char* told =
    "SELECT a.job, 'it was not told that what it waits for has ended, or was removed'"
    " FROM awaited a WHERE a.state IS NULL AND (a.other IN (SELECT job FROM outcome)"
    " OR a.other NOT IN (SELECT id FROM job)) AND a.other NOT IN (SELECT job FROM owed_end)";
// C8: only an end is owed to anybody.
constexpr const char* owed =
    "SELECT o.job, 'its end is still to be told, and it has not ended' FROM owed_end o"
    " WHERE o.job NOT IN (SELECT job FROM outcome)";

constexpr Check checks[] = {
    {one_place, report},   {asked_for, report}, {sessions, report}, {keys_held, report},
    {limits_held, report}, {lines, report},     {wakes, report},    {wants, report},
    {tallies, report},     {waits, report},     {told, report},     {retention, report},
    {owed, report},
};

class Fsck {
public:
    Fsck(const DataDirectory& directory, const Timing& timing)
        : directory_(directory),
          timing_(timing),
          connection_(whole(directory.database()), Connection::Access::write),
          load_(connection_),
          relations_(connection_),
          scan_(connection_, book_) {
        const int version = schema_version(connection_, store_schema());
        if (version == 0) throw without_schema(directory.database());
        if (version != store_schema().migrations.back().number)
            throw Failure{error(Errc::conflict,
                                "the database has an older schema: run `perdure migrate` first")};
        connection_.run("PRAGMA temp_store = MEMORY");
    }

    FsckReport run() {
        check();
        report_.findings = std::move(findings_);
        return std::move(report_);
    }

private:
    static std::string whole(std::string path) {
        check_whole(path, LostLog::refuse);
        return path;
    }

    void check() {
        if (!is_file_sound(connection_, "perdure.db")) return;
        find_damage();
        Transaction snapshot(connection_, Transaction::Kind::read);
        report_.recoveries = rows_of("SELECT count(*) FROM recovery");
        note_states();
        note_retention();
        for (const auto& check : checks) run_check(check);
        compare_jobs();
        compare_limits();
        compare_output();
    }

    std::uint64_t rows_of(const char* sql) {
        return static_cast<std::uint64_t>(connection_.number(sql));
    }

    void add(std::string what, JobId job, const char* fix) {
        if (findings_.size() < findings_max)
            findings_.push_back({std::move(what), job ? job.text() : "", fix});
    }

    // Rows that cannot be understood, of every table (C9).
    void find_damage() {
        std::string from;
        for (std::optional<std::string> next = from; next;) {
            auto page = scan_.page(*next);
            for (auto& row : page.rows) {
                damaged_.insert(row.job);
                const bool is_job = row.table == "job" && row.job;
                const auto fix =
                    is_job ? "start a server and: perdure job discard " + row.row + " --damaged"
                           : "start a server and: perdure fsck --discard '" + row.table + ":" +
                                 row.row + "'";
                if (findings_.size() < findings_max)
                    findings_.push_back({fmt::format("row {} of `{}` cannot be understood: {}",
                                                     row.row, row.table, row.why),
                                         row.job ? row.job.text() : "",
                                         fix + "; or restore a backup"});
            }
            next = std::move(page.next);
        }
    }

    bool is_file_sound(Connection& connection, const char* name) {
        Statement check(connection, "PRAGMA integrity_check");
        auto row = check.query({});
        bool sound = true;
        while (row.next()) {
            if (row.bytes(0) == "ok") continue;
            sound = false;
            add(fmt::format("{} is damaged: {}", name, row.bytes(0)), {}, restore);
        }
        return sound;
    }

    // Where jobs are, in a form that the checks can count.
    void note_states() {
        connection_.run("CREATE TEMP TABLE found_ready (job INTEGER) STRICT");
        connection_.run("INSERT INTO found_ready SELECT job FROM ready");
        connection_.run("CREATE INDEX temp.found_ready_job ON found_ready (job)");
        connection_.run(
            "CREATE TEMP VIEW found_state AS"
            " SELECT j.shape, 0 AS state FROM timer t JOIN job j ON j.id = t.job"
            " UNION ALL SELECT shape, 1 FROM ready UNION ALL SELECT shape, 2 FROM blocked"
            " UNION ALL SELECT j.shape, 5 FROM wait w JOIN job j ON j.id = w.job"
            " UNION ALL SELECT j.shape, r.state FROM run r JOIN job j ON j.id = r.job"
            " UNION ALL SELECT j.shape, o.state FROM outcome o JOIN job j ON j.id = o.job");
    }

    // When which jobs are to be removed, one row for each.
    void note_retention() {
        connection_.run("CREATE TEMP TABLE found_forget (job INTEGER, forget_at INTEGER) STRICT");
        Statement add(connection_, "INSERT INTO found_forget (job, forget_at) VALUES (?, ?)");
        Statement notes(connection_, "SELECT forget_at, job, others FROM forget");
        auto row = notes.query({});
        while (row.next()) {
            const auto jobs = book_.unless_damaged(
                [&] { return decode_forget_note(JobId{row.bits(1)}, row.bytes(2)); },
                [&] { return damaged_row("forget", std::to_string(row.number(1))); });
            if (!jobs) continue;
            for (const auto job : *jobs) add.run_one({job, row.number(0)});
        }
        connection_.run("CREATE INDEX temp.found_forget_job ON found_forget (job)");
    }

    void run_check(const Check& check) {
        Statement statement(connection_, check.sql);
        auto row = statement.query({});
        while (row.next()) add(row.text(1), JobId{row.bits(0)}, check.fix);
    }

    bool is_held(const Permit& permit, JobId job) {
        const bool key = permit.kind == Permit::Kind::key;
        Statement statement(
            connection_, key ? "SELECT 1 FROM key_holder WHERE tenant = ? AND key = ? AND job = ?"
                             : "SELECT 1 FROM limit_holder WHERE tenant = ? AND name = ?"
                               " AND job = ?");
        return statement.query({permit.tenant, permit.name, job}).next();
    }

    // What only a job's own bytes tell: each must be understood, and hold what it should.
    void compare_jobs() {
        ServiceTick clock;
        try {
            clock = load_.service().clock;
        } catch (const Failure& failure) {
            add("service time: " + failure.error.what, {},
                "start a server: it restores the row from its copy");
            return;
        }
        Statement all(connection_, "SELECT id FROM job ORDER BY id");
        auto row = all.query({});
        while (row.next() && findings_.size() < findings_max) {
            const JobId id{row.bits(0)};
            ++report_.jobs;
            if (damaged_.contains(id)) continue;
            const auto compare_one = [&] {
                auto job = load_.job(id);
                if (!job) return true;
                load_history(load_, *job);
                report_.attempts += job->attempts.size();
                compare(*job, clock);
                compare_carried(*job);
                return true;
            };
            book_.unless_damaged(compare_one, [&] { return damaged_job(id); });
        }
    }

    void compare(const JobRow& job, const ServiceTick& clock) {
        const auto* ready = job.in<Ready>();
        const auto* run = job.in<Run>();
        const bool holds = run || (ready && ready->kept_until);
        for (const auto& permit : job.permits)
            if (holds && !is_held(permit, job.id))
                add("it does not hold " + permit.name, job.id, report);
        if (run && run->session != job.attempts.back().session())
            add("its attempt and its place name two sessions", job.id, report);
        const auto due = wake_at(job);
        // Nothing sweeps while no server runs: what is due then is swept first of all.
        const auto latest = clock.now - timing_.grace - timing_.grace;
        if (due && *due < latest)
            add("it is overdue: nobody has swept it", job.id,
                "start a server; if it stays, report it");
        if (!made_what_it_owes(job))
            add("its ends have made other callbacks than they should", job.id, report);
        if (const auto* blocked = job.in<Blocked>(); blocked && blocked->on)
            note_waiting(*blocked->on);
    }

    // The policy that has counted, as far as it is still known.
    std::optional<PolicyChoice> policy_with(std::uint64_t mark, const JobRow& job) {
        if (mark == 0) return job.spec->policy;
        const auto from = job.attempts.size() - std::min<std::size_t>(job.attempts.size(), 2);
        for (auto i = from; i < job.attempts.size(); ++i) {
            const auto session = load_.session(job.attempts[i].session());
            if (!session) continue;
            auto policy = policy_for_attempt(job.spec->policy, session->policy.get());
            if (fingerprint_of(policy) == mark) return policy;
        }
        return std::nullopt;
    }

    // E4: what the newest attempt carries is what the earlier ones say. Of more than a policy
    // counts anew it cannot be said how many it has counted.
    void compare_carried(JobRow& job) {
        if (!job.earlier || job.attempts.empty()) return;
        const auto& carried = *job.earlier;
        if (carried.checkpoint != latest_checkpoint(load_, job, job.epoch))
            add("it would go on from another checkpoint than its latest", job.id, report);
        const bool is_released = job.attempts.back().generation != job.generation;
        if (is_released || job.epoch.value > recounted_max) return;
        const auto policy = policy_with(carried.counted_by, job);
        if (policy && carried.counts != recount(load_, job, job.epoch, *policy))
            add("it counts other ends than its attempts have", job.id, report);
    }

    // K1: by generation and number.
    bool made_what_it_owes(const JobRow& job) {
        JobView view{.spec = job.spec};
        relations_.show(job, view);
        if (view.made.size() == made_shown_max) return true;  // those are not all
        const auto owed = callbacks_owed(job.id, job.generation, state_of(job), rules_of(view));
        return std::equal(owed.begin(), owed.end(), view.made.begin(), view.made.end(),
                          [](const CallbackOf& of, const MadeCallback& made) {
                              return of.generation == made.generation && of.number == made.number;
                          });
    }

    void note_waiting(const Permit& permit) { ++waiting_[permit]; }

    // Somebody waits for a permit: then it is taken, or offered to somebody in line (C4a).
    void compare_limits() {
        for (const auto& [permit, jobs] : waiting_) {
            const bool key = permit.kind == Permit::Kind::key;
            Statement taken(connection_,
                            key ? "SELECT 1 FROM key_holder WHERE tenant = ? AND key = ?"
                                : "SELECT 1 FROM limit_holder WHERE tenant = ? AND name = ?");
            Statement offered(connection_,
                              "SELECT 1 FROM want WHERE tenant = ? AND kind = ? AND name = ?");
            if (taken.query({permit.tenant, permit.name}).next()) continue;
            const auto kind = static_cast<int>(permit.kind);
            if (offered.query({permit.tenant, kind, permit.name}).next()) continue;
            add(fmt::format("{} jobs wait for {}, which is free", jobs, permit.name), {},
                "start a server: its sweep repairs it; and report it");
        }
    }

    void compare_output() {
        const auto path = directory_.logs();
        if (access(path.c_str(), F_OK) != 0) return;
        Connection logs(path, Connection::Access::write);
        if (schema_version(logs, log_schema()) == 0 || !is_file_sound(logs, "logs.db")) return;
        Statement known(connection_, "SELECT 1 FROM job WHERE id = ?");
        Statement jobs(logs, "SELECT DISTINCT job FROM piece");
        auto row = jobs.query({});
        while (row.next()) {
            const JobId id{row.bits(0)};
            if (!known.query({id}).next())
                add("there is output of a job that is not there", id, "it only takes space");
        }
    }

    const DataDirectory& directory_;
    Timing timing_;
    Connection connection_;
    Loader load_;
    RelationLoader relations_;
    DamageBook book_;
    DamageScan scan_;
    std::set<JobId> damaged_;
    std::vector<FsckFinding> findings_;
    FsckReport report_;
    std::map<Permit, std::size_t> waiting_;
};

}  // namespace

Result<FsckReport> fsck_offline(const DataDirectory& directory, const Timing& timing) {
    try {
        return Fsck(directory, timing).run();
    } catch (const Failure& failure) {
        return failure.error;
    }
}

}  // namespace perdure
