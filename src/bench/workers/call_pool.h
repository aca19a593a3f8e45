// CallPool: many calls over a few connections to a server, and streams that come down, all in one
// thread: nothing happens but in turn(). Calls wait for a free connection in the order in which
// they were made; their answers may overtake each other.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "testbed/http_caller.h"

namespace perdure::bench {

class CallPool {
public:
    // An error from one of these ends the turn with it.
    using Take = std::function<Result<void>(std::string_view text)>;

    static Result<std::unique_ptr<CallPool>> open(std::uint16_t port, std::size_t connections);
    ~CallPool();
    CallPool(const CallPool&) = delete;
    CallPool& operator=(const CallPool&) = delete;

    // `answered` gets the body of a 200; any other status ends the turn with `unavailable`.
    void post(std::string_view target, std::string_view body, Take answered);
    // `arrived` gets the bytes as they come, heads and all.
    Result<void> stream(std::string_view target, Take arrived);
    // Sends what can be sent, waits at most so long, takes what has come.
    Result<void> turn(double wait_s);
    // Calls that are not answered yet.
    std::size_t unanswered() const { return waiting_.size() + sent_; }

private:
    struct Call {
        std::string bytes;
        Take answered;
    };
    struct Line {
        HttpCaller caller;
        Take take;               // of the call under way, or of the stream
        bool is_stream = false;  // it stays
    };

    CallPool(std::uint16_t port, int poll) : port_(port), poll_(poll) {}
    Result<std::size_t> connect(bool is_stream);
    Result<void> send_waiting();
    Result<void> receive(std::size_t line);
    Result<void> receive_answer(std::size_t line);

    std::uint16_t port_;
    int poll_;
    std::vector<Line> lines_;
    std::vector<std::size_t> free_;
    std::deque<Call> waiting_;
    std::size_t sent_ = 0;
};

}  // namespace perdure::bench
