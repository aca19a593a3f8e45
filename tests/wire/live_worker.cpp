#include "tests/wire/live_worker.h"

#include <boost/asio/post.hpp>
#include <future>
#include <utility>

namespace perdure::wire_tests {

Task<Result<WorkerLife>> WordProcesses::open() {
    WorkerLife life;
    life.directory = {.machine = machine_, .boot = "boot", .device = 1, .inode = 2};
    life.life = ++life_;
    co_return life;
}

Task<Result<std::uint64_t>> WordProcesses::next_life() { co_return ++life_; }

Task<Result<void>> WordProcesses::prepare(Assignment assignment) {
    const auto attempt = assignment.attempt;
    running_[attempt].assignment = std::move(assignment);
    co_return Result<void>{};
}

void WordProcesses::start(AttemptKey attempt, StartOrder) {
    auto& run = running_.at(attempt);
    if (std::exchange(run.started, true)) return;
    push({.kind = ProcessEvent::Kind::started, .attempt = attempt});
    const auto argv = run.assignment.spec->argv;
    const auto word = argv.empty() ? std::string() : argv.front();
    if (word == "wait") run.printed = "waiting\n";
    if (word == "say") run.printed = argv.at(1) + "\n";
    if (!run.printed.empty()) push({.kind = ProcessEvent::Kind::printed, .attempt = attempt});
    const AttemptEnd failed{.cause = Cause::exit, .ran = Ran::yes, .exit_code = 3};
    const AttemptEnd succeeded{.cause = Cause::exit, .ran = Ran::yes, .succeeded = true};
    const AttemptEnd crashed{.cause = Cause::crash_signal, .ran = Ran::yes, .exit_code = 11};
    if (word == "fail") return end(attempt, failed, "");
    if (word == "crash") return end(attempt, crashed, "");
    if (word == "say") return end(attempt, succeeded, R"({"said":")" + argv.at(1) + "\"}");
    if (word != "wait") end(attempt, succeeded, "");
}

void WordProcesses::end(AttemptKey attempt, AttemptEnd how, std::string result) {
    running_.at(attempt).ended = true;
    Evidence evidence{.result = std::move(result), .host = machine_, .ran_for = milliseconds(1)};
    push({.kind = ProcessEvent::Kind::ended,
          .attempt = attempt,
          .end = how,
          .evidence = std::make_shared<const Evidence>(std::move(evidence))});
}

void WordProcesses::kill(AttemptKey attempt, Cause cause) {
    const auto found = running_.find(attempt);
    if (found == running_.end() || found->second.ended) return;
    const auto ran = found->second.started ? Ran::yes : Ran::no;
    end(attempt, {.cause = cause, .ran = ran}, "");
}

void WordProcesses::push(ProcessEvent event) {
    events_.push_back(std::move(event));
    if (waiter_) std::exchange(waiter_, std::nullopt)->resume_later(executor_);
}

Task<std::vector<ProcessEvent>> WordProcesses::next_events() {
    if (events_.empty()) co_await suspend([this](Suspended me) { waiter_.emplace(std::move(me)); });
    co_return std::exchange(events_, {});
}

Task<Result<std::string>> WordProcesses::output(AttemptKey attempt, std::uint64_t offset,
                                                std::size_t max) {
    const auto found = running_.find(attempt);
    if (found == running_.end() || offset >= found->second.printed.size()) co_return std::string();
    co_return found->second.printed.substr(offset, max);
}

LiveWorker::LiveWorker(std::vector<std::string> urls, std::string name, std::uint32_t slots)
    : servers_(std::move(*HttpServerApi::make(clock_, urls, seconds(2)))),
      processes_(clock_.executor(), "machine of " + name) {
    WorkerOptions options{.name = name, .slots = slots};
    const WorkerPorts ports{clock_, random_, *servers_, processes_};
    worker_ = std::make_unique<Worker>(ports, options, Log());
    worker_->start();
    thread_ = std::thread([this] { context_.run(); });
}

LiveWorker::~LiveWorker() {
    context_.stop();
    thread_.join();
}

bool LiveWorker::finished() {
    std::promise<bool> done;
    boost::asio::post(context_, [&] { done.set_value(worker_->finished()); });
    return done.get_future().get();
}

}  // namespace perdure::wire_tests
