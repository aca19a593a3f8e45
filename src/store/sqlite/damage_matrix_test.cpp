// Every column of every table is overwritten, one row at a time, with what a broken disk or a hand
// in the file may leave there. Everybody else's work must go on, and no key or limit may be
// exceeded (C9). Tables and columns are taken from the schema: a new one cannot be forgotten.
#include <filesystem>
#include <functional>
#include <set>

#include "store/sqlite/testing/on_disk.h"

namespace perdure {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// One value in one column of one row.
struct Case {
    std::string table;
    std::string column;
    std::string value;  // as SQL
    std::string where;  // the row
    std::string name() const { return table + "." + column + " = " + value + " WHERE " + where; }
};

const std::vector<std::string> bad_values = {
    "-1",
    "0",
    "9223372036854775807",
    "NULL",
    "'@@'",
    "x'ff00ff00ff00ff00ff'",
    "CAST(x'ff' AS TEXT)",
};

// Values that are as good as those that were there: nobody can tell that they were not written.
bool may_be_meant(const std::string& name) {
    static const std::set<std::string> columns = {
        // Names and texts that nothing else repeats, hashes, what a job saved.
        "queue.queue",
        "queue.tenant",
        "session.boot",
        "session.worker",
        "session.content_hash",
        "outcome.rule",
        "job.body_hash",
        "job.body_hash_high",
        "large.body",
        "owed_thing.tenant",
        "owed_thing.name",
        // What is only looked up, and need not be there any more.
        "ready.avoid",
        "ready.avoid_until",
        "blocked.avoid",
        "blocked.avoid_until",
        "timer.avoid",
        "made.job",
        "callback.id",
        "owed_removal.job",
    };
    static const std::set<std::string> values = {
        "awaited.on_end = 0",      "callback.on_end = 0",        "blocked.rank = 0",
        "blocked.since = 0",       "job.submitted_at = 0",       "outcome.cause = 0",
        "outcome.ended_at = 0",    "outcome.ended_on = 0",       "outcome.may_have_run = 0",
        "outcome.discarded = 0",   "owed_thing.behind = 0",      "queue.paused = 0",
        "recovery.epoch = 0",      "recovery.detector = 0",      "recovery.happened_on = 0",
        "recovery.incident = 0",   "run.confirm_deadline = 0",   "run.kill_order = 0",
        "session.assignments = 0", "session.heard_at = 0",       "session.heartbeat = 0",
        "session.is_open = 0",     "session.lease_deadline = 0", "session.life = 0",
        "session.given_up = 0",    "session.renewal = 0",        "session.seen = 0",
        "session.slots = 0",       "session.stream = 0",         "session.policy = NULL",
        "timer.date = 0",
    };
    return columns.contains(name.substr(0, name.find(' '))) || values.contains(name);
}

class DamageMatrix : public OnDisk {
protected:
    bool open_inline() {
        auto opened =
            SqliteStore::open({.path = database(), .threads = false, .durable = false}, Timing{});
        EXPECT_TRUE(opened.has_value()) << opened.error().what;
        if (!opened) return false;
        store = std::move(*opened);
        const auto server = run(store->open_server(ServerId{7}, WallTime{1}));
        EXPECT_TRUE(server.has_value()) << server.error().what;
        if (!server) return false;
        last_group = server->last_group;
        fence = server->fence;
        clock = server->clock;
        return true;
    }

    // The replies of one group; a refusal of the whole group is a failure of the test.
    std::vector<ChangeReply> group(std::vector<Change> changes) {
        Group group{.server = ServerId{7},
                    .number = last_group + 1,
                    .fence = fence,
                    .wall = WallTime{days(1).us},
                    .changes = std::move(changes)};
        auto reply = run(store->commit(std::move(group)));
        EXPECT_TRUE(reply.has_value()) << reply.error().what;
        if (!reply) return {};
        ++last_group;
        clock = reply->clock;
        return std::move(reply->replies);
    }
    void all_good(std::vector<Change> changes) {
        for (const auto& reply : group(std::move(changes)))
            EXPECT_TRUE(reply.has_value()) << reply.error().what;
    }

    using Edit = std::function<void(JobSpec&)>;
    static Submit job(
        std::uint64_t id, const Edit& edit = [](JobSpec&) {}) {
        JobSpec spec;
        spec.kind = "work";
        edit(spec);
        const auto hash = body_hash(spec);
        return {JobId{id}, std::make_shared<const JobSpec>(std::move(spec)), hash};
    }
    static Edit keyed(std::string key) {
        return [key](JobSpec& s) { s.key = key; };
    }
    static Edit limited() {
        return [](JobSpec& s) { s.limits = {"pool"}; };
    }
    static OpenSession session(std::uint64_t id, std::uint32_t slots) {
        OpenSession open{.session = SessionId{id}, .slots = slots, .lease = minutes(10)};
        open.directory = {"machine" + std::to_string(id), "boot", 1, id};
        open.worker = "worker" + std::to_string(id);
        open.life = 1;
        open.policy = std::make_shared<const PolicyChoice>();
        return open;
    }
    std::set<std::uint64_t> claim(std::uint64_t session, std::uint32_t max) {
        std::set<std::uint64_t> taken;
        const auto replies = group({Claim{SessionId{session}, 1, max}});
        if (replies.empty()) return taken;
        EXPECT_TRUE(replies[0].has_value()) << replies[0].error().what;
        if (!replies[0]) return taken;
        for (const auto& one : std::get<Claimed>(*replies[0]).assignments)
            taken.insert(one.attempt.job.value);
        return taken;
    }
    static AttemptKey first(std::uint64_t id) { return {JobId{id}, Epoch{1}}; }
    static Report succeeded(std::uint64_t id, std::uint64_t session) {
        return {.session = SessionId{session},
                .attempt = first(id),
                .end = {.cause = Cause::exit, .ran = Ran::yes, .succeeded = true},
                .evidence = {}};
    }
    static Report failed(std::uint64_t id, std::uint64_t session, Cause cause) {
        Evidence evidence{.result = "{}", .detail = std::string(2'000, 'x')};
        return {.session = SessionId{session},
                .attempt = first(id),
                .end = {.cause = cause, .ran = Ran::yes, .exit_code = 1},
                .evidence = std::make_shared<const Evidence>(evidence)};
    }
    void tick(Duration by) {
        all_good({Tick{clock.tick, {.tick = clock.tick + 1, .now = clock.now + by}}});
    }

    // Jobs in every place and state, sessions that are open and ended, holders, keys, a ledger.
    void populate();
    Rows query(const std::string& text);
    std::vector<Case> cases();
    bool damage(const Case& each);
    void expect_that_others_go_on();
    void expect_no_key_or_limit_is_exceeded();
    void expect_that_lists_work();
    std::vector<Damaged> all_damage();

    std::uint64_t fence = 0;
    ServiceTick clock;
};

void DamageMatrix::populate() {
    open_inline();
    tick(seconds(100));
    all_good({DefineLimit{"default", "pool", 2}, session(20, 20), OpenStream{SessionId{20}},
              session(21, 4), OpenStream{SessionId{21}}});
    // What runs: with a key, under a limit, plain; one of them is not confirmed.
    all_good({job(11, keyed("k1")), job(13, limited()), job(27), job(29)});
    EXPECT_EQ(claim(20, 4).size(), 4U);
    all_good({Start{SessionId{20}, first(11)}, Start{SessionId{20}, first(13)},
              Start{SessionId{20}, first(29)},
              Progress{.kind = Progress::Kind::checkpoint,
                       .session = SessionId{20},
                       .attempt = first(29),
                       .checkpoint = std::string(3'000, 'c'),
                       .number = 1}});
    // What has ended: well, badly, in doubt, with callbacks, after several attempts.
    const auto once = [](JobSpec& s) { s.effects = Effects::once; };
    const auto parent = [](JobSpec& s) { s.callbacks = {{Trigger::end, job(1).spec}}; };
    const auto tries = [](JobSpec& s) {
        s.policy.retries = 5;
        s.key = "k3";
    };
    all_good({job(17), job(18), job(19, once), job(23, parent)});
    EXPECT_EQ(claim(21, 4), (std::set<std::uint64_t>{17, 18, 19, 23}));
    all_good({Start{SessionId{21}, first(19)}, succeeded(17, 21), failed(18, 21, Cause::exit),
              failed(19, 21, Cause::crash_signal), succeeded(23, 21)});
    all_good({AddCallback{JobId{90}, JobId{29}, {Trigger::end, job(1).spec}}});
    all_good({Start{SessionId{20}, first(29)}, job(15, tries), job(28, tries)});
    tick(seconds(1));
    EXPECT_EQ(claim(21, 4).count(15), 1U);
    all_good({Start{SessionId{21}, first(15)}, failed(15, 21, Cause::exit)});
    EXPECT_EQ(claim(21, 1).count(28), 1U);
    all_good({Report{.session = SessionId{21},
                     .attempt = first(28),
                     .end = {.cause = Cause::lock_busy, .ran = Ran::no},
                     .evidence = {}}});
    all_good({EndSession{SessionId{21}}});
    // What waits: ready, blocked, held, scheduled, for another; with a key that is remembered.
    const auto later = [](JobSpec& s) { s.run_at = WallTime{days(9).us}; };
    const auto after = [](JobSpec& s) { s.after = {{JobId{29}, Trigger::end}}; };
    const auto same = [](JobSpec& s) {
        s.idempotency_key = "same";
        s.queue = "slow";
    };
    all_good({job(12, keyed("k1")), job(14, later), job(16, after), job(26), job(25, same),
              Hold{JobId{26}, true}, PauseQueue{"default", "slow", true}});
    claim(20, 16);  // 12 is blocked by the key, others run
    // Tried again at once: first in line, with its key.
    all_good({job(32, keyed("k4"))});
    EXPECT_EQ(claim(20, 16).count(32), 1U);
    all_good({Report{.session = SessionId{20},
                     .attempt = first(32),
                     .end = {.cause = Cause::lock_busy, .ran = Ran::no},
                     .evidence = {}}});
    all_good({job(10), job(31, limited())});
    store.reset();
    // What was too much for one group.
    query("INSERT INTO owed_end (job) VALUES (17); INSERT INTO owed_removal (job) VALUES (9)");
    query("INSERT INTO owed_thing (tenant, kind, name, behind) VALUES ('default', 0, 'k1', 1)");
}

Rows DamageMatrix::query(const std::string& text) {
    Rows rows;
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(database().c_str(), &handle), SQLITE_OK);
    const auto add = [](void* into, int columns, char** values, char**) {
        auto& row = static_cast<Rows*>(into)->emplace_back();
        for (int i = 0; i < columns; ++i) row.emplace_back(values[i] ? values[i] : "");
        return 0;
    };
    EXPECT_EQ(sqlite3_exec(handle, text.c_str(), add, &rows, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
    return rows;
}

// Of the rows of a table the first and the last.
std::vector<Case> DamageMatrix::cases() {
    std::vector<Case> all;
    for (const auto& table : query("SELECT name FROM sqlite_schema WHERE type = 'table'"
                                   " AND name <> 'migration'")) {
        const auto& name = table[0];
        std::string key;
        for (const auto& column :
             query("SELECT name FROM pragma_table_info('" + name + "') WHERE pk > 0 ORDER BY pk"))
            key += (key.empty() ? "quote(" : " || ',' || quote(") + column[0] + ")";
        std::string names;
        for (const auto& column :
             query("SELECT name FROM pragma_table_info('" + name + "') WHERE pk > 0 ORDER BY pk"))
            names += (names.empty() ? "" : ", ") + column[0];
        auto rows = query("SELECT " + key + " FROM " + name);
        EXPECT_FALSE(rows.empty()) << name << " has no row to damage";
        if (rows.size() > 2) rows = {rows.front(), rows.back()};
        for (const auto& column : query("SELECT name FROM pragma_table_info('" + name + "')"))
            for (const auto& row : rows)
                for (const auto& value : bad_values)
                    all.push_back({name, column[0], value, "(" + names + ") = (" + row[0] + ")"});
    }
    return all;
}

// False: the schema does not let it in, or it was there before.
bool DamageMatrix::damage(const Case& each) {
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(database().c_str(), &handle), SQLITE_OK);
    const auto text = "UPDATE " + each.table + " SET " + each.column + " = " + each.value +
                      " WHERE " + each.where + " AND " + each.column + " IS NOT " + each.value;
    const bool done = sqlite3_exec(handle, text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK &&
                      sqlite3_changes(handle) == 1;
    sqlite3_close(handle);
    return done;
}

// A new worker, new jobs of this tenant and of another one, sweeps, ends.
void DamageMatrix::expect_that_others_go_on() {
    auto foreign = session(41, 5);
    foreign.offer.tenant = "other";
    all_good({session(40, 30), OpenStream{SessionId{40}}, foreign, OpenStream{SessionId{41}}});
    const auto other = [](JobSpec& s) { s.tenant = "other"; };
    const auto urgent = [](JobSpec& s) {
        s.priority = 0;
        s.queue = "fresh";
    };
    all_good({job(60, urgent), job(61, other), job(62, keyed("free"))});
    const auto taken = claim(40, 30);
    EXPECT_EQ(taken.count(60), 1U);
    EXPECT_EQ(taken.count(62), 1U);
    EXPECT_EQ(claim(41, 5), (std::set<std::uint64_t>{61}));
    all_good({Start{SessionId{40}, first(60)}, succeeded(60, 40), Start{SessionId{41}, first(61)},
              succeeded(61, 41), Start{SessionId{40}, first(62)}, succeeded(62, 40)});
    const auto ended = run(store->jobs({JobId{60}, JobId{61}, JobId{62}}));
    ASSERT_TRUE(ended.has_value()) << ended.error().what;
    ASSERT_EQ(ended->size(), 3U);
    for (const auto& view : *ended) EXPECT_EQ(view.state, JobState::succeeded);
    tick(seconds(1));
    all_good({ForgetEnded{100}});
    const auto overdue = run(store->overdue(WallTime{days(1).us}, 100));
    ASSERT_TRUE(overdue.has_value()) << overdue.error().what;
    all_good({Sweep{overdue->waiting, overdue->free_permits}});
    const auto latest = run(store->latest_session(session(50, 1).directory));
    EXPECT_TRUE(latest.has_value()) << latest.error().what;
}

// 11 has k1 and runs; 13 is one of the two that may run under `pool`.
void DamageMatrix::expect_no_key_or_limit_is_exceeded() {
    group({job(70, keyed("k1")), job(71, limited()), job(72, limited()), job(73, limited())});
    const auto taken = claim(40, 20);
    EXPECT_EQ(taken.count(70), 0U) << "two share a key";
    EXPECT_EQ(taken.count(12), 0U) << "two share a key";
    const auto under = taken.count(31) + taken.count(71) + taken.count(72) + taken.count(73);
    EXPECT_LE(under, 1U) << "a limit is exceeded";
}

void DamageMatrix::expect_that_lists_work() {
    for (const auto* tenant : {"default", "other"}) {
        const auto page = run(store->list({.tenant = tenant, .limit = 1'000}));
        EXPECT_TRUE(page.has_value()) << page.error().what;
        const auto overview = run(read_overview(*store, tenant));
        EXPECT_TRUE(overview.has_value()) << overview.error().what;
        const auto ledger = run(store->recoveries({.tenant = tenant, .limit = 1'000}));
        EXPECT_TRUE(ledger.has_value()) << ledger.error().what;
    }
    const auto audit = run(store->audit({}, 1'000));
    EXPECT_TRUE(audit.has_value()) << audit.error().what;
    EXPECT_TRUE(run(store->service()).has_value());
}

std::vector<Damaged> DamageMatrix::all_damage() {
    std::vector<Damaged> all;
    for (std::optional<std::string> from = std::string{}; from;) {
        auto page = run(store->damaged(*from));
        EXPECT_TRUE(page.has_value()) << page.error().what;
        if (!page) return all;
        all.insert(all.end(), page->rows.begin(), page->rows.end());
        from = page->next;
    }
    return all;
}

TEST_F(DamageMatrix, one_damaged_value_stops_nobody_else_and_frees_nothing) {
    populate();
    ASSERT_FALSE(HasFailure());
    const auto sound = folder + "/sound.db";
    std::filesystem::copy_file(database(), sound);
    std::size_t done = 0;
    std::set<std::string> unnamed;
    for (const auto& each : cases()) {
        SCOPED_TRACE(each.name());
        store.reset();
        for (const auto* more : {"", "-wal", "-shm"}) std::filesystem::remove(database() + more);
        std::filesystem::copy_file(sound, database());
        if (!damage(each)) continue;
        ++done;
        const bool is_found = !fsck().empty();
        if (!open_inline()) continue;
        // Or written anew by whoever opens the file.
        const bool is_kept_twice = each.table == "service" || each.table == "server" ||
                                   each.table == "copy" || each.table == "mark";
        if (!is_kept_twice && !is_found && all_damage().empty() && store->damage_counts().empty())
            unnamed.insert(each.table + "." + each.column + " = " + each.value);
        expect_that_others_go_on();
        expect_no_key_or_limit_is_exceeded();
        expect_that_lists_work();
    }
    EXPECT_GT(done, 500U);
    // What could be meant as it stands is not damage: another name, another number within its
    // bounds, a hash. Everything else is named.
    for (const auto& each : unnamed) EXPECT_TRUE(may_be_meant(each)) << each << " is not named";
}

}  // namespace
}  // namespace perdure
