// The world around a worker, for its tests: servers and processes that do what a test says and
// write down what they were told.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ports/testing/manual_clock.h"
#include "worker/worker.h"

namespace perdure {

class CountingRandom final : public Random {
public:
    std::uint64_t next() override { return next_++; }

private:
    std::uint64_t next_ = 0;
};

using Journal = std::vector<std::string>;

class FakeStream final : public Stream {
public:
    explicit FakeStream(Executor executor) : executor_(executor) {}

    Task<Result<std::vector<StreamMessage>>> next() override {
        if (messages_.empty() && !closed_)
            co_await suspend([this](Suspended me) { waiter_.emplace(std::move(me)); });
        // What has come before the end is still read.
        if (messages_.empty()) co_return error(Errc::unavailable, "closed");
        co_return std::exchange(messages_, {});
    }
    void close() override {
        closed_ = true;
        wake();
    }
    bool is_closed() const { return closed_; }
    // The reader owns its stream, and the stream the suspended reader: somebody must let go.
    void abandon() { waiter_.reset(); }
    void push(const StreamMessage& message) {
        messages_.push_back(message);
        wake();
    }

private:
    void wake() {
        if (waiter_) std::exchange(waiter_, std::nullopt)->resume_later(executor_);
    }

    Executor executor_;
    bool closed_ = false;
    std::vector<StreamMessage> messages_;
    std::optional<Suspended> waiter_;
};

class FakeServers final : public ServerApi {
public:
    FakeServers(Executor executor, Journal& journal) : executor_(executor), journal_(journal) {}

    std::size_t server_count() const override { return count; }
    Task<Result<OpenAnswer>> open(std::size_t server, OpenRequest request) override {
        opens.push_back(request);
        servers.push_back(server);
        if (on_open) co_return on_open(request);
        co_return OpenAnswer{SessionId{opens.size()}, seconds(10)};
    }
    Task<Result<std::shared_ptr<Stream>>> open_stream(std::size_t, SessionId) override {
        ++stream_calls;
        if (stream_failure) co_return *stream_failure;
        if (streams_take != Duration{}) co_await stream_alarm->wait(streams_take);
        stream = std::make_shared<FakeStream>(executor_);
        streams.push_back(stream);
        co_return std::shared_ptr<Stream>(stream);
    }
    Task<Result<HeartbeatAnswerMessage>> heartbeat(std::size_t server,
                                                   HeartbeatRequest request) override {
        journal_.push_back("heartbeat");
        heartbeats.push_back(request);
        servers.push_back(server);
        if (on_heartbeat) co_return on_heartbeat(request);
        co_return HeartbeatAnswerMessage{.answer = HeartbeatAnswer::accept};
    }
    Task<Result<ReportResponse>> report(std::size_t, ReportRequest request) override {
        ReportResponse response;
        for (const auto& item : request.items) {
            reported.push_back(item);
            auto answer = item.kind == ReportItem::Kind::ask ? ItemAnswer::go : ItemAnswer::ok;
            if (on_item) answer = on_item(item);
            response.answers.push_back(answer);
        }
        if (reports_fail) co_return error(Errc::unavailable, "the reply was lost");
        if (unreadable && std::any_of(request.items.begin(), request.items.end(), unreadable))
            co_return error(Errc::invalid, "it cannot be read");
        co_return response;
    }

    Task<Result<InsideReply>> inside(std::size_t, InsideCall call) override {
        inside_calls.push_back(call);
        if (on_inside) co_return on_inside(call);
        co_return InsideReply{.status = 200, .body = "{}"};
    }
    Task<Result<LogResponse>> logs(std::size_t, LogRequest request) override {
        log_requests.push_back(request);
        if (logs_take != Duration{}) co_await log_alarm->wait(logs_take);
        if (logs_failure) co_return *logs_failure;
        LogResponse response;
        for (const auto& chunk : request.chunks) {
            response.answers.push_back(on_chunk ? on_chunk(chunk) : ItemAnswer::ok);
            if (response.answers.back() == ItemAnswer::ok) kept[chunk.attempt] += chunk.bytes;
        }
        co_return response;
    }

    std::size_t reports_of(AttemptKey key, ReportItem::Kind kind) const {
        return static_cast<std::size_t>(std::count_if(
            reported.begin(), reported.end(),
            [&](const ReportItem& item) { return item.attempt == key && item.kind == kind; }));
    }
    const ReportItem* last_report_of(AttemptKey key) const {
        const ReportItem* last = nullptr;
        for (const auto& item : reported)
            if (item.attempt == key) last = &item;
        return last;
    }

    std::vector<LogRequest> log_requests;
    std::vector<InsideCall> inside_calls;
    std::function<Result<InsideReply>(const InsideCall&)> on_inside;
    std::function<ItemAnswer(const LogChunk&)> on_chunk;
    std::map<AttemptKey, std::string> kept;
    Duration logs_take;
    std::unique_ptr<Alarm> log_alarm;  // a test that lets logs() take time makes one
    std::optional<Error> logs_failure;
    Duration streams_take;
    std::unique_ptr<Alarm> stream_alarm;  // the same for open_stream()
    std::optional<Error> stream_failure;
    std::size_t stream_calls = 0;
    std::size_t count = 1;
    std::function<Result<OpenAnswer>(const OpenRequest&)> on_open;
    std::function<Result<HeartbeatAnswerMessage>(const HeartbeatRequest&)> on_heartbeat;
    std::function<ItemAnswer(const ReportItem&)> on_item;
    bool reports_fail = false;
    std::function<bool(const ReportItem&)> unreadable;  // it refuses the whole request

    std::vector<OpenRequest> opens;
    std::vector<HeartbeatRequest> heartbeats;
    std::vector<ReportItem> reported;
    std::vector<std::size_t> servers;
    std::shared_ptr<FakeStream> stream;
    std::vector<std::shared_ptr<FakeStream>> streams;

private:
    Executor executor_;
    Journal& journal_;
};

class FakeProcesses final : public Processes {
public:
    FakeProcesses(Executor executor, Journal& journal) : executor_(executor), journal_(journal) {}

    Task<Result<WorkerLife>> open() override {
        life.life += 1;
        co_return life;
    }
    Task<Result<std::uint64_t>> next_life() override { co_return ++life.life; }
    Task<Result<void>> prepare(Assignment assignment) override {
        prepared.push_back(assignment.attempt);
        if (prepare_error) co_return *prepare_error;
        co_return Result<void>{};
    }
    void start(AttemptKey attempt, StartOrder order) override {
        started.push_back({attempt, order});
        if (starts) say(ProcessEvent::Kind::started, attempt);
    }
    void renew(AttemptKey, BootTime until) override { renewed.push_back(until); }
    void kill(AttemptKey attempt, Cause cause) override {
        journal_.push_back("kill");
        killed.emplace_back(attempt, cause);
        const bool ran = std::any_of(started.begin(), started.end(),
                                     [&](const auto& s) { return s.first == attempt; });
        end(attempt, {.cause = cause, .ran = ran ? Ran::yes : Ran::no});
    }
    Task<std::vector<ProcessEvent>> next_events() override {
        if (events_.empty())
            co_await suspend([this](Suspended me) { waiter_.emplace(std::move(me)); });
        co_return std::exchange(events_, {});
    }
    void deliver(AttemptKey, ProcessAnswer answer) override {
        if (answer.kind == ProcessEvent::Kind::call)
            replies.emplace_back(answer.number, std::move(answer.reply));
        else
            answers.push_back(answer.committed);
    }
    Task<Result<std::string>> output(AttemptKey attempt, std::uint64_t offset,
                                     std::size_t max) override {
        if (output_failure) co_return *output_failure;
        const auto all = printed[attempt];
        if (while_reading) co_await while_reading();
        co_return all.substr(std::min<std::size_t>(offset, all.size()), max);
    }
    void print(AttemptKey attempt, const std::string& text) {
        printed[attempt] += text;
        say(ProcessEvent::Kind::printed, attempt);
    }
    void forget(AttemptKey attempt) override { forgotten.push_back(attempt); }
    void stopped_cleanly() override { clean = true; }

    void call(AttemptKey attempt, std::uint64_t number) {
        ProcessEvent event{.kind = ProcessEvent::Kind::call, .attempt = attempt};
        event.call = {.attempt = attempt, .number = number, .method = "POST", .target = "/v1/jobs"};
        push(std::move(event));
    }
    void say(ProcessEvent::Kind kind, AttemptKey attempt) {
        push({.kind = kind, .attempt = attempt, .checkpoint = "state"});
    }
    void end(AttemptKey attempt, AttemptEnd how, EvidenceRef evidence = nullptr) {
        push({.attempt = attempt, .end = how, .evidence = std::move(evidence)});
    }

    WorkerLife life;
    std::map<AttemptKey, std::string> printed;
    std::optional<Error> output_failure;
    std::function<Task<void>()> while_reading;  // between a look at the output and its answer
    std::optional<Error> prepare_error;
    bool starts = true;
    bool clean = false;
    std::vector<AttemptKey> prepared;
    std::vector<std::pair<AttemptKey, StartOrder>> started;
    std::vector<std::pair<AttemptKey, Cause>> killed;
    std::vector<AttemptKey> forgotten;
    std::vector<BootTime> renewed;
    std::vector<bool> answers;
    std::vector<std::pair<std::uint64_t, InsideReply>> replies;

private:
    void push(ProcessEvent event) {
        events_.push_back(std::move(event));
        if (waiter_) std::exchange(waiter_, std::nullopt)->resume_later(executor_);
    }

    Executor executor_;
    Journal& journal_;
    std::vector<ProcessEvent> events_;
    std::optional<Suspended> waiter_;
};

}  // namespace perdure
