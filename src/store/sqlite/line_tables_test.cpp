// Lines that are read together: as each of them is by itself.
#include "store/sqlite/tables/line_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "store/sqlite/db/migrate.h"

namespace perdure::store::sqlite {
namespace {

struct ReadLine {
    std::vector<QueuePosition> orders;
    std::vector<std::uint64_t> read_as;
    std::uint32_t rows = 0;
};

class LineTablesTest : public testing::Test {
protected:
    LineTablesTest() { migrate(connection, store_schema()); }

    // `ready` alone: nobody asks for the jobs.
    void put(ShapeId shape, const QueuePosition& order) {
        insert.run_one({shape, sql::rank_of(order), order.since, order.job});
    }
    void put_many(ShapeId shape, std::uint64_t jobs) {
        for (; jobs > 0; --jobs)
            put(shape, {.priority = 5, .since = ServiceTime{7}, .job = JobId{++last_job}});
    }
    std::vector<ReadLine> read_together(const std::vector<LineQuery>& queries) {
        std::vector<ReadLine> read(queries.size());
        const auto rows =
            lines.read_lines(queries, [&](std::size_t query, const QueuePosition& order,
                                          std::uint64_t read_as, const LineReader::LoadRow&) {
                read[query].orders.push_back(order);
                read[query].read_as.push_back(read_as);
            });
        for (std::size_t i = 0; i < queries.size(); ++i) read[i].rows = rows[i];
        return read;
    }
    ReadLine read_alone(const LineQuery& query) {
        ReadLine read;
        read.rows = lines.read_line(query, [&](const QueuePosition& order, std::uint64_t read_as,
                                               const LineReader::LoadRow&) {
            read.orders.push_back(order);
            read.read_as.push_back(read_as);
        });
        return read;
    }
    void compare(const std::vector<LineQuery>& queries) {
        const auto read = read_together(queries);
        for (std::size_t i = 0; i < queries.size(); ++i) {
            const auto alone = read_alone(queries[i]);
            ASSERT_EQ(read[i].orders, alone.orders) << "shape " << queries[i].shape;
            ASSERT_EQ(read[i].rows, alone.rows);
        }
        compare_numbers(read);
    }
    // One behind the other in a line, and never from one line to the next.
    static void compare_numbers(const std::vector<ReadLine>& read) {
        std::set<std::uint64_t> taken;
        for (const auto& line : read)
            for (std::size_t i = 0; i < line.read_as.size(); ++i) {
                ASSERT_TRUE(taken.insert(line.read_as[i]).second);
                if (i > 0) {
                    ASSERT_EQ(line.read_as[i], line.read_as[i - 1] + 1);
                } else {
                    ASSERT_FALSE(taken.contains(line.read_as[i] - 1));
                }
            }
    }

    Connection connection{":memory:", Connection::Access::create};
    Loader load{connection};
    LineTables lines{connection, load};
    Statement insert{connection,
                     "INSERT INTO ready (shape, rank, since, job, queue_deadline, wake_at, life)"
                     " VALUES (?, ?, ?, ?, 0, 0, x'')"};
    std::uint64_t last_job = 0;
};

TEST_F(LineTablesTest, read_together_what_each_line_has) {
    std::mt19937 random(1);
    const auto below = [&](std::size_t end) { return static_cast<std::uint32_t>(random() % end); };
    for (int play = 0; play < 300; ++play) {
        connection.run("DELETE FROM ready");
        std::vector<LineQuery> queries;
        for (ShapeId shape = 1; shape <= 40; ++shape) {
            std::vector<QueuePosition> orders;
            for (auto jobs = below(3) == 0 ? below(30) : below(4); jobs > 0; --jobs) {
                orders.push_back({.priority = static_cast<std::uint8_t>(below(3)),
                                  .in_turn = below(2) == 0,
                                  .since = ServiceTime{below(3)},
                                  .job = JobId{++last_job}});
                put(shape, orders.back());
            }
            if (below(4) == 0) continue;
            LineQuery query{.shape = shape, .behind = {}, .max = 1 + below(below(2) == 0 ? 3 : 12)};
            query.jobs_are_loaded = play % 2 == 0;
            if (!orders.empty() && below(2) == 0) query.behind = orders[below(orders.size())];
            queries.push_back(query);
        }
        std::shuffle(queries.begin(), queries.end(), random);
        compare(queries);
        if (HasFatalFailure()) return;
    }
}

TEST_F(LineTablesTest, read_a_line_twice_if_it_is_asked_for_twice) {
    for (ShapeId shape = 1; shape <= 3; ++shape) put_many(shape, 2);
    const auto query = [](ShapeId shape) {
        return LineQuery{.shape = shape, .behind = {}, .max = 2};
    };
    const auto read = read_together({query(2), query(1), query(2), query(3)});
    for (const auto& line : read) EXPECT_EQ(line.orders.size(), 2U);
    EXPECT_EQ(read[0].orders, read[2].orders);
}

// A million jobs in one of them are not looked at.
TEST_F(LineTablesTest, pass_over_the_rest_of_a_long_line) {
    std::vector<LineQuery> queries;
    for (ShapeId shape = 1; shape <= 20; ++shape) {
        put_many(shape, shape % 2 == 0 ? 1'000 : 1);
        queries.push_back({.shape = shape, .behind = {}, .max = 1});
    }
    connection.count_steps();
    const auto before = connection.steps();
    for (const auto& line : read_together(queries)) EXPECT_EQ(line.orders.size(), 1U);
    EXPECT_LE(connection.steps() - before, 10'000U);
}

}  // namespace
}  // namespace perdure::store::sqlite
