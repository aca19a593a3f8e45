#include "store/sqlite/db/batch_insert.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace perdure::store::sqlite {
namespace {

struct Row {
    int id = 0;
    std::string name;
    std::optional<std::int64_t> size;
};

// What is in the table after all of these were added, in the order of their ids.
std::vector<std::string> written(const std::vector<Row>& rows) {
    Connection connection(":memory:", Connection::Access::create);
    connection.run("CREATE TABLE t (name TEXT, id INTEGER PRIMARY KEY, size INTEGER) STRICT");
    BatchInsert insert(connection, "INSERT INTO t (name, id, size)", 3, {1});
    for (const auto& row : rows) insert.add({row.name, row.id, row.size});
    insert.finish();
    std::vector<std::string> found;
    Statement all(connection, "SELECT id || ' ' || name || ' ' || ifnull(size, '-') FROM t");
    auto row = all.query({});
    while (row.next()) found.push_back(row.text(0));
    return found;
}

std::vector<std::string> expected(const std::vector<Row>& rows) {
    std::vector<std::string> texts;
    for (const auto& row : rows)
        texts.push_back(std::to_string(row.id) + " " + row.name + " " +
                        (row.size ? std::to_string(*row.size) : "-"));
    return texts;
}

std::vector<Row> alike(int count) {
    std::vector<Row> rows;
    for (int id = 1; id <= count; ++id) rows.push_back({id, "same", 7});
    return rows;
}

TEST(BatchInsert, writes_as_many_as_there_are) {
    for (const int count : {0, 1, 31, 32, 33, 64, 100})
        EXPECT_EQ(written(alike(count)), expected(alike(count)));
}

// One that is not like the others, at any place among them.
TEST(BatchInsert, writes_every_row_as_it_is) {
    for (std::size_t odd = 0; odd < 70; ++odd) {
        auto rows = alike(70);
        rows[odd].name = "odd";
        EXPECT_EQ(written(rows), expected(rows)) << odd;
        rows[odd] = {rows[odd].id, "same", std::nullopt};
        EXPECT_EQ(written(rows), expected(rows)) << odd;
    }
}

}  // namespace
}  // namespace perdure::store::sqlite
