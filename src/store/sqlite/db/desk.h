// Desk: where blocking calls are made. Either a thread of its own, which makes one call after the
// other and posts each answer back to the loop that asked; or inline, right where it is asked, for
// simulations. Calls own all that they need: who asked may be gone when the answer comes.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "ports/task.h"

namespace perdure::sqlite {

class Desk {
public:
    enum class Kind { thread, inline_ };
    explicit Desk(Kind kind) {
        if (kind == Kind::thread) thread_.emplace(1);
    }
    // Waits for the calls that were made.
    ~Desk() { close(); }
    Desk(const Desk&) = delete;
    Desk& operator=(const Desk&) = delete;

    void close() {
        if (thread_) thread_->join();
    }

    // What `call()` returns; `afterwards()` is run on the desk when the answer is on its way.
    template <class Call, class Then>
    Task<std::invoke_result_t<Call&>> ask(Call call, Then afterwards) {
        using Answer = std::invoke_result_t<Call&>;
        if (!thread_) {
            auto answer = call();
            afterwards();
            co_return answer;
        }
        const auto answer = std::make_shared<std::optional<Answer>>();
        const auto executor = co_await boost::asio::this_coro::executor;
        auto hand_over = [this, answer, executor, call = std::move(call),
                          afterwards = std::move(afterwards)](Suspended caller) mutable {
            auto work = [answer, executor, call = std::move(call),
                         afterwards = std::move(afterwards), caller = std::move(caller)]() mutable {
                answer->emplace(call());
                caller.resume_later(executor);
                afterwards();
            };
            boost::asio::post(*thread_, std::move(work));
        };
        auto waiting = suspend(std::move(hand_over));
        co_await std::move(waiting);
        co_return std::move(**answer);
    }

private:
    std::optional<boost::asio::thread_pool> thread_;
};

}  // namespace perdure::sqlite
