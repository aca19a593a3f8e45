// ResultRows: what PostgreSQL has answered to one statement, as a whole, in binary form.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <utility>

#include "store/sql/statement.h"

namespace perdure::store::postgres {

struct ClearResult {
    void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, ClearResult>;

class ResultRows : public sql::Rows {
public:
    ResultRows() = default;
    explicit ResultRows(ResultPtr result) { set(std::move(result)); }
    void set(ResultPtr result);
    // Stands on one row of a result that lives longer.
    ResultRows(const PGresult* result, int row)
        : rows_in_(result), row_(row), rows_(PQntuples(result)) {}

    bool next() override { return ++row_ < rows_; }
    bool is_null(int column) const override;
    std::int64_t number(int column) const override;
    std::string_view bytes(int column) const override;
    int columns() const override { return PQnfields(rows_in_); }
    bool is_text(int column) const override;
    std::string name(int column) const override;
    int rows() const { return rows_; }

private:
    ResultPtr result_;
    const PGresult* rows_in_ = nullptr;
    int row_ = -1;
    int rows_ = 0;
};

}  // namespace perdure::store::postgres
