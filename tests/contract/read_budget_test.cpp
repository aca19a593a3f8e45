// A budget for every read: whatever a hundred thousand rows there are, one read touches few of
// them, and all of them are found piece by piece (C8). Counted in steps of SQLite's machine, not in
// time: a row that is found by its key takes some 15 of them, and one that is only passed over
// some 3.
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "ports/pieces.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

constexpr std::uint32_t rows_of_each = 100'000;
// A read that only passes over all rows takes half as many more.
constexpr std::uint64_t read_budget = 200'000;
// A group may touch 10,000 rows that no change names; each is read, changed and written.
constexpr std::uint64_t group_budget = 4'000'000;

std::unique_ptr<Store> make_counted(const Timing& timing) {
    auto store =
        SqliteStore::open({.threads = false, .durable = false, .counts_steps = true}, timing);
    PERDURE_ASSERT(store.has_value());
    return std::move(*store);
}

class RowBudgetOfReads : public StoreContract {
protected:
    RowBudgetOfReads() : StoreContract({.unwritten = {}}) {}

    SqliteStore& sqlite() { return dynamic_cast<SqliteStore&>(store()); }
    // What one read answers, which must be within its budget.
    template <class T>
    T read(Task<Result<T>> task, std::uint64_t budget = read_budget) {
        const auto before = sqlite().steps();
        auto answer = run(std::move(task));
        const auto steps = sqlite().steps() - before;
        EXPECT_LE(steps, budget);
        most_ = std::max(most_, steps);
        EXPECT_TRUE(answer.has_value()) << (answer ? "" : answer.error().what);
        return answer ? std::move(*answer) : T{};
    }
    GroupReply change(std::vector<Change> changes, std::uint64_t budget = group_budget) {
        const auto before = sqlite().steps();
        auto reply = commit(std::move(changes));
        const auto steps = sqlite().steps() - before;
        EXPECT_LE(steps, budget);
        most_ = std::max(most_, steps);
        return reply;
    }
    void TearDown() override {
        RecordProperty("most_steps", std::to_string(most_));
        StoreContract::TearDown();
    }

    std::vector<JobId> submit_many(const std::function<JobSpec(std::uint32_t)>& spec_of) {
        std::vector<JobId> ids;
        while (ids.size() < rows_of_each) {
            SubmitAll batch;
            for (int i = 0; i < 10'000; ++i)
                batch.jobs.push_back(submit_of(spec_of(static_cast<std::uint32_t>(ids.size()) +
                                                       static_cast<std::uint32_t>(i))));
            for (const auto& job : batch.jobs) ids.push_back(job.id);
            EXPECT_FALSE(get<BatchSubmitted>(apply(std::move(batch))).refused);
        }
        return ids;
    }
    std::vector<JobId> submit_many(const JobSpec& spec) {
        return submit_many([&](std::uint32_t) { return spec; });
    }
    SessionId claim_all(const std::string& tenant = "default") {
        Worker worker{.name = "many", .slots = rows_of_each};
        worker.offer.tenant = tenant;
        const auto session = open_session(worker);
        // Its only stream is the first: to ask for it would show all that runs.
        for (int i = 0; i < 100; ++i) {
            const auto claimed = get<Claimed>(apply(Claim{session, 1, 1'000}));
            EXPECT_EQ(claimed.assignments.size(), 1'000U);
        }
        return session;
    }
    // All pages of a list, each within its budget.
    std::set<JobId> listed(JobFilter filter, std::uint32_t* pages = nullptr) {
        std::set<JobId> ids;
        filter.limit = 1'000;
        do {
            const auto page = read(sqlite().list(filter));
            for (const auto& job : page.jobs) EXPECT_TRUE(ids.insert(job.id).second);
            filter.before = page.next;
            if (pages) ++*pages;
        } while (filter.before);
        return ids;
    }

    void find_damage() {
        for (std::string from;;) {
            const auto page = read(sqlite().damaged(from));
            EXPECT_TRUE(page.rows.empty()) << page.rows.front().table << page.rows.front().why;
            if (!page.next) break;
            from = *page.next;
        }
    }

    std::uint64_t most_ = 0;
};

TEST_P(RowBudgetOfReads, lists_of_jobs_in_as_many_queues) {
    const auto ids = submit_many([](std::uint32_t i) {
        auto spec = Wanted::job();
        spec.queue = "q" + std::to_string(i);
        return spec;
    });
    auto rare = Wanted::keyed("rare");
    rare.queue = "q7";
    const std::set<JobId> old{ids.front()};
    ASSERT_TRUE(apply(Cancel{ids.front()}));
    const auto newest = submit(rare);
    EXPECT_EQ(listed({.states = {JobState::cancelled}}), old);
    EXPECT_EQ(listed({.key = "rare"}), std::set{newest});
    EXPECT_EQ(listed({.queue = "q7"}).size(), 2U);
    EXPECT_EQ(listed({.queue = "q7", .kind = "none"}).size(), 0U);
    EXPECT_EQ(listed({.states = {JobState::ready}}).size(), ids.size());
    EXPECT_EQ(listed({.tenant = "nobody"}).size(), 0U);
    for (const auto& place : places)
        if (place.state != JobState::ready && place.state != JobState::cancelled) {
            EXPECT_TRUE(listed({.states = {place.state}}).empty()) << place.name;
        }
    std::vector<QueueLine> queues;
    for (std::optional<QueuePlace> after = QueuePlace{}; after;) {
        auto piece = read(sqlite().queues("default", *after));
        add_queues(queues, std::move(piece.queues));
        after = piece.next;
    }
    EXPECT_EQ(queues.size(), rows_of_each);
    for (const auto& line : queues) {
        const auto& jobs = line.jobs;
        const auto all = std::accumulate(jobs.begin(), jobs.end(), std::uint64_t{0});
        EXPECT_EQ(all, line.queue == "q7" ? 2U : 1U) << line.queue;
    }
    find_damage();
    // All of them are due at once, each in a line of its own.
    pass(days(8));
    EXPECT_EQ(read(store().overdue(wall, 1'000)).waiting.size(), 1'000U);
}

TEST_P(RowBudgetOfReads, one_queue_of_as_many_kinds) {
    submit_many([](std::uint32_t i) {
        auto spec = Wanted::job();
        spec.kind = "k" + std::to_string(i);
        return spec;
    });
    EXPECT_TRUE(apply(PauseQueue{"default", "default", true}));
    std::vector<QueueLine> queues;
    int pieces = 0;
    for (std::optional<QueuePlace> after = QueuePlace{}; after; ++pieces) {
        auto piece = read(sqlite().queues("default", *after));
        add_queues(queues, std::move(piece.queues));
        after = piece.next;
    }
    ASSERT_EQ(queues.size(), 1U);
    EXPECT_EQ(queues.front().jobs[1], rows_of_each);
    EXPECT_TRUE(queues.front().paused);
    EXPECT_GT(pieces, 1);
}

TEST_P(RowBudgetOfReads, whatever_runs_and_holds) {
    define_limit("pool", rows_of_each);
    const auto ids = submit_many(Wanted::limited("pool"));
    const auto session = claim_all();
    RunCounts running;
    for (std::optional<JobId> after = JobId{}; after;) {
        const auto piece = read(sqlite().running(*after));
        for (const auto& [of, count] : piece.running) running[of] += count;
        after = piece.next;
    }
    EXPECT_EQ(running, (RunCounts{{session, rows_of_each}}));
    std::vector<LimitLine> limits;
    for (std::optional<LimitPlace> from = LimitPlace{}; from;) {
        auto piece = read(sqlite().limits("default", *from));
        add_limits(limits, std::move(piece.limits));
        from = piece.next;
    }
    ASSERT_EQ(limits.size(), 1U);
    EXPECT_EQ(limits.front().taken, rows_of_each);
    EXPECT_EQ(read(sqlite().holders({Permit::Kind::limit, "default", "pool"}, 10)).size(), 10U);
    EXPECT_EQ(listed({.states = {JobState::starting}}).size(), ids.size());
    EXPECT_TRUE(listed({.states = {JobState::running}}).empty());
    EXPECT_EQ(read(store().owner(session)).session, session);
    EXPECT_EQ(read(store().latest_session(directory_of({.name = "many"}))), session);
    std::size_t runs = 0;
    for (std::optional<JobId> behind = JobId{}; behind;) {
        const auto piece = read(store().session(session, *behind));
        runs += piece.runs.size();
        behind = piece.more_runs;
    }
    EXPECT_EQ(runs, ids.size());
    std::size_t holders = 0;
    std::size_t jobs = 0;
    for (std::optional<AuditPlace> after = AuditPlace{}; after;) {
        const auto piece = read(store().audit(*after, 1'000));
        holders += piece.holders.size();
        jobs += piece.jobs.size();
        after = piece.next;
    }
    EXPECT_EQ(holders, ids.size());
    EXPECT_EQ(jobs, ids.size());
    read(store().service());
    read(store().overdue(wall, 1'000));
}

TEST_P(RowBudgetOfReads, a_ledger_of_somebody_else) {
    auto theirs = Wanted::job();
    theirs.tenant = "theirs";
    submit_many(theirs);
    claim_all("theirs");
    pass(hours(1));
    while (!run(sqlite().running({}))->running.empty()) sweep();
    std::uint32_t reads = 0;
    for (std::optional<std::uint64_t> before = UINT64_MAX >> 1; before; ++reads) {
        const auto page = read(sqlite().recoveries({.before = before}));
        EXPECT_TRUE(page.recoveries.empty());
        before = page.next;
    }
    EXPECT_GE(reads, rows_of_each / ledger_walk_max);
    const auto own = read(sqlite().recoveries({.tenant = "theirs", .limit = 10}));
    EXPECT_EQ(own.recoveries.size(), 10U);
}

TEST_P(RowBudgetOfReads, sessions_that_have_ended) {
    std::vector<SessionId> all;
    while (all.size() < rows_of_each) {
        std::vector<Change> opened;
        for (int i = 0; i < 1'000; ++i) {
            auto change = open_session_of({.name = "w" + std::to_string(all.size())});
            all.push_back(change.session);
            opened.emplace_back(std::move(change));
        }
        commit(std::move(opened));
    }
    std::set<std::string> seen;
    for (std::optional<SessionId> after = SessionId{}; after;) {
        // Those that are there are decoded.
        const auto piece = read(sqlite().workers({.after = *after}), 2 * read_budget);
        for (const auto& line : piece.workers) seen.insert(line.worker);
        after = piece.next;
    }
    EXPECT_EQ(seen.size(), all.size());
    EXPECT_EQ(read(sqlite().owners({all.front(), all.back()})).size(), 2U);
    // All of them leave, and are forgotten piece by piece.
    pass(days(400));
    std::size_t left = all.size();
    for (int i = 0; i < 1'000 && left > 0; ++i) {
        change({ForgetEnded{500}});
        if (i % 50 == 49) left = run(sqlite().owners(all))->size();
    }
    EXPECT_EQ(left, 0U);
}

// Each of its attempts is shown, none is forgotten, and in the end nothing is left of it.
TEST_P(RowBudgetOfReads, one_job_with_as_many_attempts) {
    const auto worker = open_session();
    const auto id = submit(Wanted::job());
    const auto stream = session(worker).stream;
    // Again at once, however often.
    const AttemptEnd evicted{.cause = Cause::evicted, .ran = Ran::yes, .reported = true};
    for (std::uint32_t epoch = 1; epoch <= rows_of_each;) {
        std::vector<Change> changes;
        for (int i = 0; i < 500; ++i, ++epoch) {
            changes.emplace_back(Claim{worker, stream, 1});
            changes.emplace_back(Report{worker, {id, Epoch{epoch}}, evicted});
        }
        commit(std::move(changes));
    }
    ASSERT_EQ(read(sqlite().job({.job = id})).job.epoch, Epoch{rows_of_each});
    std::set<std::uint32_t> epochs;
    for (Epoch before{UINT32_MAX}; before > Epoch{1};) {
        const auto shown = read(sqlite().job({.job = id, .attempts = {.before = before}}));
        ASSERT_FALSE(shown.job.attempts.empty());
        for (const auto& attempt : shown.job.attempts) epochs.insert(attempt.epoch.value);
        before = shown.job.attempts.front().epoch;
    }
    EXPECT_EQ(epochs.size(), rows_of_each);
    EXPECT_EQ(read(store().jobs({id}, only(Epoch{7}))).front().attempts.size(), 1U);
    EXPECT_EQ(listed({}), std::set{id});
    read(store().audit({}, 1'000));
    find_damage();
    // What is heard of an old attempt, and of an older one, costs no more than these two.
    const auto late = change(
        {Report{worker, {id, Epoch{90'000}}, evicted}, Report{worker, {id, Epoch{7}}, evicted}},
        rows_of_each);
    for (const auto& reply : late.replies)
        EXPECT_EQ(get<Reported>(reply).answer, ReportAnswer::repeated);
    EXPECT_TRUE(apply(Cancel{id}));
    pass(days(400));
    auto reply = change({ForgetEnded{500}});
    EXPECT_TRUE(read(store().jobs({id})).empty());
    EXPECT_TRUE(reply.owes);
    for (int i = 0; i < 100 && reply.owes; ++i) reply = change({Sweep{}});
    EXPECT_FALSE(reply.owes);
    find_damage();
}

TEST_P(RowBudgetOfReads, a_pause_over_as_many_that_keep_their_keys) {
    const auto ids =
        submit_many([](std::uint32_t i) { return Wanted::keyed("k" + std::to_string(i)); });
    const auto session = claim_all();
    for (std::size_t i = 0; i < ids.size();) {
        std::vector<Change> reports;
        for (int j = 0; j < 1'000; ++j, ++i)
            reports.emplace_back(Report{session, {ids[i], Epoch{1}}, conflict_with_somebody()});
        commit(std::move(reports));
    }
    ASSERT_TRUE(job(ids.front()).kept_until.has_value());
    auto reply = change({PauseQueue{"default", "default", true}});
    EXPECT_TRUE(reply.owes);
    for (int i = 0; i < 100 && reply.owes; ++i) reply = change({Sweep{}});
    EXPECT_FALSE(reply.owes);
    for (const auto id : {ids.front(), ids[ids.size() / 2], ids.back()})
        EXPECT_FALSE(job(id).kept_until.has_value());
}

INSTANTIATE_TEST_SUITE_P(Sqlite, RowBudgetOfReads,
                         testing::Values(StoreFactory{"sqlite_counted", make_counted}),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace perdure::contract
