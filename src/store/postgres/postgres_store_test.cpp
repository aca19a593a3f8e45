// What only a store on PostgreSQL can get wrong: who may write the cell, and what a connection that
// is lost leaves behind (C1, C6). Everything is compared by id.
#include "store/postgres/postgres_store.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <set>
#include <vector>

#include "base/assert.h"
#include "core/explain/ledger.h"
#include "core/job/submit.h"
#include "core/policy/cause.h"
#include "ports/pieces.h"
#include "store/postgres/testing/cluster.h"
#include "store/postgres/testing/relay.h"

namespace perdure {
namespace {

using store::postgres::Cluster;
using store::postgres::Relay;

template <class T>
Task<void> keep(Task<T> task, std::optional<T>& result) {
    result = co_await std::move(task);
}

// A server's side of one store.
class CellServer {
public:
    CellServer(boost::asio::io_context& loop, PostgresOptions options) : loop_(loop) {
        options.durable = false;
        options.fatal = [this](const Error& why) { fatal = why; };
        auto opened = PostgresStore::open(std::move(options), Timing{});
        if (!opened) {
            refusal = opened.error();
            return;
        }
        store = std::move(*opened);
        open_server();
    }

    void open_server() {
        const auto opened = run(store->open_server(ServerId{7}, WallTime{1}));
        if (!opened) return;
        last_group = opened->last_group;
        fence = opened->fence;
    }

    template <class T>
    T run(Task<T> task) {
        std::optional<T> result;
        boost::asio::co_spawn(loop_, keep(std::move(task), result), [](std::exception_ptr failure) {
            PERDURE_ASSERT(failure == nullptr);
        });
        loop_.restart();
        loop_.run();
        return std::move(*result);
    }

    Result<GroupReply> commit(std::uint64_t job) {
        JobSpec spec;
        spec.kind = "work";
        const auto hash = body_hash(spec);
        Group group{.server = ServerId{7},
                    .number = last_group + 1,
                    .fence = fence,
                    .id_high_water = job,
                    .wall = WallTime{2},
                    .changes = {Submit{JobId{job}, std::make_shared<const JobSpec>(std::move(spec)),
                                       hash}}};
        auto reply = run(store->commit(std::move(group)));
        if (reply) ++last_group;
        return reply;
    }

    // As a server does: whatever is not known is settled, whatever was not done is done again.
    void submit(std::uint64_t job) {
        for (;;) {
            const auto reply = commit(job);
            if (reply) return;
            ASSERT_TRUE(reply.is(Errc::unavailable) || reply.is(Errc::outcome_unknown))
                << reply.error().what;
            if (!reply.is(Errc::outcome_unknown)) continue;
            const auto last = run_ready();
            fence = last.fence;
            if (last.last_group == last_group) continue;
            last_group = last.last_group;
            return;
        }
    }

    LastGroup run_ready() {
        for (;;) {
            const auto last = run(store->resolve_unknown(ServerId{7}, fence));
            if (last) return *last;
        }
    }

    std::set<std::uint64_t> jobs() {
        std::set<std::uint64_t> ids;
        const auto audit = run(store->audit({}, 1'000));
        EXPECT_TRUE(audit.has_value()) << (audit ? "" : audit.error().what);
        if (audit)
            for (const auto& job : audit->jobs) ids.insert(job.id.value);
        return ids;
    }

    std::unique_ptr<PostgresStore> store;
    std::optional<Error> refusal;
    std::optional<Error> fatal;
    std::uint64_t last_group = 0;
    std::uint64_t fence = 0;

private:
    boost::asio::io_context& loop_;
};

class PostgresStoreTest : public testing::Test {
protected:
    PostgresOptions options() { return {.uri = cluster.uri(), .schema = schema}; }

    std::string in_schema(const std::string& sql) {
        return cluster.run("SET search_path = " + schema + "; " + sql);
    }

    boost::asio::io_context loop;
    Cluster& cluster = Cluster::shared();
    std::string schema = cluster.new_schema();
};

TEST_F(PostgresStoreTest, a_second_server_is_refused_while_the_first_one_is_there) {
    CellServer first(loop, options());
    ASSERT_FALSE(first.refusal.has_value()) << first.refusal->what;
    const CellServer second(loop, options());
    ASSERT_TRUE(second.refusal.has_value());
    EXPECT_EQ(second.refusal->code, Errc::conflict);
    EXPECT_NE(second.refusal->what.find("keeps this cell"), std::string::npos);
    EXPECT_TRUE(first.commit(1).has_value());
}

TEST_F(PostgresStoreTest, the_next_server_goes_on_where_the_last_one_ended) {
    {
        CellServer first(loop, options());
        first.submit(1);
    }
    CellServer next(loop, options());
    ASSERT_FALSE(next.refusal.has_value()) << next.refusal->what;
    next.submit(2);
    EXPECT_EQ(next.jobs(), (std::set<std::uint64_t>{1, 2}));
}

// C1: the epoch of a group is compared with the cell's when it is written.
TEST_F(PostgresStoreTest, a_keeper_whose_cell_was_taken_writes_nothing_any_more) {
    CellServer old_keeper(loop, options());
    old_keeper.submit(1);
    auto by_force = options();
    by_force.take_over = true;
    CellServer keeper(loop, by_force);
    ASSERT_FALSE(keeper.refusal.has_value()) << keeper.refusal->what;

    const auto late = old_keeper.commit(2);
    EXPECT_TRUE(late.is(Errc::fenced)) << (late ? "it was committed" : late.error().what);
    EXPECT_TRUE(old_keeper.fatal.has_value());
    keeper.submit(3);
    EXPECT_EQ(keeper.jobs(), (std::set<std::uint64_t>{1, 3}));
}

// And it does not take the cell back, however often it connects.
TEST_F(PostgresStoreTest, a_keeper_that_was_replaced_stays_so) {
    CellServer old_keeper(loop, options());
    auto by_force = options();
    by_force.take_over = true;
    CellServer keeper(loop, by_force);
    cluster.run("SELECT pg_terminate_backend(" +
                std::to_string(old_keeper.store->writing_backend()) + ")");
    for (std::uint64_t job = 10; job < 13; ++job) EXPECT_FALSE(old_keeper.commit(job).has_value());
    EXPECT_TRUE(old_keeper.fatal.has_value());
    keeper.submit(1);
    EXPECT_EQ(keeper.jobs(), (std::set<std::uint64_t>{1}));
}

// A group whose predecessor is not there would leave memory and rows different for ever (C1).
TEST_F(PostgresStoreTest, a_group_without_its_predecessor_fails) {
    CellServer server(loop, options());
    server.submit(1);
    in_schema("DELETE FROM grp WHERE number = (SELECT max(number) FROM grp)");
    EXPECT_TRUE(server.commit(2).is(Errc::fenced));
    EXPECT_TRUE(server.fatal.has_value());
}

TEST_F(PostgresStoreTest, a_terminated_backend_costs_nothing_that_was_answered) {
    CellServer server(loop, options());
    for (std::uint64_t job = 1; job <= 20; ++job) {
        if (job % 3 == 0)
            cluster.run("SELECT pg_terminate_backend(" +
                        std::to_string(server.store->writing_backend()) + ")");
        server.submit(job);
    }
    EXPECT_EQ(server.jobs().size(), 20U);
    EXPECT_FALSE(server.fatal.has_value());
}

// The answer to COMMIT is lost, and it had been carried out: it is not carried out again.
TEST_F(PostgresStoreTest, a_lost_answer_to_a_commit_is_settled_by_taking_the_cell_again) {
    const auto direct = cluster.uri();
    const auto folder = direct.substr(5, direct.find(' ') - 5);
    Relay relay(folder);
    auto through_relay = options();
    through_relay.uri = "host=" + relay.folder() + direct.substr(direct.find(' '));
    CellServer server(loop, through_relay);
    server.submit(1);
    relay.lose_next_commit();
    const auto unknown = server.commit(2);
    ASSERT_TRUE(relay.has_lost_one());
    ASSERT_TRUE(unknown.is(Errc::outcome_unknown)) << (unknown ? "answered" : unknown.error().what);
    const auto last = server.run_ready();
    EXPECT_EQ(last.last_group, server.last_group + 1);
    server.last_group = last.last_group;
    server.fence = last.fence;
    server.submit(3);
    EXPECT_EQ(server.jobs(), (std::set<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(in_schema("SELECT epoch FROM cell"), "2");
}

// A backend that is killed takes the whole database down for a moment.
TEST_F(PostgresStoreTest, a_killed_backend_costs_nothing_that_was_answered) {
    CellServer server(loop, options());
    for (std::uint64_t job = 1; job <= 6; ++job) {
        if (job % 3 == 0) cluster.kill_backend(static_cast<pid_t>(server.store->writing_backend()));
        server.submit(job);
    }
    EXPECT_EQ(server.jobs(), (std::set<std::uint64_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_FALSE(server.fatal.has_value());
}

TEST_F(PostgresStoreTest, a_database_that_goes_away_is_unavailable_and_comes_back) {
    Cluster own;
    CellServer server(loop, {.uri = own.uri(), .schema = "perdure"});
    server.submit(1);
    own.stop(SIGQUIT);
    EXPECT_TRUE(server.commit(2).is(Errc::unavailable) ||
                server.commit(2).is(Errc::outcome_unknown));
    own.start();
    server.submit(2);
    EXPECT_EQ(server.jobs(), (std::set<std::uint64_t>{1, 2}));
    EXPECT_FALSE(server.fatal.has_value());
}

// T3: a lock of somebody else ends a group, and not the server.
TEST_F(PostgresStoreTest, a_lock_of_a_stranger_is_named) {
    CellServer server(loop, options());
    server.submit(1);
    auto stranger = cluster.hold("BEGIN; LOCK TABLE " + schema + ".ready IN ACCESS EXCLUSIVE MODE");
    const auto refused = server.commit(2);
    ASSERT_TRUE(refused.is(Errc::unavailable));
    EXPECT_NE(refused.error().what.find("holds a lock"), std::string::npos);
    stranger.reset();
    server.submit(2);
    EXPECT_EQ(server.jobs(), (std::set<std::uint64_t>{1, 2}));
}

TEST_F(PostgresStoreTest, a_database_that_does_not_sync_is_refused) {
    auto durable = options();
    auto opened = PostgresStore::open(durable, Timing{});
    ASSERT_FALSE(opened.has_value());
    EXPECT_NE(opened.error().what.find("fsync"), std::string::npos) << opened.error().what;
}

// The views say what the command line says.
TEST_F(PostgresStoreTest, the_words_of_the_views_are_ours) {
    CellServer server(loop, options());
    const auto word = [&](const char* function, std::size_t number) {
        return in_schema(std::string("SELECT ") + function + "(" + std::to_string(number) + ")");
    };
    for (std::size_t i = 0; i < places.size(); ++i)
        EXPECT_EQ(word("state_name", i), to_string(static_cast<JobState>(i)));
    for (std::size_t i = 0; i < cause_names.size(); ++i)
        EXPECT_EQ(word("cause_name", i), cause_names[i]);
    for (std::size_t i = 0; i < incident_names.size(); ++i)
        EXPECT_EQ(word("incident_name", i), incident_names[i]);
    for (const std::uint64_t id : {std::uint64_t{1}, std::uint64_t{0x1234567890abcdef}})
        EXPECT_EQ(word("id_text", id), id_text(id));
    server.submit(1);
    EXPECT_EQ(in_schema("SELECT id || ' ' || state FROM jobs"), id_text(1) + " ready");
}

}  // namespace
}  // namespace perdure
