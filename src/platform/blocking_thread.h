// BlockingThread: where blocking calls are made. Either a thread of its own, which makes one call
// after the other and posts each answer back to the loop that asked; or inline, right where it is
// asked, for simulations. Calls own all that they need: who asked may be gone when the answer
// comes. A thread with a bound refuses whoever would be one too many in front of it (C8).
#pragma once

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "ports/task.h"

namespace perdure {

// The answer to a call, which whoever asked has not got yet. Exactly one of these, once.
class Answer {
public:
    virtual ~Answer() = default;
    virtual void give() = 0;
    virtual void give_instead(const Error& why) = 0;
};

class BlockingThread {
public:
    enum class Kind { thread, inline_ };
    static constexpr std::size_t unbounded = SIZE_MAX;
    // At most so many calls wait or are being made at a time.
    explicit BlockingThread(Kind kind, std::size_t calls_max = unbounded) : calls_max_(calls_max) {
        if (kind == Kind::thread) thread_.emplace(1);
    }
    // Waits for the calls that were made.
    ~BlockingThread() { close(); }
    BlockingThread(const BlockingThread&) = delete;
    BlockingThread& operator=(const BlockingThread&) = delete;

    void close() {
        if (thread_) thread_->join();
    }

    // On the thread, between two other calls; nobody is answered.
    void post(std::function<void()> call) {
        if (!thread_) return call();
        boost::asio::post(*thread_, std::move(call));
    }

    // What `call()` returns, when `afterwards(std::unique_ptr<Answer>)` gives it; both run on the
    // thread. overloaded: the thread has too many calls already, and this one is not made.
    template <class Call, class LastResort>
    Task<std::invoke_result_t<Call&>> ask(Call call, LastResort afterwards) {
        using Content = std::invoke_result_t<Call&>;
        const auto content = std::make_shared<std::optional<Content>>();
        if (!thread_) {
            content->emplace(call());
            afterwards(std::make_unique<AnswerHere<Content>>(content));
            co_return std::move(**content);
        }
        if (calls_.load() >= calls_max_) co_return error(Errc::overloaded, too_many_reads);
        ++calls_;
        const auto executor = co_await boost::asio::this_coro::executor;
        auto hand_over = [this, content, executor, call = std::move(call),
                          afterwards = std::move(afterwards)](Suspended caller) mutable {
            auto work = [this, content, call = std::move(call), afterwards = std::move(afterwards),
                         answer = std::make_unique<AnswerAcross<Content>>(
                             content, std::move(caller), executor)]() mutable {
                content->emplace(call());
                --calls_;
                afterwards(std::move(answer));
            };
            boost::asio::post(*thread_, std::move(work));
        };
        auto waiting = suspend(std::move(hand_over));
        co_await std::move(waiting);
        co_return std::move(**content);
    }

private:
    static constexpr const char* too_many_reads =
        "too many reads wait already: ask again in a second, or for less at a time";

    // For a caller that waits for the call itself.
    template <class Content>
    class AnswerHere : public Answer {
    public:
        explicit AnswerHere(std::shared_ptr<std::optional<Content>> content)
            : content_(std::move(content)) {}
        void give() override {}
        void give_instead(const Error& why) override { content_->emplace(why); }

    private:
        std::shared_ptr<std::optional<Content>> content_;
    };

    // For a caller that another thread's loop resumes.
    template <class Content>
    class AnswerAcross final : public AnswerHere<Content> {
    public:
        AnswerAcross(std::shared_ptr<std::optional<Content>> content, Suspended caller,
                     Executor executor)
            : AnswerHere<Content>(std::move(content)),
              caller_(std::move(caller)),
              executor_(executor) {}
        void give() override { caller_.resume_later(executor_); }
        void give_instead(const Error& why) override {
            AnswerHere<Content>::give_instead(why);
            give();
        }

    private:
        Suspended caller_;
        Executor executor_;
    };

    const std::size_t calls_max_;
    std::atomic<std::size_t> calls_ = 0;  // that wait or are being made
    std::optional<boost::asio::thread_pool> thread_;
};

}  // namespace perdure
