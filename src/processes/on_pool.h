// Blocking work on a few threads, awaited by a coroutine on the loop. The work owns what it needs
// and shares nothing with the loop: the caller may be gone when it is done.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "ports/task.h"

namespace perdure {

template <class Work>
Task<std::invoke_result_t<Work>> on_pool(boost::asio::thread_pool& pool, Executor executor,
                                         Work work) {
    const auto value = std::make_shared<std::optional<std::invoke_result_t<Work>>>();
    const auto shared_work = std::make_shared<Work>(std::move(work));
    auto taker = [&pool, executor, value, shared_work](Suspended me) {
        auto run = [executor, value, shared_work, me = std::move(me),
                    guard = boost::asio::make_work_guard(executor)]() mutable {
            value->emplace((*shared_work)());
            me.resume_later(executor);
        };
        boost::asio::post(pool, std::move(run));
    };
    co_await suspend(std::move(taker));
    co_return std::move(**value);
}

}  // namespace perdure
