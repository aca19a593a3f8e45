// LiveServer: a real server on a real loop and a real socket, with a memory store behind it. The
// loop has a thread of its own, so that a test can simply call and wait.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "api/api_server.h"
#include "client/api_client.h"
#include "platform/asio_clock.h"
#include "platform/entropy.h"
#include "platform/stderr_log.h"
#include "ports/blobs.h"
#include "server/server.h"
#include "store/memory/memory_store.h"

namespace perdure::wire_tests {

class MemoryBlobs final : public Blobs {
public:
    Task<Result<std::vector<std::uint64_t>>> append(std::vector<LogChunk> chunks) override;
    Task<Result<void>> cut(std::vector<LogCut> cuts) override;
    Task<Result<LogPiece>> read(AttemptKey attempt, std::uint64_t offset, std::size_t max) override;
    Task<Result<OutputRemoved>> remove(std::vector<JobId> jobs) override;

private:
    std::map<AttemptKey, std::string> texts_;
};

class LiveServer {
public:
    explicit LiveServer(ApiOptions options = {});
    ~LiveServer();
    LiveServer(const LiveServer&) = delete;
    LiveServer& operator=(const LiveServer&) = delete;

    std::uint16_t port() const { return api_.port(); }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port()); }
    ApiClient::Options client_options() const { return {.urls = {url()}}; }
    // Runs it on the server's loop and waits for it.
    void on_loop(std::function<void()> work);
    void stop();
    bool finished();

private:
    boost::asio::io_context context_{1};
    // The loop goes on when the server has stopped and nothing is left to do.
    boost::asio::executor_work_guard<Executor> guard_{context_.get_executor()};
    AsioClock clock_{context_};
    StderrLog log_{Level::error};
    Entropy random_;
    MemoryStore store_{Timing{}};
    MemoryBlobs blobs_;
    Server server_;
    ApiServer api_;
    std::thread thread_;
};

// Sends bytes as they are and reads until the peer closes, or `enough` says so.
std::string exchange(std::uint16_t port, std::string_view bytes,
                     const std::function<bool(const std::string&)>& enough = {});

// Asks again and again until it is so. A deadline of half a minute: it fails, it never hangs.
void eventually(const std::function<bool()>& is_so);

}  // namespace perdure::wire_tests
