#include "store/sqlite/damage/row_key.h"

#include <fmt/format.h>

#include <charconv>

namespace perdure::store::sqlite {
namespace {

std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        unsigned value = 0;
        if (i + 2 >= text.size()) return std::nullopt;
        const auto* first = text.data() + i + 1;
        if (std::from_chars(first, first + 2, value, 16).ptr != first + 2) return std::nullopt;
        out += static_cast<char>(value);
        i += 2;
    }
    return out;
}

std::optional<KeyValue> parse_value(const KeyColumn& column, std::string_view text) {
    if (column.is_text) {
        auto value = unescaped(text);
        if (!value) return std::nullopt;
        return KeyValue(std::move(*value));
    }
    std::int64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return KeyValue(value);
}

}  // namespace

std::vector<KeyColumn> key_of_table(Connection& connection, const std::string& table) {
    Statement columns(connection,
                      "SELECT name, type FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk");
    std::vector<KeyColumn> key;
    auto row = columns.query({table});
    while (row.next()) key.push_back({row.text(0), row.bytes(1) == "TEXT"});
    return key;
}

std::optional<RowKey> parse_row_name(const std::vector<KeyColumn>& columns, std::string_view name) {
    RowKey key;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const bool is_last = i + 1 == columns.size();
        const auto slash = name.find('/');
        if (is_last != (slash == std::string_view::npos)) return std::nullopt;
        auto value = parse_value(columns[i], name.substr(0, slash));
        if (!value) return std::nullopt;
        key.push_back(std::move(*value));
        if (!is_last) name.remove_prefix(slash + 1);
    }
    return key;
}

RowKey key_in(const Found& row, const std::vector<KeyColumn>& columns) {
    RowKey key;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto at = static_cast<int>(i);
        if (columns[i].is_text) {
            key.emplace_back(row.text(at));
        } else {
            key.emplace_back(row.number(at));
        }
    }
    return key;
}

std::vector<Value> values_of(const RowKey& key) {
    std::vector<Value> values;
    for (const auto& value : key) std::visit([&](const auto& v) { values.emplace_back(v); }, value);
    return values;
}

std::string names_of(const std::vector<KeyColumn>& columns) {
    std::string names;
    for (const auto& column : columns) names += (names.empty() ? "" : ", ") + column.name;
    return names;
}

std::string where_key(const std::vector<KeyColumn>& columns, std::string_view operation) {
    std::string marks = "?";
    for (std::size_t i = 1; i < columns.size(); ++i) marks += ", ?";
    return fmt::format("({}) {} ({})", names_of(columns), operation, marks);
}

}  // namespace perdure::store::sqlite
