#include "store/postgres/db/prepared.h"

#include <array>
#include <cctype>
#include <charconv>

#include "base/assert.h"
#include "store/postgres/db/binary.h"
#include "store/postgres/db/types.h"

namespace perdure::store::postgres {
namespace {

Oid type_of(const sql::Value& value) {
    switch (value.kind) {
        case sql::Value::Kind::number: return type_int8;
        case sql::Value::Kind::text: return type_text;
        case sql::Value::Kind::blob: return type_bytes;
        case sql::Value::Kind::null: break;
    }
    return 0;  // what it stands beside tells
}

}  // namespace

std::string translated(std::string_view sql) {
    constexpr std::string_view fixed_order = " CROSS JOIN ";
    std::string text;
    int last = 0;
    for (std::size_t i = 0; i < sql.size(); ++i) {
        if (sql.substr(i, fixed_order.size()) == fixed_order) {
            text += " JOIN ";
            i += fixed_order.size() - 1;
        } else if (sql[i] != '?') {
            text += sql[i];
        } else if (i + 1 < sql.size() && std::isdigit(static_cast<unsigned char>(sql[i + 1]))) {
            text += '$';
        } else {
            text += '$' + std::to_string(++last);
        }
    }
    return text;
}

PreparedStatement::PreparedStatement(Connection& connection, const char* sql)
    : connection_(connection), sql_(translated(sql)) {}

void PreparedStatement::send(const sql::Value* values, std::size_t count, Connection::Take take) {
    if (!text_) {
        text_.emplace(Text{.sql = sql_, .types = {}});
        for (std::size_t i = 0; i < count; ++i) text_->types.push_back(type_of(values[i]));
    }
    PERDURE_ASSERT(text_->types.size() == count);
    std::vector<std::array<char, 8>> numbers(count);
    Parameters parameters;
    for (std::size_t i = 0; i < count; ++i) {
        const auto& value = values[i];
        if (value.kind == sql::Value::Kind::null) {
            parameters.add_null();
        } else if (value.kind == sql::Value::Kind::number) {
            numbers[i] = big_endian(value.number);
            parameters.add({numbers[i].data(), numbers[i].size()});
        } else {
            // Empty is not NULL.
            parameters.add(value.bytes.data() ? value.bytes : std::string_view(""));
        }
    }
    connection_.send(*text_, parameters, std::move(take));
}

void PreparedStatement::send(std::initializer_list<sql::Value> values, Connection::Take take) {
    send(values.begin(), values.size(), std::move(take));
}

void PreparedStatement::query(const sql::Value* values, std::size_t count) {
    send(values, count, [this](ResultPtr result) { rows_.set(std::move(result)); });
    connection_.collect();
}

int PreparedStatement::run(const sql::Value* values, std::size_t count) {
    int changed = 0;
    send(values, count, [&](ResultPtr result) {
        const std::string_view said = PQcmdTuples(result.get());
        std::from_chars(said.data(), said.data() + said.size(), changed);
    });
    connection_.collect();
    return changed;
}

}  // namespace perdure::store::postgres
