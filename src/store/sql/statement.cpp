#include "store/sql/statement.h"

#include "base/assert.h"

namespace perdure::store::sql {

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
    PERDURE_ASSERT(!database.in_transaction());
    database.begin(kind);
}

Transaction::~Transaction() {
    if (open_) database_.roll_back();
}

void Transaction::commit() {
    database_.commit();
    open_ = false;
}

void Found::out_of_bounds(int column) const {
    fail_corrupt("`" + rows_.name(column) +
                 "` is out of bounds: " + std::to_string(number(column)));
}

void Statement::run_one(std::initializer_list<Value> values) {
    if (run(values) != 1) fail_corrupt(std::string("one row was expected: ") + sql_);
}

}  // namespace perdure::store::sql
