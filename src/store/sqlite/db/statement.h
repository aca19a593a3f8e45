// Statement: one SQL statement with parameters, prepared at its first use and kept for the life of
// its connection. `run` is for writes, `query` for reads.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/time.h"
#include "store/sqlite/db/connection.h"

struct sqlite3_stmt;

namespace perdure::store::sqlite {

// A parameter. Text and blobs must live until the statement has been run.
class Value {
public:
    enum class Kind { null, number, text, blob };

    Value(std::nullptr_t) {}
    Value(bool flag) : Value(std::int64_t{flag}) {}
    Value(int n) : Value(std::int64_t{n}) {}
    Value(std::int64_t n) : kind(Kind::number), number(n) {}
    Value(std::uint32_t n) : Value(static_cast<std::int64_t>(n)) {}
    Value(std::uint64_t n) : Value(static_cast<std::int64_t>(n)) {}
    Value(std::string_view text) : kind(Kind::text), bytes(text) {}
    Value(const std::string& text) : Value(std::string_view(text)) {}
    template <class Tag>
    Value(Id<Tag> id) : Value(id.value) {}
    template <class Clock>
    Value(Instant<Clock> at) : Value(at.us) {}
    template <class T>
    Value(const std::optional<T>& value) {
        if (value) *this = Value(*value);
    }
    static Value blob(std::string_view content) {
        Value value(content);
        value.kind = Kind::blob;
        return value;
    }

    Kind kind = Kind::null;
    std::int64_t number = 0;
    std::string_view bytes;
};

// An enumerator as it is stored.
template <class Enum>
std::int64_t code(Enum value) {
    return static_cast<std::int64_t>(value);
}

// Beyond every instant that is ever written; sums of two such do not overflow.
inline constexpr std::int64_t instant_max = std::int64_t{1} << 61;

// The rows of a query. While it lives its statement is in use. Text is valid until next().
class Found {
public:
    explicit Found(Connection& connection, sqlite3_stmt* statement)
        : connection_(connection), statement_(statement) {}
    ~Found();
    Found(const Found&) = delete;
    Found& operator=(const Found&) = delete;

    bool next();
    bool is_null(int column) const;
    std::int64_t number(int column) const;
    // What must be within bounds is checked here, at the door; what is not is a Failure `corrupt`
    // that names the column.
    std::uint64_t natural(int column) const {
        const auto value = number(column);
        if (value < 0) out_of_bounds(column);
        return static_cast<std::uint64_t>(value);
    }
    std::uint32_t small(int column) const {
        const auto value = number(column);
        if (value < 0 || value > std::int64_t{UINT32_MAX}) out_of_bounds(column);
        return static_cast<std::uint32_t>(value);
    }
    // What is counted up by one each time.
    std::uint64_t counter(int column) const {
        const auto value = number(column);
        if (value < 0 || value > instant_max) out_of_bounds(column);
        return static_cast<std::uint64_t>(value);
    }
    int columns() const;
    bool is_text(int column) const;
    // Of any value: hashes, and what is only compared.
    std::uint64_t bits(int column) const { return static_cast<std::uint64_t>(number(column)); }
    std::string_view bytes(int column) const;
    std::string text(int column) const { return std::string(bytes(column)); }
    bool flag(int column) const { return number(column) != 0; }
    template <class Tag>
    Id<Tag> id(int column) const {
        if (number(column) <= 0) out_of_bounds(column);
        return {bits(column)};
    }
    JobId job(int column) const { return id<JobTag>(column); }
    SessionId session(int column) const { return id<SessionTag>(column); }
    template <class Moment>
    Moment at(int column) const {
        const auto value = number(column);
        if (value < 0 || value > instant_max) out_of_bounds(column);
        return Moment{value};
    }
    template <class Moment>
    std::optional<Moment> maybe_at(int column) const {
        if (is_null(column)) return std::nullopt;
        return at<Moment>(column);
    }

private:
    [[noreturn]] void out_of_bounds(int column) const;

    Connection& connection_;
    sqlite3_stmt* statement_;
};

class Statement {
public:
    Statement(Connection& connection, const char* sql) : connection_(connection), sql_(sql) {}
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    // How many rows it has changed.
    int run(std::initializer_list<Value> values) { return run(values.begin(), values.size()); }
    int run(const Value* values, std::size_t count);
    // Exactly one row must change: otherwise the tables contradict each other (C3).
    void run_one(std::initializer_list<Value> values);
    Found query(std::initializer_list<Value> values) {
        return query(values.begin(), values.size());
    }
    Found query(const Value* values, std::size_t count);

private:
    void bind(const Value* values, std::size_t count);

    Connection& connection_;
    const char* sql_;
    sqlite3_stmt* statement_ = nullptr;
};

}  // namespace perdure::store::sqlite
