// How PostgreSQL carries out statements (store/sql/statement.h).
#pragma once

#include <optional>
#include <string>

#include "store/postgres/db/connection.h"

namespace perdure::store::postgres {

// `?` and `?2` become `$1` and `$2`; the order of joins is not prescribed here.
std::string translated(std::string_view sql);

class PreparedStatement final : public sql::Prepared {
public:
    PreparedStatement(Connection& connection, const char* sql);

    void query(const sql::Value* values, std::size_t count) override;
    int run(const sql::Value* values, std::size_t count) override;
    // Goes out with what is collected next.
    void send(std::initializer_list<sql::Value> values, Connection::Take take);

    bool next() override { return rows_.next(); }
    bool is_null(int column) const override { return rows_.is_null(column); }
    std::int64_t number(int column) const override { return rows_.number(column); }
    std::string_view bytes(int column) const override { return rows_.bytes(column); }
    int columns() const override { return rows_.columns(); }
    bool is_text(int column) const override { return rows_.is_text(column); }
    std::string name(int column) const override { return rows_.name(column); }

private:
    void send(const sql::Value* values, std::size_t count, Connection::Take take);

    Connection& connection_;
    std::string sql_;
    std::optional<Text> text_;  // once the types of its parameters are known
    ResultRows rows_;
};

}  // namespace perdure::store::postgres
