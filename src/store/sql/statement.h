// Statement: one SQL statement with parameters, prepared at its first use and kept for the life of
// its connection. `run` is for writes, `query` for reads. Parameters are written as `?` or `?2`,
// whatever database it is; what it says must be understood by all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/time.h"
#include "store/engine/failure.h"
#include "store/engine/rows/rows.h"

namespace perdure::store::sql {

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

// Rows that were found, one at a time. Columns are counted from 0.
class Rows {
public:
    Rows() = default;
    virtual ~Rows() = default;
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    virtual bool next() = 0;
    virtual void end() noexcept {}  // the rest of them is not needed
    virtual bool is_null(int column) const = 0;
    virtual std::int64_t number(int column) const = 0;  // 0 for NULL
    virtual std::string_view bytes(int column) const = 0;
    virtual int columns() const = 0;
    virtual bool is_text(int column) const = 0;
    virtual std::string name(int column) const = 0;
};

// A statement that its database has prepared. Its rows are those of its last query.
class Prepared : public Rows {
public:
    virtual void query(const Value* values, std::size_t count) = 0;
    // How many rows it has changed.
    virtual int run(const Value* values, std::size_t count) = 0;
};

// Whether a read is to end before it is complete: it has taken too long, or nobody waits for it any
// more. Asked now and then, on the connection's thread.
using ReadIsOver = std::function<bool()>;

// What is noted beside the database, and newer than its rows (T4).
class Notes {
public:
    virtual ~Notes() = default;
    virtual void add_to(ServiceRow& row) const = 0;
    virtual void add_to(SessionRow& row) const = 0;
};

// One connection to one database, whatever kind it is of. Used by one thread at a time.
class Database {
public:
    enum class Kind { read, write };  // of a transaction; a read sees one state of everything

    Database() = default;
    virtual ~Database() = default;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    virtual std::unique_ptr<Prepared> prepare(const char* sql) = 0;
    virtual bool in_transaction() const = 0;
    virtual void begin(Kind kind) = 0;
    virtual void commit() = 0;
    // Leaves nothing of it; harmless if there is none.
    virtual void roll_back() noexcept = 0;
    // From now on reads end as a Failure `overloaded` once that is so; empty: none does.
    virtual void end_reads_when(ReadIsOver is_over) = 0;
    virtual const Notes* notes() const { return nullptr; }  // null: nothing is
};

// A transaction that is undone unless it is committed.
class Transaction {
public:
    using Kind = Database::Kind;
    Transaction(Database& database, Kind kind);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

private:
    Database& database_;
    bool open_ = true;
};

// The rows of a query. While it lives its statement is in use. Text is valid until next().
class Found {
public:
    explicit Found(Rows& rows) : rows_(rows) {}
    ~Found() { rows_.end(); }
    Found(const Found&) = delete;
    Found& operator=(const Found&) = delete;

    bool next() { return rows_.next(); }
    bool is_null(int column) const { return rows_.is_null(column); }
    std::int64_t number(int column) const { return rows_.number(column); }
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
    int columns() const { return rows_.columns(); }
    bool is_text(int column) const { return rows_.is_text(column); }
    // Of any value: hashes, and what is only compared.
    std::uint64_t bits(int column) const { return static_cast<std::uint64_t>(number(column)); }
    std::string_view bytes(int column) const { return rows_.bytes(column); }
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

    Rows& rows_;
};

class Statement {
public:
    Statement(Database& database, const char* sql) : database_(database), sql_(sql) {}
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    // How many rows it has changed.
    int run(std::initializer_list<Value> values) { return run(values.begin(), values.size()); }
    int run(const Value* values, std::size_t count) { return prepared().run(values, count); }
    // Exactly one row must change: otherwise the tables contradict each other (C3).
    void run_one(std::initializer_list<Value> values);
    Found query(std::initializer_list<Value> values) {
        return query(values.begin(), values.size());
    }
    Found query(const Value* values, std::size_t count) {
        prepared().query(values, count);
        return Found(*prepared_);
    }

private:
    Prepared& prepared() {
        if (!prepared_) prepared_ = database_.prepare(sql_);
        return *prepared_;
    }

    Database& database_;
    const char* sql_;
    std::unique_ptr<Prepared> prepared_;
};

}  // namespace perdure::store::sql
