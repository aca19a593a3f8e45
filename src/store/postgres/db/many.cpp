#include "store/postgres/db/many.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "store/postgres/db/binary.h"
#include "store/postgres/db/types.h"

namespace perdure::store::postgres {
namespace {

Oid array_of(char type) {
    switch (type) {
        case 'n': return type_int8_array;
        case 't': return type_text_array;
        default: return type_bytes_array;
    }
}

Oid element_of(Oid array) {
    if (array == type_int8_array) return type_int8;
    return array == type_text_array ? type_text : type_bytes;
}

}  // namespace

Many::Many(const std::string& sql, const std::string& types, Counted counted)
    : text_{.sql = sql, .types = {}},
      counted_(counted),
      columns_(types.size()),
      have_nulls_(types.size()) {
    for (const char type : types) text_.types.push_back(array_of(type));
    if (counted == Counted::yes) text_.types.push_back(type_int8);
}

void Many::add(std::initializer_list<sql::Value> row) {
    PERDURE_ASSERT(row.size() == columns_.size());
    std::size_t i = 0;
    for (const auto& value : row) {
        auto& column = columns_[i];
        if (value.kind == sql::Value::Kind::null) {
            put_int4(column, -1);
            have_nulls_[i] = true;
        } else if (value.kind == sql::Value::Kind::number) {
            const auto bytes = big_endian(value.number);
            put_int4(column, static_cast<std::int32_t>(bytes.size()));
            column.append(bytes.data(), bytes.size());
        } else {
            put_int4(column, static_cast<std::int32_t>(value.bytes.size()));
            column.append(value.bytes);
        }
        ++i;
    }
    ++rows_;
}

void Many::send(Connection& connection, Connection::Take take) {
    if (rows_ == 0) return;
    std::vector<std::string> arrays(columns_.size());
    Parameters parameters;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        auto& array = arrays[i];
        array.reserve(20 + columns_[i].size());
        put_int4(array, 1);  // dimensions
        put_int4(array, have_nulls_[i] ? 1 : 0);
        put_int4(array, static_cast<std::int32_t>(element_of(text_.types[i])));
        put_int4(array, static_cast<std::int32_t>(rows_));
        put_int4(array, 1);  // the first is number 1
        array += columns_[i];
        parameters.add(array);
        columns_[i].clear();
        have_nulls_[i] = false;
    }
    const auto count = big_endian(static_cast<std::int64_t>(rows_));
    if (counted_ == Counted::yes) parameters.add({count.data(), count.size()});
    rows_ = 0;
    connection.send(text_, parameters, std::move(take));
}

namespace {

std::string arrays(std::size_t count) {
    std::string list;
    for (std::size_t i = 1; i <= count; ++i) list += fmt::format("{}${}", i > 1 ? ", " : "", i);
    return list;
}

constexpr const char* counted =
    "WITH gone AS ({} RETURNING 1) SELECT 1 / (count(*) = ${})::int "
    "FROM gone";

}  // namespace

std::string insert_of(const std::string& table, const std::string& columns, std::size_t count,
                      const std::string& then) {
    return fmt::format("INSERT INTO {} ({}) SELECT * FROM unnest({}) {}", table, columns,
                       arrays(count), then);
}

std::string delete_of(const std::string& table, const std::string& key) {
    const auto remove = fmt::format("DELETE FROM {} WHERE {} = ANY($1)", table, key);
    return fmt::format(counted, remove, 2);
}

// Each row is found by its key, one after the other, whatever the planner believes.
std::string delete_of_keys(const std::string& table, const std::vector<std::string>& keys) {
    std::string names;
    std::string match;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        names += fmt::format("{}k{}", i > 0 ? ", " : "", i);
        match += fmt::format("{}r.{} = k.k{}", i > 0 ? " AND " : "", keys[i], i);
    }
    const auto remove = fmt::format(
        "DELETE FROM {0} WHERE ctid = ANY (ARRAY (SELECT f.ctid FROM unnest({1}) AS k ({2}),"
        " LATERAL (SELECT r.ctid FROM {0} r WHERE {3} OFFSET 0) AS f))",
        table, arrays(keys.size()), names, match);
    return fmt::format(counted, remove, keys.size() + 1);
}

}  // namespace perdure::store::postgres
