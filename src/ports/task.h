// The words of asynchronous code. Every loop is a coroutine on one single-threaded io_context;
// the simulator polls the same kind of context and owns the clock.
//   Task<T>    a coroutine that yields T
//   suspend()  give the suspended coroutine to somebody who resumes it once, or destroys it
// A destroyed suspension destroys the coroutine: that is how a crash is simulated.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace perdure {

using Executor = boost::asio::io_context::executor_type;

template <class T>
using Task = boost::asio::awaitable<T, Executor>;

inline constexpr boost::asio::use_awaitable_t<Executor> use_task{};

// A suspended coroutine. Move-only; resume at most once.
class Suspended {
public:
    using Handler =
        boost::asio::async_result<boost::asio::use_awaitable_t<Executor>, void()>::handler_type;
    explicit Suspended(Handler handler) : handler_(std::move(handler)) {}

    // Runs the coroutine right here, until it suspends again. For the executor's own loop only.
    void resume_here() { std::move(handler_)(); }
    // Lets the executor run it later. The way for everybody else: nothing changes under the caller.
    void resume_later(Executor executor) { boost::asio::post(executor, std::move(handler_)); }

private:
    Handler handler_;
};

// Suspends the calling coroutine and hands it to `taker(Suspended)`.
template <class Taker>
Task<void> suspend(Taker taker) {
    return boost::asio::async_initiate<const boost::asio::use_awaitable_t<Executor>, void()>(
        [taker = std::move(taker)](auto&& handler) mutable {
            taker(Suspended(std::forward<decltype(handler)>(handler)));
        },
        use_task);
}

}  // namespace perdure
