// Connection: one connection to one PostgreSQL, always in pipeline mode: statements are sent
// without waiting for those before them, and collected together. It connects at its first use, and
// again after it was lost; whoever was in the midst of something then is told by a Failure.
//   unavailable      the database refuses, is not there, or has gone; what it was told before this
//                    transaction's COMMIT is undone
//   corrupt          the statement contradicts what is stored
// Used by one thread at a time. Never cancels anything: a COMMIT that was sent is waited for, or
// its outcome is unknown (C1).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "store/postgres/db/result.h"
#include "store/sql/statement.h"

namespace perdure::store::postgres {

// Where a cell is, and how it is to be reached.
struct Target {
    std::string uri;  // as libpq takes it; several hosts are tried in order
    std::string schema = "perdure";
    std::string name = "perdure";     // of the program, as the database shows it
    bool pooled = false;              // behind a pooler that deals out transactions
    Duration patience = seconds(10);  // no word for so long: it has gone
};

// A statement and the types of its parameters. Lives longer than any connection.
struct Text {
    std::string sql;
    std::vector<Oid> types;
    std::uint64_t number = next_number();  // names it

private:
    static std::uint64_t next_number();
};

// Parameters in binary form. Bytes live until the statement was sent.
struct Parameters {
    std::vector<const char*> values;
    std::vector<int> lengths;

    void add(std::string_view bytes) {
        values.push_back(bytes.data());
        lengths.push_back(static_cast<int>(bytes.size()));
    }
    void add_null() {
        values.push_back(nullptr);
        lengths.push_back(0);
    }
};

class Connection final : public sql::Database {
public:
    using Greet = std::function<void(Connection&)>;
    // `greet` is called whenever it has connected, before anything else is asked: what it throws
    // refuses that connection.
    explicit Connection(Target target, Greet greet = {});
    ~Connection() override;

    std::unique_ptr<sql::Prepared> prepare(const char* sql) override;
    bool in_transaction() const override { return in_transaction_; }
    void begin(Kind kind) override;
    void commit() override;
    void roll_back() noexcept override;
    void end_reads_when(sql::ReadIsOver is_over) override { is_over_ = std::move(is_over); }

    using Take = std::function<void(ResultPtr)>;
    // Goes out with what is collected next; `take` then gets what was answered.
    void send(const Text& text, const Parameters& parameters, Take take = {});
    // A statement without parameters.
    void send(const char* sql);
    // What was sent has been carried out, or the first Failure of it is thrown.
    void collect();
    // One statement, or several without rows, at once and alone.
    ResultPtr ask(const Text& text, const Parameters& parameters);
    void run(const char* sql);
    // For scripts of many statements.
    void run_script(const std::string& sql);
    std::string text(const char* sql);  // the one value that a query answers

    void open();  // if it is not
    void close() noexcept;
    bool is_open() const { return connection_ != nullptr; }
    // Rises each time it connects.
    std::uint64_t life() const { return life_; }
    // A COMMIT was sent, and it is not known what became of it.
    bool is_commit_unknown() const { return commit_unknown_; }
    const Target& target() const { return target_; }

private:
    struct Close {
        void operator()(PGconn* connection) const { PQfinish(connection); }
    };
    struct Expected {
        Take take;
        bool is_commit = false;
        bool is_sync = false;
        std::uint64_t prepares = 0;  // the statement with this number
    };

    void connect();
    void set_up();
    void send_pending_begin();
    void prepare_text(const Text& text);
    void sync();
    void wait_for_input();
    void flush();
    ResultPtr next_result();
    void receive(const Expected& expected);
    void note_error(const PGresult* result);
    void hand_over(const Expected& expected, ResultPtr result);
    void forget_prepared(const Expected& expected);
    [[noreturn]] void lose(const std::string& why);
    void check_sent(int sent, const char* what);

    Target target_;
    Greet greet_;
    std::unique_ptr<PGconn, Close> connection_;
    std::uint64_t life_ = 0;
    std::vector<bool> prepared_;  // by number of the statement
    std::deque<Expected> expected_;
    std::unique_ptr<Failure> first_failure_;
    const char* pending_begin_ = nullptr;
    bool in_transaction_ = false;
    bool commit_sent_ = false;
    bool commit_unknown_ = false;
    bool has_warning_ = false;
    sql::ReadIsOver is_over_;
};

}  // namespace perdure::store::postgres
