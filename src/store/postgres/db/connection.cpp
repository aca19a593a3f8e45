#include "store/postgres/db/connection.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/assert.h"
#include "store/postgres/db/failures.h"
#include "store/postgres/db/prepared.h"
#include "store/postgres/db/types.h"

namespace perdure::store::postgres {
namespace {

constexpr int poll_ms = 50;
constexpr const char* begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

// What every session must have, whatever its role or the server says. A statement finds its rows by
// keys, always: without statistics the planner would guess otherwise.
constexpr const char* session_settings =
    "SET client_min_messages = warning;"
    "SET client_encoding = 'UTF8';"
    "SET synchronous_commit = on;"
    "SET lock_timeout = '1s';"
    "SET idle_in_transaction_session_timeout = '2s';"
    "SET statement_timeout = 0;"
    "SET default_transaction_isolation = 'read committed';"
    "SET plan_cache_mode = force_generic_plan;"
    "SET enable_seqscan = off; SET enable_bitmapscan = off;"
    "SET enable_hashjoin = off; SET enable_mergejoin = off;"
    "SET max_parallel_workers_per_gather = 0; SET jit = off;"
    "SET client_connection_check_interval = '500ms';"
    "SET tcp_keepalives_idle = 1; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 2;"
    "SET tcp_user_timeout = '2s';";

bool is_warning(const char* state) { return state && std::strncmp(state, "01", 2) == 0; }

}  // namespace

std::uint64_t Text::next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

Connection::Connection(Target target, Greet greet)
    : target_(std::move(target)), greet_(std::move(greet)) {}

Connection::~Connection() = default;

void Connection::close() noexcept {
    connection_.reset();
    prepared_.clear();
    expected_.clear();
    first_failure_.reset();
    pending_begin_ = nullptr;
    in_transaction_ = false;
    commit_sent_ = false;
}

// Nothing that was sent since the last answer is known to have happened, nor not to have.
void Connection::lose(const std::string& why) {
    commit_unknown_ = commit_sent_;
    const auto what = fmt::format("the connection to the database was lost: {}", why);
    close();
    throw Failure{error(Errc::unavailable, what)};
}

void Connection::open() {
    if (connection_) return;
    connect();
    ++life_;
    try {
        if (greet_) greet_(*this);
    } catch (...) {
        close();
        throw;
    }
}

void Connection::connect() {
    // Later words win: what keeps a dead peer from being waited for is not left to the address.
    constexpr std::array names = {"dbname",
                                  "fallback_application_name",
                                  "connect_timeout",
                                  "tcp_user_timeout",
                                  "keepalives",
                                  "keepalives_idle",
                                  "keepalives_interval",
                                  "keepalives_count",
                                  "target_session_attrs",
                                  static_cast<const char*>(nullptr)};
    const std::array values = {target_.uri.c_str(),
                               target_.name.c_str(),
                               "2",
                               "2000",
                               "1",
                               "1",
                               "1",
                               "2",
                               "read-write",
                               static_cast<const char*>(nullptr)};
    connection_.reset(PQconnectdbParams(names.data(), values.data(), 1));
    if (!connection_) throw Failure{error(Errc::unavailable, "no memory to connect")};
    if (PQstatus(connection_.get()) != CONNECTION_OK) {
        const auto what = fmt::format("the database cannot be reached: {}",
                                      trimmed(PQerrorMessage(connection_.get())));
        connection_.reset();
        throw Failure{error(Errc::unavailable, what)};
    }
    set_up();
}

void Connection::set_up() {
    auto* const raw = connection_.get();
    PQsetNoticeReceiver(
        raw,
        [](void* self, const PGresult* notice) {
            if (is_warning(PQresultErrorField(notice, PG_DIAG_SQLSTATE)))
                static_cast<Connection*>(self)->has_warning_ = true;
        },
        this);
    if (!target_.pooled) {
        const auto schema = PQescapeIdentifier(raw, target_.schema.c_str(), target_.schema.size());
        auto settings = fmt::format("{}SET search_path = {}", session_settings, schema);
        PQfreemem(schema);
        const ResultPtr set(PQexec(raw, settings.c_str()));
        if (PQresultStatus(set.get()) != PGRES_COMMAND_OK) {
            auto failure = failure_of(set.get());
            close();
            throw failure;
        }
    }
    if (PQsetnonblocking(raw, 1) != 0 || PQenterPipelineMode(raw) != 1)
        lose(trimmed(PQerrorMessage(raw)));
}

std::unique_ptr<sql::Prepared> Connection::prepare(const char* sql) {
    return std::make_unique<PreparedStatement>(*this, sql);
}

void Connection::check_sent(int sent, const char* what) {
    if (sent != 1) lose(fmt::format("{}: {}", what, trimmed(PQerrorMessage(connection_.get()))));
}

void Connection::begin(Kind kind) {
    PERDURE_ASSERT(!in_transaction_);
    open();
    pending_begin_ = kind == Kind::read ? begin_read : "BEGIN";
    commit_unknown_ = false;
    in_transaction_ = true;
}

void Connection::send(const char* sql) {
    open();
    check_sent(PQsendQueryParams(connection_.get(), sql, 0, nullptr, nullptr, nullptr, nullptr, 1),
               "send");
    expected_.push_back({});
}

// It goes out with the first statement of its transaction.
void Connection::send_pending_begin() {
    if (const auto* sql = std::exchange(pending_begin_, nullptr)) send(sql);
}

void Connection::prepare_text(const Text& text) {
    if (prepared_.size() <= text.number) prepared_.resize(text.number + 64);
    if (prepared_[text.number]) return;
    prepared_[text.number] = true;
    check_sent(
        PQsendPrepare(connection_.get(), fmt::format("p{}", text.number).c_str(), text.sql.c_str(),
                      static_cast<int>(text.types.size()), text.types.data()),
        "prepare");
    expected_.push_back({.take = {}, .prepares = text.number});
}

void Connection::send(const Text& text, const Parameters& parameters, Take take) {
    open();
    send_pending_begin();
    const std::vector<int> binary(parameters.values.size(), 1);
    const auto count = static_cast<int>(parameters.values.size());
    if (target_.pooled) {
        check_sent(PQsendQueryParams(connection_.get(), text.sql.c_str(), count, text.types.data(),
                                     parameters.values.data(), parameters.lengths.data(),
                                     binary.data(), 1),
                   "send");
    } else {
        prepare_text(text);
        check_sent(PQsendQueryPrepared(connection_.get(), fmt::format("p{}", text.number).c_str(),
                                       count, parameters.values.data(), parameters.lengths.data(),
                                       binary.data(), 1),
                   "send");
    }
    expected_.push_back({.take = std::move(take)});
}

void Connection::sync() {
    check_sent(PQpipelineSync(connection_.get()), "sync");
    expected_.push_back({.take = {}, .is_sync = true});
}

void Connection::commit() {
    PERDURE_ASSERT(in_transaction_);
    if (std::exchange(pending_begin_, nullptr)) {  // nothing was asked in it
        in_transaction_ = false;
        return;
    }
    send("COMMIT");
    expected_.back().is_commit = true;
    commit_sent_ = true;
    has_warning_ = false;
    collect();
    if (std::exchange(has_warning_, false)) {
        // It did not wait for its standby: it is here, and may be nowhere else.
        commit_sent_ = true;
        lose("the database has warned of a commit");
    }
    in_transaction_ = false;
}

// Nobody waits for it: what comes next goes out behind it.
void Connection::roll_back() noexcept {
    if (!in_transaction_) return;
    in_transaction_ = false;
    if (std::exchange(pending_begin_, nullptr) || !connection_) return;
    try {
        send("ROLLBACK");
        sync();
        flush();
    } catch (const Failure&) {
        close();
    }
}

void Connection::flush() {
    for (;;) {
        const int left = PQflush(connection_.get());
        if (left == 0) return;
        if (left < 0) lose(trimmed(PQerrorMessage(connection_.get())));
        wait_for_input();
    }
}

// Until something was said, or can be sent.
void Connection::wait_for_input() {
    const auto silences_max = target_.patience.us / 1'000 / poll_ms;
    for (std::int64_t silences = 0;; ++silences) {
        const int left = PQflush(connection_.get());
        if (left < 0) lose(trimmed(PQerrorMessage(connection_.get())));
        const short what = left > 0 ? POLLIN | POLLOUT : POLLIN;
        pollfd poll_for{PQsocket(connection_.get()), what, 0};
        const int ready = ::poll(&poll_for, 1, poll_ms);
        if (ready < 0 && errno != EINTR) lose(std::strerror(errno));
        if (ready > 0) {
            if (PQconsumeInput(connection_.get()) != 1)
                lose(trimmed(PQerrorMessage(connection_.get())));
            return;
        }
        if (is_over_ && is_over_()) {
            close();
            throw Failure{error(Errc::overloaded,
                                "this read took too long, or nobody waits for it any more: ask "
                                "for less at a time")};
        }
        if (silences >= silences_max)
            lose(fmt::format("no answer for {} s", target_.patience.us / 1'000'000));
    }
}

ResultPtr Connection::next_result() {
    while (PQisBusy(connection_.get()) == 1) wait_for_input();
    return ResultPtr(PQgetResult(connection_.get()));
}

void Connection::note_error(const PGresult* result) {
    if (first_failure_) return;
    first_failure_ = std::make_unique<Failure>(failure_of(result));
}

// Whoever takes it may find that it cannot be understood: what else was answered is still read.
void Connection::hand_over(const Expected& expected, ResultPtr result) {
    try {
        expected.take(std::move(result));
    } catch (const Failure& failure) {
        if (!first_failure_) first_failure_ = std::make_unique<Failure>(failure);
    }
}

// It was refused: the next one who needs it tries again.
void Connection::forget_prepared(const Expected& expected) {
    if (expected.prepares > 0) prepared_[expected.prepares] = false;
}

void Connection::receive(const Expected& expected) {
    auto result = next_result();
    if (!result) lose("an answer is missing");
    const auto status = PQresultStatus(result.get());
    if (expected.is_sync) {
        if (status != PGRES_PIPELINE_SYNC) lose("answers are out of step");
        return;
    }
    switch (status) {
        case PGRES_TUPLES_OK:
        case PGRES_COMMAND_OK: {
            const bool undone =
                expected.is_commit && std::string_view(PQcmdStatus(result.get())) != "COMMIT";
            if (undone && !first_failure_)
                first_failure_ = std::make_unique<Failure>(
                    Failure{error(Errc::unavailable, "the database has undone the transaction")});
            if (expected.is_commit) commit_sent_ = false;
            if (expected.take) hand_over(expected, std::move(result));
            break;
        }
        case PGRES_PIPELINE_ABORTED:
            if (expected.is_commit) commit_sent_ = false;
            forget_prepared(expected);
            break;
        default: {
            note_error(result.get());
            const bool is_gone = PQstatus(connection_.get()) == CONNECTION_BAD;
            // A COMMIT that is answered by an error is undone; one that is not, is unknown.
            if (is_gone || ends_session(result.get())) {
                const auto what = first_failure_->error.what;
                lose(what);
            }
            if (expected.is_commit) commit_sent_ = false;
            forget_prepared(expected);
        }
    }
    if (next_result()) lose("answers are out of step");
}

void Connection::collect() {
    if (!connection_) return;
    sync();
    while (!expected_.empty()) {
        const auto expected = std::move(expected_.front());
        expected_.pop_front();
        receive(expected);
    }
    if (auto failure = std::move(first_failure_)) {
        throw *failure;
    }
}

ResultPtr Connection::ask(const Text& text, const Parameters& parameters) {
    ResultPtr answer;
    send(text, parameters, [&](ResultPtr result) { answer = std::move(result); });
    collect();
    return answer;
}

void Connection::run(const char* sql) {
    open();
    send_pending_begin();
    send(sql);
    collect();
}

std::string Connection::text(const char* sql) {
    open();
    send_pending_begin();
    std::string answer;
    check_sent(PQsendQueryParams(connection_.get(), sql, 0, nullptr, nullptr, nullptr, nullptr, 0),
               "send");
    expected_.push_back({.take = [&](ResultPtr result) {
        if (PQntuples(result.get()) > 0) answer = PQgetvalue(result.get(), 0, 0);
    }});
    collect();
    return answer;
}

// Pipelines take one statement at a time.
void Connection::run_script(const std::string& sql) {
    open();
    send_pending_begin();
    if (!expected_.empty()) collect();
    PERDURE_ASSERT(PQexitPipelineMode(connection_.get()) == 1);
    check_sent(PQsendQuery(connection_.get(), sql.c_str()), "send");
    std::unique_ptr<Failure> failure;
    while (auto result = next_result()) {
        const auto status = PQresultStatus(result.get());
        const bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
        if (!good && !failure) failure = std::make_unique<Failure>(failure_of(result.get()));
    }
    if (PQstatus(connection_.get()) == CONNECTION_BAD) lose("in the midst of a migration");
    check_sent(PQenterPipelineMode(connection_.get()), "pipeline");
    if (failure) throw *failure;
}

}  // namespace perdure::store::postgres
