// LogSync: syncs the write-ahead log on a thread of its own. The writer goes on with the next group
// meanwhile, and what it commits during a sync shares the next one.
//   P1  What is told survives power loss: an answer is held back until everything that it tells of
//       is durable, be it written or only read.
// The log is a chain: what is durable of it is always its beginning. A sync that fails is never
// tried again: nobody is told anything any more.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.h"
#include "platform/blocking_thread.h"
#include "store/sqlite/db/connection.h"

namespace perdure::store::sqlite {

class LogSync {
public:
    // `failed` is called once, on a thread that syncs: from then on nothing may be written.
    LogSync(LogFile log, std::function<void(const Error&)> failed);
    // Everybody who waits is answered first.
    ~LogSync();
    LogSync(const LogSync&) = delete;
    LogSync& operator=(const LogSync&) = delete;

    // Around each call of the writer, whether or not it commits something. `here`: nothing else is
    // to be done before this one is durable.
    void begin_write() { ++begun_; }
    enum class Where { here, on_its_thread };
    void end_write(std::unique_ptr<Answer> answer, Where sync);
    // A read may have seen all that was begun before its end.
    void end_read(std::unique_ptr<Answer> answer);

private:
    struct Held {
        std::uint64_t write = 0;  // the last one that it may tell of
        std::unique_ptr<Answer> answer;
    };

    void run();
    std::optional<std::uint64_t> next_target();
    void let_go(std::uint64_t durable);
    void lose_all(const Error& why);

    LogFile log_;
    std::function<void(const Error&)> failed_;
    std::atomic<std::uint64_t> begun_ = 0;    // writes
    std::atomic<std::uint64_t> durable_ = 0;  // of those that have ended

    std::mutex mutex_;
    std::uint64_t ended_ = 0;  // writes
    std::vector<Held> held_;
    std::optional<Error> lost_;  // why nothing becomes durable any more
    std::uint64_t last_lost_ = 0;
    bool is_running_ = false;
    boost::asio::thread_pool thread_{1};
};

}  // namespace perdure::store::sqlite
