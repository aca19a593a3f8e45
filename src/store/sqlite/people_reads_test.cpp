// What people read never holds up what workers wait for, and has bounds of its own (C8).
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/detached.hpp>

#include "store/sqlite/db/statement.h"
#include "store/sqlite/testing/on_disk.h"

namespace perdure {
namespace {

class PeopleReadsTest : public OnDisk {
protected:
    PeopleReadsTest() {
        options.before_people_read = [this] {
            ++begun_;
            begun_.notify_all();
            is_stuck_.wait(true);
        };
    }
    ~PeopleReadsTest() override { let_go(); }

    void let_go() {
        is_stuck_ = false;
        is_stuck_.notify_all();
    }
    // Asks, and does not wait for the answer.
    std::shared_ptr<std::optional<Result<JobPage>>> ask_list() {
        auto answer = std::make_shared<std::optional<Result<JobPage>>>();
        boost::asio::co_spawn(loop, give_to(answer, store->list({})), boost::asio::detached);
        loop.restart();
        loop.poll();
        return answer;
    }
    static Task<void> give_to(std::shared_ptr<std::optional<Result<JobPage>>> answer,
                              Task<Result<JobPage>> task) {
        *answer = co_await std::move(task);
    }
    // Runs the loop until this is answered; whatever else is asked may stay unanswered.
    template <class T>
    T answer_of(Task<T> task) {
        std::optional<T> result;
        boost::asio::co_spawn(loop, keep(std::move(task), result), boost::asio::detached);
        loop.restart();
        while (!result) loop.run_one();
        return std::move(*result);
    }
    void get_stuck() {
        is_stuck_ = true;
        stuck_ = ask_list();
        begun_.wait(0);
    }
    auto group(std::vector<Change> changes) {
        return store->commit({.server = ServerId{7},
                              .number = ++last_group,
                              .wall = WallTime{2},
                              .changes = std::move(changes)});
    }

    std::atomic<bool> is_stuck_ = false;
    std::atomic<int> begun_ = 0;
    std::shared_ptr<std::optional<Result<JobPage>>> stuck_;
};

TEST_F(PeopleReadsTest, a_stuck_one_delays_neither_commits_nor_what_workers_read) {
    open();
    get_stuck();
    EXPECT_TRUE(answer_of(group({submit(10)})).has_value());
    EXPECT_TRUE(answer_of(store->service()).has_value());
    EXPECT_TRUE(answer_of(store->overdue(WallTime{2}, 10)).has_value());
    EXPECT_TRUE(answer_of(store->session(SessionId{1})).is(Errc::not_found));
    EXPECT_TRUE(answer_of(store->latest_session({})).has_value());
    EXPECT_FALSE(stuck_->has_value());
    let_go();
    EXPECT_TRUE(run(store->service()).has_value());
    EXPECT_TRUE(stuck_->value().has_value());
}

TEST_F(PeopleReadsTest, one_too_many_is_refused_at_once) {
    options.people_reads_max = 3;
    open();
    get_stuck();
    const auto second = ask_list();
    const auto third = ask_list();
    EXPECT_FALSE(second->has_value() || third->has_value());
    EXPECT_TRUE(ask_list()->value().is(Errc::overloaded));
    let_go();
    EXPECT_TRUE(run(store->service()).has_value());
    EXPECT_TRUE(second->value().has_value() && third->value().has_value());
    EXPECT_TRUE(run(store->list({})).has_value());
}

TEST_F(PeopleReadsTest, whoever_has_waited_too_long_is_told_so) {
    std::atomic<std::int64_t> now = 0;
    options.boot = [&] { return BootTime{now}; };
    open();
    ASSERT_TRUE(commit({submit(10)}).has_value());
    EXPECT_TRUE(run(store->list({})).has_value());
    options.people_patience = Duration{};
    reopen();
    EXPECT_TRUE(run(store->list({})).is(Errc::overloaded));
    EXPECT_TRUE(run(store->audit({}, 10)).is(Errc::overloaded));
    EXPECT_TRUE(run(store->damaged("")).is(Errc::overloaded));
    EXPECT_TRUE(has_job(10));
}

using store::Failure;
using store::sqlite::Connection;
using store::sqlite::Statement;

// A million rows, or one sum of them: in either case it goes on for long.
constexpr const char* numbers =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT i FROM n";
constexpr const char* sum_of_numbers =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)"
    " SELECT sum(i) FROM n";

Errc how_it_ends(const char* sql, store::sqlite::ReadIsOver is_over) {
    Connection connection(":memory:", Connection::Access::create);
    Statement statement(connection, sql);
    connection.end_reads_when(std::move(is_over));
    try {
        auto row = statement.query({1'000'000});
        while (row.next()) continue;
    } catch (const Failure& failure) {
        EXPECT_FALSE(failure.fatal);
        return failure.error.code;
    }
    return Errc::not_found;  // its end was found
}

TEST(EndOfReads, comes_between_rows_and_within_a_statement) {
    for (const auto* sql : {numbers, sum_of_numbers}) {
        EXPECT_EQ(how_it_ends(sql, [] { return true; }), Errc::overloaded);
        EXPECT_EQ(how_it_ends(sql, [] { return false; }), Errc::not_found);
        EXPECT_EQ(how_it_ends(sql, {}), Errc::not_found);
    }
}

}  // namespace
}  // namespace perdure
