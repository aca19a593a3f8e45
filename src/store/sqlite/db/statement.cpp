#include "store/sqlite/db/statement.h"

#include <sqlite3.h>

#include "base/assert.h"

namespace perdure::store::sqlite {
namespace {

int bind_one(sqlite3_stmt* statement, int index, const Value& value) {
    switch (value.kind) {
        case Value::Kind::null: return sqlite3_bind_null(statement, index);
        case Value::Kind::number: return sqlite3_bind_int64(statement, index, value.number);
        case Value::Kind::text:
            return sqlite3_bind_text64(statement, index, value.bytes.data(), value.bytes.size(),
                                       SQLITE_STATIC, SQLITE_UTF8);
        case Value::Kind::blob:
            // An empty blob must not become NULL.
            return sqlite3_bind_blob64(statement, index,
                                       value.bytes.empty() ? "" : value.bytes.data(),
                                       value.bytes.size(), SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

void count_steps(Connection& connection, sqlite3_stmt* statement) {
    if (!connection.counts_steps()) return;
    connection.add_steps(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1));
}

}  // namespace

PreparedStatement::PreparedStatement(Connection& connection, const char* sql)
    : connection_(connection) {
    const int code = sqlite3_prepare_v3(connection.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT,
                                        &statement_, nullptr);
    if (code != SQLITE_OK) connection.fail(code, sql);
}

PreparedStatement::~PreparedStatement() { sqlite3_finalize(statement_); }

void PreparedStatement::end() noexcept {
    sqlite3_reset(statement_);
    count_steps(connection_, statement_);
}

bool PreparedStatement::next() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) {
        connection_.note_row();
        return true;
    }
    if (code != SQLITE_DONE) connection_.fail(code, sqlite3_sql(statement_));
    return false;
}

bool PreparedStatement::is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

int PreparedStatement::columns() const { return sqlite3_column_count(statement_); }

bool PreparedStatement::is_text(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_TEXT;
}

std::int64_t PreparedStatement::number(int column) const {
    return sqlite3_column_int64(statement_, column);
}

std::string_view PreparedStatement::bytes(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    if (!data) return {};
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string PreparedStatement::name(int column) const {
    return sqlite3_column_name(statement_, column);
}

void PreparedStatement::bind(const Value* values, std::size_t count) {
    PERDURE_ASSERT(sqlite3_bind_parameter_count(statement_) == static_cast<int>(count));
    for (std::size_t i = 0; i < count; ++i) {
        const int code = bind_one(statement_, static_cast<int>(i) + 1, values[i]);
        if (code != SQLITE_OK) connection_.fail(code, sqlite3_sql(statement_));
    }
}

int PreparedStatement::run(const Value* values, std::size_t count) {
    bind(values, count);
    const int code = sqlite3_step(statement_);
    const int reset = sqlite3_reset(statement_);
    count_steps(connection_, statement_);
    if (code != SQLITE_DONE)
        connection_.fail(reset != SQLITE_OK ? reset : code, sqlite3_sql(statement_));
    return sqlite3_changes(connection_.handle());
}

}  // namespace perdure::store::sqlite
