// LiveWorker: a real worker that reaches a server over HTTP, on a loop and thread of its own. Its
// processes are a few words that are carried out in place:
//   say TEXT    prints it, leaves {"said": TEXT} and succeeds
//   fail        exits with 3
//   crash       dies by signal 11
//   wait        prints "waiting" and goes on until it is killed
#pragma once

#include <boost/asio/io_context.hpp>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "client/http_server_api.h"
#include "platform/asio_clock.h"
#include "platform/entropy.h"
#include "ports/process.h"
#include "worker/worker.h"

namespace perdure::wire_tests {

class WordProcesses final : public Processes {
public:
    WordProcesses(Executor executor, std::string machine)
        : executor_(executor), machine_(std::move(machine)) {}

    Task<Result<WorkerLife>> open() override;
    Task<Result<std::uint64_t>> next_life() override;
    Task<Result<void>> prepare(Assignment assignment) override;
    void start(AttemptKey attempt, StartOrder order) override;
    void renew(AttemptKey, BootTime) override {}
    void kill(AttemptKey attempt, Cause cause) override;
    Task<std::vector<ProcessEvent>> next_events() override;
    void deliver(AttemptKey, ProcessAnswer) override {}
    Task<Result<std::string>> output(AttemptKey attempt, std::uint64_t offset,
                                     std::size_t max) override;
    void forget(AttemptKey attempt) override { running_.erase(attempt); }
    void stopped_cleanly() override {}

private:
    struct Running {
        Assignment assignment;
        std::string printed;
        bool started = false;
        bool ended = false;
    };
    void push(ProcessEvent event);
    void end(AttemptKey attempt, AttemptEnd how, std::string result);

    Executor executor_;
    std::string machine_;
    std::uint64_t life_ = 0;
    std::map<AttemptKey, Running> running_;
    std::vector<ProcessEvent> events_;
    std::optional<Suspended> waiter_;
};

class LiveWorker {
public:
    LiveWorker(std::vector<std::string> urls, std::string name, std::uint32_t slots);
    ~LiveWorker();
    LiveWorker(const LiveWorker&) = delete;
    LiveWorker& operator=(const LiveWorker&) = delete;

    bool finished();

private:
    boost::asio::io_context context_{1};
    AsioClock clock_{context_};
    Entropy random_;
    std::unique_ptr<HttpServerApi> servers_;
    WordProcesses processes_;
    std::unique_ptr<Worker> worker_;
    std::thread thread_;
};

}  // namespace perdure::wire_tests
