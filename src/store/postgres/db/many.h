// Many: rows for one statement, which takes each column as an array: however many rows there are,
// it is one statement.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "store/postgres/db/connection.h"

namespace perdure::store::postgres {

class Many {
public:
    // `types`: one letter a column; n: number, t: text, b: bytes. Column i is `$i` of the
    // statement. `counted`: how many rows there are is the parameter behind them.
    enum class Counted { no, yes };
    Many(const std::string& sql, const std::string& types, Counted counted = Counted::no);

    void add(std::initializer_list<sql::Value> row);
    std::size_t rows() const { return rows_; }
    // Goes out with what is collected next, if there is any row; then there are none.
    void send(Connection& connection, Connection::Take take = {});

private:
    Text text_;
    Counted counted_;
    std::vector<std::string> columns_;  // elements
    std::vector<bool> have_nulls_;
    std::size_t rows_ = 0;
};

// `INSERT INTO table (columns) SELECT * FROM unnest($1, ...)`, and what follows it.
std::string insert_of(const std::string& table, const std::string& columns, std::size_t count,
                      const std::string& then = "");
// Every one of these rows leaves, or it fails: a wrong count divides by zero (C3).
std::string delete_of(const std::string& table, const std::string& key);
std::string delete_of_keys(const std::string& table, const std::vector<std::string>& keys);

}  // namespace perdure::store::postgres
