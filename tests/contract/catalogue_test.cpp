// The catalogue: what people look at. Lists go from the newest job to the oldest; counts are those
// of the rows.
#include "ports/catalogue.h"

#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

class CatalogueContract : public StoreContract {
protected:
    CatalogueContract() : catalogue_(dynamic_cast<Catalogue&>(store())) {}

    JobPage list(const JobFilter& filter) {
        const auto page = run(catalogue_.list(filter));
        EXPECT_TRUE(page.has_value());
        return page ? *page : JobPage{};
    }
    std::vector<JobId> ids(const JobFilter& filter) {
        std::vector<JobId> found;
        for (const auto& line : list(filter).jobs) found.push_back(line.id);
        return found;
    }
    Overview overview(const std::string& tenant = "default") {
        const auto view = run(read_overview(catalogue_, tenant));
        EXPECT_TRUE(view.has_value());
        return view ? *view : Overview{};
    }
    std::vector<WorkerLine> workers_of_all() {
        auto lines = run(read_workers(catalogue_, std::nullopt));
        EXPECT_TRUE(lines.has_value());
        return lines ? std::move(*lines) : std::vector<WorkerLine>{};
    }
    std::uint64_t count(const std::string& queue, JobState state) {
        for (const auto& line : overview().queues)
            if (line.queue == queue) return line.jobs[static_cast<std::size_t>(state)];
        return 0;
    }
    static JobSpec in_queue(const std::string& queue) {
        auto spec = Wanted::job();
        spec.queue = queue;
        return spec;
    }

private:
    Catalogue& catalogue_;
};

TEST_P(CatalogueContract, lists_the_newest_first) {
    std::vector<JobId> all;
    for (int i = 0; i < 4; ++i) all.insert(all.begin(), submit(Wanted::job()));
    EXPECT_EQ(ids({}), all);
    EXPECT_FALSE(list({}).next.has_value());
}

TEST_P(CatalogueContract, pages_are_without_gap_or_overlap_and_the_last_one_says_so) {
    std::vector<JobId> all;
    for (int i = 0; i < 7; ++i) all.insert(all.begin(), submit(Wanted::job()));
    std::vector<JobId> seen;
    JobFilter filter{.limit = 3};
    for (int pages = 1;; ++pages) {
        const auto page = list(filter);
        for (const auto& line : page.jobs) seen.push_back(line.id);
        filter.before = page.next;
        if (page.next) continue;
        EXPECT_EQ(pages, 3);
        break;
    }
    EXPECT_EQ(seen, all);
    // A page that ends with the last job has no next one.
    EXPECT_FALSE(list({.limit = 7}).next.has_value());
    EXPECT_TRUE(list({.limit = 6}).next.has_value());
}

TEST_P(CatalogueContract, a_session_is_listed_for_each_tenant_that_it_serves) {
    open_session({.name = "w", .offer = {.tenant = "acme", .other_tenants = {"beta"}}});
    for (const std::string tenant : {"acme", "beta"})
        EXPECT_EQ(overview(tenant).workers.size(), 1U) << tenant;
    EXPECT_EQ(overview().workers.size(), 0U);
    EXPECT_EQ(workers_of_all().size(), 1U);
}

TEST_P(CatalogueContract, filters_by_queue_kind_key_and_tenant) {
    const auto plain = submit(Wanted::job());
    const auto mail = submit(in_queue("mail"));
    const auto keyed = submit(Wanted::keyed("k"));
    auto other_kind = Wanted::job();
    other_kind.kind = "other";
    const auto kind = submit(other_kind);
    auto foreign = Wanted::keyed("k");
    foreign.tenant = "acme";
    const auto theirs = submit(foreign);
    EXPECT_EQ(ids({.queue = "mail"}), std::vector{mail});
    EXPECT_EQ(ids({.queue = "default"}), (std::vector{kind, keyed, plain}));
    EXPECT_EQ(ids({.kind = "other"}), std::vector{kind});
    EXPECT_EQ(ids({.queue = "mail", .kind = "other"}), std::vector<JobId>{});
    EXPECT_EQ(ids({.key = "k"}), std::vector{keyed});
    EXPECT_EQ(ids({.tenant = "acme"}), std::vector{theirs});
    EXPECT_EQ(ids({.tenant = "nobody"}), std::vector<JobId>{});
    EXPECT_EQ(ids({.queue = "none"}), std::vector<JobId>{});
}

TEST_P(CatalogueContract, filters_by_every_state) {
    const auto worker = open_session();
    const auto succeeded = submit(Wanted::job());
    finish(worker, run_one(worker), success());
    const auto failed = submit(Wanted::job());
    finish(worker, run_one(worker), exit_with(1));
    const auto running = submit(Wanted::keyed("k"));
    run_one(worker);
    const auto blocked = submit(Wanted::keyed("k"));
    claim(worker);
    const auto starting = submit(Wanted::job());
    claim_one(worker);
    const auto cancelled = submit(Wanted::job());
    ASSERT_TRUE(apply(Cancel{cancelled}).has_value());
    auto later = Wanted::job();
    later.run_at = wall + days(1);
    const auto scheduled = submit(later);
    const auto ready = submit(Wanted::job());
    const std::vector<std::pair<JobState, JobId>> expected = {
        {JobState::succeeded, succeeded}, {JobState::failed, failed},
        {JobState::running, running},     {JobState::blocked, blocked},
        {JobState::starting, starting},   {JobState::cancelled, cancelled},
        {JobState::scheduled, scheduled}, {JobState::ready, ready},
    };
    for (const auto& [state, id] : expected) {
        EXPECT_EQ(ids({.states = {state}}), std::vector{id}) << to_string(state);
        EXPECT_EQ(count("default", state), 1U) << to_string(state);
    }
    EXPECT_EQ(ids({.states = {JobState::succeeded, JobState::ready, JobState::failed}}),
              (std::vector{ready, failed, succeeded}));
    EXPECT_EQ(ids({.states = {JobState::ready, JobState::ready}}), std::vector{ready});
    EXPECT_EQ(ids({.states = {JobState::quarantined}}), std::vector<JobId>{});
}

TEST_P(CatalogueContract, a_page_of_some_states_goes_on_where_it_stopped) {
    std::vector<JobId> mine;
    for (int i = 0; i < 6; ++i) {
        const auto id = submit(Wanted::job());
        if (i % 2 == 1) continue;
        ASSERT_TRUE(apply(Cancel{id}).has_value());
        mine.insert(mine.begin(), id);
    }
    const auto first = list({.states = {JobState::cancelled}, .limit = 2});
    ASSERT_EQ(first.jobs.size(), 2U);
    ASSERT_TRUE(first.next.has_value());
    const auto rest = ids({.states = {JobState::cancelled}, .before = first.next, .limit = 2});
    EXPECT_EQ(rest, std::vector{mine[2]});
}

TEST_P(CatalogueContract, a_line_tells_who_runs_it_and_how_it_ended) {
    const auto worker = open_session({.name = "worker-7"});
    submit(Wanted::job());
    const auto attempt = run_one(worker);
    const auto running = list({}).jobs.front();
    EXPECT_EQ(running.worker, "worker-7");
    EXPECT_FALSE(running.cause.has_value());
    EXPECT_EQ(running.epoch, Epoch{1});
    EXPECT_EQ(running.spec->kind, "work");
    wall = wall + seconds(5);
    finish(worker, attempt, crash());
    ASSERT_TRUE(apply(Cancel{attempt.job}).has_value());
    const auto ended = list({}).jobs.front();
    EXPECT_FALSE(ended.worker.has_value());
    EXPECT_EQ(ended.cause, Cause::cancelled);
    EXPECT_EQ(ended.ended_on, wall);
}

TEST_P(CatalogueContract, queues_are_counted_and_empty_ones_are_not_listed) {
    EXPECT_TRUE(overview().queues.empty());
    submit(in_queue("mail"));
    submit(in_queue("mail"));
    const auto gone = submit(in_queue("beta"));
    ASSERT_TRUE(apply(PauseQueue{"default", "stopped", true}).has_value());
    ASSERT_TRUE(apply(PauseQueue{"acme", "theirs", true}).has_value());
    const auto queues = overview().queues;
    ASSERT_EQ(queues.size(), 3U);
    EXPECT_EQ(queues[0].queue, "beta");
    EXPECT_EQ(queues[1].queue, "mail");
    EXPECT_EQ(queues[1].jobs[static_cast<std::size_t>(JobState::ready)], 2U);
    EXPECT_TRUE(queues[2].paused);
    ASSERT_TRUE(apply(Cancel{gone}).has_value());
    pass(timing.retention);
    ASSERT_EQ(get<Forgotten>(apply(ForgetEnded{})).jobs, std::vector{gone});
    EXPECT_EQ(overview().queues.front().queue, "mail");
    ASSERT_TRUE(apply(PauseQueue{"default", "stopped", false}).has_value());
    EXPECT_EQ(overview().queues.size(), 1U);
}

// Across priorities, kinds and shares; what is not ready does not wait in line.
TEST_P(CatalogueContract, the_oldest_ready_job_of_a_queue_is_known) {
    const auto spec = [](const char* kind, std::uint8_t priority) {
        auto wanted = in_queue("mail");
        wanted.kind = kind;
        wanted.priority = priority;
        return wanted;
    };
    const auto begun = overview().clock.now;
    submit(spec("slow", 9));
    pass(seconds(5));
    submit(spec("fast", 0));
    submit(spec("fast", 5));
    auto mail = overview().queues.front();
    ASSERT_TRUE(mail.oldest_ready.has_value());
    EXPECT_EQ(*mail.oldest_ready, begun);
    EXPECT_EQ(mail.ready_kinds, (std::map<std::string, std::uint64_t>{{"slow", 1}, {"fast", 2}}));
    const auto worker = open_session({.name = "w", .offer = {.kinds = {"slow"}}});
    ASSERT_EQ(claim(worker).size(), 1U);
    mail = overview().queues.front();
    EXPECT_GE(*mail.oldest_ready, begun + seconds(5));
    EXPECT_EQ(mail.ready_kinds, (std::map<std::string, std::uint64_t>{{"fast", 2}}));
}

TEST_P(CatalogueContract, limits_show_what_is_taken) {
    define_limit("gpu", 3);
    define_limit("cpu", 1);
    const auto worker = open_session();
    submit(Wanted::limited("gpu"));
    submit(Wanted::limited("gpu"));
    claim(worker);
    const auto limits = overview().limits;
    ASSERT_EQ(limits.size(), 2U);
    EXPECT_EQ(limits[0].name, "cpu");
    EXPECT_EQ(limits[0].taken, 0U);
    EXPECT_EQ(limits[1].max, 3U);
    EXPECT_EQ(limits[1].taken, 2U);
    EXPECT_TRUE(overview("acme").limits.empty());
}

TEST_P(CatalogueContract, a_worker_that_is_gone_and_has_nothing_is_not_listed) {
    const auto idle = open_session({.name = "idle"});
    const auto busy = open_session({.name = "busy"});
    submit(Wanted::job());
    run_one(busy);
    EXPECT_EQ(overview().workers.size(), 2U);
    pass(timing.lease);
    const auto workers = overview().workers;
    ASSERT_EQ(workers.size(), 1U);
    EXPECT_EQ(workers[0].session, busy);
    EXPECT_EQ(send_heartbeat(idle).answer, HeartbeatAnswer::accept);
    EXPECT_EQ(overview().workers.size(), 2U);
}

TEST_P(CatalogueContract, workers_are_the_open_sessions) {
    const auto second = open_session({.name = "worker-2", .slots = 3});
    const auto first = open_session({.name = "worker-1", .offer = {.queues = {"mail"}}});
    const auto ended = open_session({.name = "worker-3"});
    ASSERT_TRUE(apply(EndSession{ended}).has_value());
    submit(Wanted::job());
    claim_one(second);
    pass(timing.suspect);
    EXPECT_EQ(send_heartbeat(first).answer, HeartbeatAnswer::accept);
    const auto workers = overview().workers;
    ASSERT_EQ(workers.size(), 2U);
    EXPECT_EQ(workers[0].session, first);
    EXPECT_EQ(workers[0].offer.queues, std::vector<std::string>{"mail"});
    EXPECT_FALSE(workers[0].suspect);
    EXPECT_EQ(workers[1].worker, "worker-2");
    EXPECT_EQ(workers[1].running, 1U);
    EXPECT_EQ(workers[1].slots, 3U);
    EXPECT_TRUE(workers[1].suspect);
    EXPECT_EQ(workers[1].silent_for, timing.suspect);
    EXPECT_EQ(overview().clock.now, now());
}

INSTANTIATE_TEST_SUITE_P(Stores, CatalogueContract, testing::ValuesIn(store_factories()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace perdure::contract
