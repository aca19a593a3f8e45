#include "bench/load.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

#include "testbed/http_caller.h"
#include "testbed/stopwatch.h"

namespace perdure::bench {
namespace {

class Driver {
public:
    explicit Driver(const Load& load) : load_(load), poll_(epoll_create1(EPOLL_CLOEXEC)) {}
    ~Driver() { ::close(poll_); }
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    Result<double> run() {
        if (auto opened = open(); !opened) return opened.error();
        const Stopwatch watch;
        for (auto& caller : callers_)
            if (auto sent = send_next(caller); !sent) return sent.error();
        while (answered_ < load_.requests) {
            if (load_.limit_s > 0 && watch.seconds() > load_.limit_s)
                return error(Errc::unavailable,
                             fmt::format("gave up after {:.0f} s: {} of {} requests are answered",
                                         load_.limit_s, answered_, load_.requests));
            if (auto went = turn(); !went) return went.error();
        }
        return watch.seconds();
    }

private:
    Result<void> open() {
        callers_.reserve(load_.connections);
        for (std::size_t i = 0; i < load_.connections; ++i) {
            auto caller = HttpCaller::connect(load_.port);
            if (!caller) return caller.error();
            callers_.push_back(std::move(*caller));
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.u64 = i;
            epoll_ctl(poll_, EPOLL_CTL_ADD, callers_.back().descriptor(), &event);
        }
        return {};
    }

    Result<void> send_next(HttpCaller& caller) {
        if (sent_ == load_.requests) return {};
        return caller.send(load_.request(sent_++));
    }

    Result<void> turn() {
        std::array<epoll_event, 64> events{};
        const int count = epoll_wait(poll_, events.data(), static_cast<int>(events.size()), 10'000);
        if (count == 0) return error(Errc::unavailable, "the server has been silent for 10 s");
        for (int i = 0; i < count; ++i) {
            auto& caller = callers_[events[static_cast<std::size_t>(i)].data.u64];
            const auto answer = caller.receive_some();
            if (!answer) return answer.error();
            if (!*answer) continue;
            if (auto taken = take(caller, **answer); !taken) return taken;
        }
        return {};
    }

    Result<void> take(HttpCaller& caller, const HttpAnswer& answer) {
        if (answer.status != load_.expected)
            return error(Errc::unavailable, fmt::format("the server answered {}: {}", answer.status,
                                                        answer.body.substr(0, 500)));
        ++answered_;
        if (load_.answered) load_.answered(answer.body);
        return send_next(caller);
    }

    const Load& load_;
    int poll_;
    std::vector<HttpCaller> callers_;
    std::size_t sent_ = 0;
    std::size_t answered_ = 0;
};

}  // namespace

Result<double> drive(const Load& load) { return Driver(load).run(); }

}  // namespace perdure::bench
