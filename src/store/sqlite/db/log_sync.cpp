#include "store/sqlite/db/log_sync.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <iterator>
#include <utility>

namespace perdure::store::sqlite {

LogSync::LogSync(LogFile log, std::function<void(const Error&)> failed)
    : log_(std::move(log)), failed_(std::move(failed)) {}

LogSync::~LogSync() { thread_.join(); }

void LogSync::end_write(std::unique_ptr<Answer> answer, Where sync) {
    {
        const std::lock_guard lock(mutex_);
        const bool was_refused = lost_ && begun_ > last_lost_;
        if (was_refused) return answer->give();
        if (lost_) return answer->give_instead(*lost_);
        ended_ = begun_;
        held_.push_back({ended_, std::move(answer)});
        if (std::exchange(is_running_, true)) return;
    }
    if (sync == Where::here) return run();
    boost::asio::post(thread_, [this] { run(); });
}

void LogSync::end_read(std::unique_ptr<Answer> answer) {
    const std::uint64_t seen = begun_;
    if (seen > durable_) {
        const std::lock_guard lock(mutex_);
        if (lost_) return answer->give_instead(*lost_);
        if (seen > durable_) return held_.push_back({seen, std::move(answer)});
    }
    answer->give();
}

void LogSync::run() {
    while (const auto target = next_target()) {
        if (const auto failure = log_.sync()) return lose_all(*failure);
        let_go(*target);
    }
}

std::optional<std::uint64_t> LogSync::next_target() {
    const std::lock_guard lock(mutex_);
    is_running_ = ended_ > durable_;
    if (!is_running_) return std::nullopt;
    return ended_;
}

void LogSync::let_go(std::uint64_t durable) {
    std::vector<Held> free;
    {
        const std::lock_guard lock(mutex_);
        durable_ = durable;
        const auto stays = [durable](const Held& held) { return held.write > durable; };
        const auto first = std::stable_partition(held_.begin(), held_.end(), stays);
        free.assign(std::move_iterator(first), std::move_iterator(held_.end()));
        held_.erase(first, held_.end());
    }
    for (auto& held : free) held.answer->give();
}

void LogSync::lose_all(const Error& why) {
    // Nobody knows whether it is in the log.
    const auto unknown = error(Errc::outcome_unknown, why.what);
    failed_(why);
    std::vector<Held> held;
    {
        const std::lock_guard lock(mutex_);
        lost_ = unknown;
        last_lost_ = begun_;
        held.swap(held_);
    }
    for (auto& one : held) one.answer->give_instead(unknown);
}

}  // namespace perdure::store::sqlite
