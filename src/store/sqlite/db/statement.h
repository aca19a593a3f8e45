// How SQLite carries out statements (store/sql/statement.h).
#pragma once

#include "store/sql/statement.h"
#include "store/sqlite/db/connection.h"

struct sqlite3_stmt;

namespace perdure::store::sqlite {

using sql::code;
using sql::Found;
using sql::instant_max;
using sql::Statement;
using sql::Value;

class PreparedStatement final : public sql::Prepared {
public:
    PreparedStatement(Connection& connection, const char* sql);
    ~PreparedStatement() override;

    void query(const Value* values, std::size_t count) override { bind(values, count); }
    int run(const Value* values, std::size_t count) override;

    bool next() override;
    void end() noexcept override;
    bool is_null(int column) const override;
    std::int64_t number(int column) const override;
    std::string_view bytes(int column) const override;
    int columns() const override;
    bool is_text(int column) const override;
    std::string name(int column) const override;

private:
    void bind(const Value* values, std::size_t count);

    Connection& connection_;
    sqlite3_stmt* statement_ = nullptr;
};

}  // namespace perdure::store::sqlite
