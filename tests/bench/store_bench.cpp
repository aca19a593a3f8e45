// store_bench: how fast the SQLite store is, beside the least that any durable queue on the same
// disk must do. Not a test: nothing here is judged, the figures are for people.
//   store_bench [--lives N] [--backlog N] [--folder DIR]
//   store_bench --lines N [--lives N] [--folder DIR]   drains over so many lines, beside one line
#include <fmt/format.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "core/job/submit.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint64_t batch = 1'000;
// As the server asks for.
constexpr std::uint32_t claim_max = 4'000;
constexpr std::uint32_t forget_max = 2'000;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Work done per second, and the processor time of each piece, which others on the machine disturb
// less.
struct Rate {
    double per_second = 0;
    double cpu_us = 0;
};

class Watch {
public:
    Rate rate(std::uint64_t pieces) const {
        const auto cpu = static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC;
        const auto count = static_cast<double>(pieces);
        return {count / seconds_since(start_), cpu * 1e6 / count};
    }

private:
    Clock::time_point start_ = Clock::now();
    std::clock_t cpu_ = std::clock();
};

// The least: one table, one insert, one claiming and one finishing update for each job. Either the
// claim is told which jobs to take, or it finds them in order, by an index, as a queue must.
class RawQueue {
public:
    enum class Claims { told, found };
    RawQueue(const std::string& path, Claims claims) {
        PERDURE_ASSERT(sqlite3_open(path.c_str(), &handle_) == SQLITE_OK);
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = FULL");
        run("PRAGMA secure_delete = OFF");
        run("CREATE TABLE job (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, owner INTEGER,"
            " changed_at INTEGER NOT NULL, args TEXT NOT NULL)");
        if (claims == Claims::found)
            run("CREATE INDEX line ON job (changed_at, id) WHERE state = 0");
        insert_ = prepare("INSERT INTO job VALUES (?, 0, NULL, 1, ?)");
        claim_ = prepare("UPDATE job SET state = 1, owner = 7, changed_at = 2 WHERE id = ?");
        find_ = claims == Claims::found
                    ? prepare(
                          "UPDATE job SET state = 1, owner = 7, changed_at = 2 WHERE id IN"
                          " (SELECT id FROM job WHERE state = 0 ORDER BY changed_at, id"
                          " LIMIT 1000) RETURNING id, args")
                    : nullptr;
        finish_ = prepare("UPDATE job SET state = 2, changed_at = 3 WHERE id = ?");
    }
    ~RawQueue() {
        for (auto* statement : {insert_, claim_, find_, finish_}) sqlite3_finalize(statement);
        sqlite3_close(handle_);
    }

    void submit(std::uint64_t first) {
        each(insert_, first,
             [](sqlite3_stmt* s) { sqlite3_bind_text(s, 2, "{\"n\": 1}", -1, SQLITE_STATIC); });
    }
    void claim(std::uint64_t first) {
        if (!find_) return each(claim_, first, [](sqlite3_stmt*) {});
        run("BEGIN IMMEDIATE");
        std::uint64_t found = 0;
        while (sqlite3_step(find_) == SQLITE_ROW) ++found;
        PERDURE_ASSERT(found == batch);
        sqlite3_reset(find_);
        run("COMMIT");
    }
    void finish(std::uint64_t first) {
        each(finish_, first, [](sqlite3_stmt*) {});
    }

private:
    void run(const char* sql) {
        PERDURE_ASSERT(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
    }
    sqlite3_stmt* prepare(const char* sql) {
        sqlite3_stmt* statement = nullptr;
        PERDURE_ASSERT(sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr) == SQLITE_OK);
        return statement;
    }
    template <class Bind>
    void each(sqlite3_stmt* statement, std::uint64_t first, Bind bind) {
        run("BEGIN IMMEDIATE");
        for (std::uint64_t i = 0; i < batch; ++i) {
            sqlite3_bind_int64(statement, 1, static_cast<std::int64_t>(first + i));
            bind(statement);
            PERDURE_ASSERT(sqlite3_step(statement) == SQLITE_DONE);
            sqlite3_reset(statement);
        }
        run("COMMIT");
    }

    sqlite3* handle_ = nullptr;
    sqlite3_stmt* insert_ = nullptr;
    sqlite3_stmt* claim_ = nullptr;
    sqlite3_stmt* find_ = nullptr;
    sqlite3_stmt* finish_ = nullptr;
};

template <class T>
Task<void> keep(Task<T> task, std::optional<T>& result) {
    result = co_await std::move(task);
}

// One server and one worker, as the store sees them.
class Bench {
public:
    explicit Bench(std::string path) : path_(std::move(path)) { open(); }

    void open() {
        store_.reset();
        auto opened = SqliteStore::open({.path = path_}, Timing{});
        PERDURE_ASSERT(opened.has_value());
        store_ = std::move(*opened);
        const auto server = run(store_->open_server(server_, wall_));
        PERDURE_ASSERT(server.has_value());
        last_group_ = server->last_group;
    }

    void open_session(std::uint32_t slots, const Offer& offer = {}) {
        session_ = SessionId{++last_id_};
        OpenSession change{.session = session_,
                           .directory = {"machine", "boot", 1, last_id_},
                           .life = 1,
                           .worker = "bench",
                           .slots = slots,
                           .offer = offer,
                           .lease = days(1)};
        commit({change, OpenStream{session_}});
    }
    SessionId session() const { return session_; }

    void submit(const std::optional<std::string>& key = std::nullopt, std::uint64_t count = batch) {
        JobSpec spec;
        spec.kind = "work";
        spec.args = "{\"n\": 1}";
        spec.key = key;
        const auto hash = body_hash(spec);
        std::vector<Change> changes;
        for (std::uint64_t i = 0; i < count; ++i) {
            spread(spec);
            changes.push_back(Submit{JobId{++last_id_}, std::make_shared<JobSpec>(spec), hash});
        }
        commit(std::move(changes));
    }

    // Over so many queues, kinds or shares.
    struct Lines {
        std::string JobSpec::*name = nullptr;
        std::uint64_t count = 1;
    };
    Lines lines;

    std::vector<Assignment> claim(std::uint32_t max = batch) {
        auto reply = commit({Claim{session_, 1, max}});
        return std::get<Claimed>(*reply.replies.front()).assignments;
    }

    void finish(const std::vector<Assignment>& assignments) {
        std::vector<Change> changes;
        add_ends(changes, session_, assignments);
        commit(std::move(changes));
    }

    using Assignments = std::vector<std::pair<SessionId, std::vector<Assignment>>>;

    // For many sessions at once, as the server does.
    Assignments claim_for(const std::vector<SessionId>& sessions) {
        std::vector<Change> claims;
        for (const auto session : sessions) claims.push_back(Claim{session, 1, claim_max});
        const auto reply = commit(std::move(claims));
        Assignments all;
        for (std::size_t i = 0; i < sessions.size(); ++i)
            all.emplace_back(sessions[i], std::get<Claimed>(*reply.replies[i]).assignments);
        return all;
    }

    // As many in a group as a claim gives.
    void finish(const Assignments& all) {
        std::vector<Change> changes;
        for (const auto& [session, assignments] : all) {
            add_ends(changes, session, assignments);
            if (changes.size() < 2 * batch) continue;
            commit(std::exchange(changes, {}));
        }
        commit(std::move(changes));
    }

    // Half a second of service time, and a heartbeat.
    void tick() {
        auto clock = clock_;
        clock.tick = clock_.tick + 1;
        clock.now = clock_.now + milliseconds(500);
        Heartbeat heartbeat{.session = session_, .number = ++heartbeat_, .slots = 10'000};
        heartbeat.lease = days(1);
        commit({Tick{clock_.tick, clock}, heartbeat});
    }

    // All retention is over.
    void pass_retention() {
        auto clock = clock_;
        clock.tick = clock_.tick + 1;
        clock.now = clock_.now + days(100);
        commit({Tick{clock_.tick, clock}});
    }

    std::uint64_t forget(std::uint32_t max) {
        const auto reply = commit({ForgetEnded{max}});
        return std::get<Forgotten>(*reply.replies.front()).jobs.size();
    }

    SqliteStore& store() { return *store_; }

private:
    void add_ends(std::vector<Change>& changes, SessionId session,
                  const std::vector<Assignment>& assignments) const {
        const AttemptEnd end{
            .cause = Cause::exit, .ran = Ran::yes, .succeeded = true, .reported = true};
        for (const auto& a : assignments) {
            changes.push_back(Start{session, a.attempt});
            changes.push_back(Report{session, a.attempt, end, evidence_});
        }
    }
    void spread(JobSpec& spec) const {
        if (lines.name) spec.*lines.name = fmt::format("n-{}", last_id_ % lines.count);
    }
    template <class T>
    T run(Task<T> task) {
        std::optional<T> result;
        boost::asio::co_spawn(loop_, keep(std::move(task), result),
                              [](std::exception_ptr e) { PERDURE_ASSERT(e == nullptr); });
        loop_.restart();
        loop_.run();
        return std::move(*result);
    }
    GroupReply commit(std::vector<Change> changes) {
        Group group{.server = server_,
                    .number = ++last_group_,
                    .id_high_water = last_id_,
                    .wall = wall_,
                    .changes = std::move(changes)};
        auto reply = run(store_->commit(std::move(group)));
        PERDURE_ASSERT(reply.has_value());
        for (const auto& r : reply->replies) PERDURE_ASSERT(r.has_value());
        clock_ = reply->clock;
        return std::move(*reply);
    }

    std::string path_;
    boost::asio::io_context loop_;
    std::unique_ptr<SqliteStore> store_;
    const ServerId server_{1};
    const WallTime wall_{seconds(1'700'000'000).us};
    SessionId session_;
    std::uint64_t last_group_ = 0;
    std::uint64_t last_id_ = 1'000;
    std::uint64_t heartbeat_ = 0;
    ServiceTick clock_;
    const EvidenceRef evidence_ = std::make_shared<const Evidence>(
        Evidence{.last_lines = "done\n", .host = "host-1", .ran_for = milliseconds(3)});
};

Rate raw_lives(const std::string& path, RawQueue::Claims claims, std::uint64_t lives) {
    RawQueue queue(path, claims);
    const Watch watch;
    for (std::uint64_t first = 1; first < lives; first += batch) {
        queue.submit(first);
        queue.claim(first);
        queue.finish(first);
    }
    return watch.rate(lives);
}

Rate raw_drain(const std::string& path, RawQueue::Claims claims, std::uint64_t backlog) {
    RawQueue queue(path, claims);
    for (std::uint64_t first = 1; first < backlog; first += batch) queue.submit(first);
    const Watch watch;
    for (std::uint64_t first = 1; first < backlog; first += batch) {
        queue.claim(first);
        queue.finish(first);
    }
    return watch.rate(backlog);
}

Rate store_lives(const std::string& path, std::uint64_t lives) {
    Bench bench(path);
    bench.open_session(10'000);
    const Watch watch;
    auto ticked = Clock::now();
    for (std::uint64_t done = 0; done < lives; done += batch) {
        bench.submit();
        bench.finish(bench.claim());
        if (seconds_since(ticked) < 0.5) continue;
        bench.tick();
        ticked = Clock::now();
    }
    return watch.rate(lives);
}

Rate store_drain(const std::string& path, std::uint64_t backlog, Bench::Lines lines = {}) {
    Bench bench(path);
    bench.lines = lines;
    bench.open_session(10'000);
    for (std::uint64_t i = 0; i < backlog; i += batch) {
        bench.submit();
        if (i % 30'000 == 0) bench.tick();
    }
    const Watch watch;
    for (std::uint64_t left = backlog; left > 0;) {
        const auto claimed = bench.claim(claim_max);
        left -= claimed.size();
        bench.finish(claimed);
    }
    return watch.rate(backlog);
}

// By so many workers, each with a queue of its own: all of its jobs run at the same time.
Rate store_drain_by(const std::string& path, std::uint64_t backlog, std::uint64_t workers) {
    Bench bench(path);
    bench.lines = {&JobSpec::queue, workers};
    for (std::uint64_t i = 0; i < backlog; i += batch) bench.submit();
    std::vector<SessionId> sessions;
    for (std::uint64_t i = 0; i < workers; ++i) {
        const Offer offer{.queues = {fmt::format("n-{}", i)}};
        bench.open_session(static_cast<std::uint32_t>(backlog / workers + 1), offer);
        sessions.push_back(bench.session());
    }
    constexpr std::ptrdiff_t at_once = 50;
    const Watch watch;
    Bench::Assignments all;
    for (auto next = sessions.begin(); next != sessions.end();) {
        const auto end = next + std::min(at_once, sessions.end() - next);
        for (auto& claimed : bench.claim_for({next, end})) all.push_back(std::move(claimed));
        next = end;
    }
    bench.finish(all);
    std::uint64_t done = 0;
    for (const auto& [session, assignments] : all) done += assignments.size();
    PERDURE_ASSERT(done == backlog);
    return watch.rate(backlog);
}

// How fast jobs that have ended are removed.
Rate store_retention(const std::string& path, std::uint64_t lives) {
    Bench bench(path);
    bench.open_session(10'000);
    for (std::uint64_t i = 0; i < lives; i += batch) {
        bench.submit();
        bench.finish(bench.claim());
    }
    bench.pass_retention();
    const Watch watch;
    std::uint64_t removed = 0;
    while (removed < lives) removed += bench.forget(forget_max);
    return watch.rate(lives);
}

struct Latency {
    double p50 = 0;
    double p99 = 0;
};

// One job claimed at a time, as an idle worker does.
Latency claim_latency(Bench& bench) {
    std::vector<double> took;
    for (int i = 0; i < 1'000; ++i) {
        bench.submit(std::nullopt, 1);
        const auto start = Clock::now();
        const auto claimed = bench.claim(1);
        took.push_back(seconds_since(start) * 1e3);
        PERDURE_ASSERT(claimed.size() == 1);
        bench.finish(claimed);
    }
    std::sort(took.begin(), took.end());
    return {took[took.size() / 2], took[took.size() * 99 / 100]};
}

void show_backlog(const std::string& path, std::uint64_t backlog, Latency empty,
                  const std::optional<std::string>& key) {
    Bench bench(path);
    bench.open_session(10'000);
    std::vector<Assignment> holder;
    if (key) {
        bench.submit(key, 1);
        holder = bench.claim(1);
    }
    const auto filling = Clock::now();
    for (std::uint64_t i = 0; i < backlog; i += batch) bench.submit(key);
    const auto rate = static_cast<double>(backlog) / seconds_since(filling);
    if (key) {
        // The first claims that meet them move them behind the key, a thousand at a time.
        const auto blocking = Clock::now();
        for (std::uint64_t i = 0; i < backlog; i += batch) PERDURE_ASSERT(bench.claim(1).empty());
        fmt::print("  blocked at             {:9.0f} jobs/s\n",
                   static_cast<double>(backlog) / seconds_since(blocking));
    }
    bench.tick();
    const auto full = claim_latency(bench);
    fmt::print(
        "{:9} {}: submitted at {:.0f}/s; claim p50 {:.3f} ms ({:.2f} x empty), p99 {:.3f} ms "
        "({:.2f} x)\n",
        backlog, key ? "behind one key" : "waiting", rate, full.p50, full.p50 / empty.p50, full.p99,
        full.p99 / empty.p99);
    const auto start = Clock::now();
    bench.open();
    bench.open_session(10'000);
    if (key) bench.submit(std::nullopt, 1);
    PERDURE_ASSERT(bench.claim(1).size() == 1);
    fmt::print("  start to first claim   {:9.3f} s\n", seconds_since(start));
}

void show(const char* what, const Rate& store, const Rate& told, const Rate& found) {
    const auto line = [&](const char* name, const Rate& raw) {
        fmt::print("  {:22} {:9.0f} /s {:6.2f} us: {:.0f} %, by processor time {:.0f} %\n", name,
                   raw.per_second, raw.cpu_us, 100 * store.per_second / raw.per_second,
                   100 * raw.cpu_us / store.cpu_us);
    };
    fmt::print("{:24} {:9.0f} /s {:6.2f} us\n", what, store.per_second, store.cpu_us);
    line("raw, told what to take", told);
    line("raw, finds in order", found);
}

struct Options {
    std::uint64_t lives = 300'000;
    std::uint64_t backlog = 1'000'000;
    std::uint64_t lines = 0;
    std::string folder = std::filesystem::temp_directory_path().string();
};

// Drains by many workers, over many queues, kinds and shares: by processor time, beside that of one
// line.
void show_lines(const Options& options, const std::function<std::string(const char*)>& path) {
    const auto one = store_drain(path("one"), options.lives);
    fmt::print("drain of one line        {:6.2f} us\n", one.cpu_us);
    const std::pair<const char*, std::string JobSpec::*> names[] = {
        {"queues", &JobSpec::queue}, {"kinds", &JobSpec::kind}, {"shares", &JobSpec::share}};
    const auto workers = std::min<std::uint64_t>(options.lines, 1'000);
    const auto by_many = store_drain_by(path("workers"), options.lives, workers);
    fmt::print("drain by {:6} {:9} {:6.2f} us: {:.2f}\n", workers, "workers", by_many.cpu_us,
               one.cpu_us / by_many.cpu_us);
    for (const auto& [name, field] : names) {
        const auto many = store_drain(path(name), options.lives, {field, options.lines});
        fmt::print("drain of {:6} {:8} {:6.2f} us: {:.2f}\n", options.lines, name, many.cpu_us,
                   one.cpu_us / many.cpu_us);
    }
}

void run(const Options& options) {
    auto folder = options.folder + "/perdure-bench-XXXXXX";
    PERDURE_ASSERT(mkdtemp(folder.data()) != nullptr);
    const auto path = [&](const char* name) { return folder + "/" + name; };
    if (options.lines > 0) {
        show_lines(options, path);
        std::filesystem::remove_all(folder);
        return;
    }
    using Claims = RawQueue::Claims;
    const auto told = raw_lives(path("a"), Claims::told, options.lives);
    const auto found = raw_lives(path("b"), Claims::found, options.lives);
    show("lives", store_lives(path("c"), options.lives), told, found);
    const auto told_drain = raw_drain(path("d"), Claims::told, options.lives);
    const auto found_drain = raw_drain(path("e"), Claims::found, options.lives);
    show("drain", store_drain(path("f"), options.lives), told_drain, found_drain);
    const auto retention = store_retention(path("g"), options.lives);
    fmt::print("{:24} {:9.0f} /s {:6.2f} us\n", "retention", retention.per_second,
               retention.cpu_us);
    if (options.backlog > 0) {
        Bench bench(path("empty"));
        bench.open_session(10'000);
        const auto empty = claim_latency(bench);
        fmt::print("claim with nothing else  p50 {:.3f} ms, p99 {:.3f} ms\n", empty.p50, empty.p99);
        show_backlog(path("backlog"), options.backlog, empty, std::nullopt);
        show_backlog(path("keyed"), options.backlog, empty, "the-key");
    }
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace perdure::bench

int main(int count, char** arguments) {
    perdure::bench::Options options;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string_view name = arguments[i];
        if (name == "--lives") options.lives = std::strtoull(arguments[i + 1], nullptr, 10);
        if (name == "--lines") options.lines = std::strtoull(arguments[i + 1], nullptr, 10);
        if (name == "--backlog") options.backlog = std::strtoull(arguments[i + 1], nullptr, 10);
        if (name == "--folder") options.folder = arguments[i + 1];
    }
    perdure::bench::run(options);
}
