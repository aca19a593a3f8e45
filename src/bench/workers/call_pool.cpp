#include "bench/workers/call_pool.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cmath>

namespace perdure::bench {
namespace {

constexpr std::chrono::seconds call_patience(30);

}  // namespace

Result<std::unique_ptr<CallPool>> CallPool::open(std::uint16_t port, std::size_t connections) {
    std::unique_ptr<CallPool> pool(new CallPool(port, epoll_create1(EPOLL_CLOEXEC)));
    for (std::size_t i = 0; i < connections; ++i) {
        const auto line = pool->connect(false);
        if (!line) return line.error();
        pool->free_.push_back(*line);
    }
    return pool;
}

CallPool::~CallPool() { ::close(poll_); }

Result<std::size_t> CallPool::connect(bool is_stream) {
    auto caller = HttpCaller::connect(port_);
    if (!caller) return caller.error();
    caller->set_patience(call_patience);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = lines_.size();
    epoll_ctl(poll_, EPOLL_CTL_ADD, caller->descriptor(), &event);
    lines_.push_back({std::move(*caller), {}, is_stream});
    return lines_.size() - 1;
}

void CallPool::post(std::string_view target, std::string_view body, Take answered) {
    waiting_.push_back({request_bytes("POST", target, body), std::move(answered)});
}

Result<void> CallPool::stream(std::string_view target, Take arrived) {
    const auto line = connect(true);
    if (!line) return line.error();
    lines_[*line].take = std::move(arrived);
    return lines_[*line].caller.send(request_bytes("GET", target));
}

Result<void> CallPool::send_waiting() {
    while (!free_.empty() && !waiting_.empty()) {
        auto& line = lines_[free_.back()];
        auto call = std::move(waiting_.front());
        waiting_.pop_front();
        free_.pop_back();
        ++sent_;
        line.take = std::move(call.answered);
        if (auto sent = line.caller.send(call.bytes); !sent) return sent;
    }
    return {};
}

Result<void> CallPool::receive_answer(std::size_t index) {
    const auto answer = lines_[index].caller.receive_some();
    if (!answer) return answer.error();
    if (!*answer) return {};
    if ((*answer)->status != 200)
        return error(Errc::unavailable, fmt::format("the server answered {}: {}", (*answer)->status,
                                                    (*answer)->body.substr(0, 300)));
    --sent_;
    free_.push_back(index);
    const auto take = std::move(lines_[index].take);
    return take((*answer)->body);
}

Result<void> CallPool::receive(std::size_t index) {
    auto& line = lines_[index];
    if (!line.is_stream) return receive_answer(index);
    const auto bytes = line.caller.receive_raw();
    if (!bytes) return bytes.error();
    if (bytes->empty()) return error(Errc::unavailable, "the server has closed a stream");
    return line.take(*bytes);
}

Result<void> CallPool::turn(double wait_s) {
    if (auto sent = send_waiting(); !sent) return sent;
    std::array<epoll_event, 256> events{};
    const int count = epoll_wait(poll_, events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(std::ceil(wait_s * 1e3)));
    for (int i = 0; i < count; ++i)
        if (auto got = receive(events[static_cast<std::size_t>(i)].data.u64); !got) return got;
    return send_waiting();
}

}  // namespace perdure::bench
