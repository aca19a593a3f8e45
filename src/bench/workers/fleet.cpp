#include "bench/workers/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace perdure::bench {
namespace {

constexpr double heartbeat_period_s = 2;
constexpr std::size_t calls_at_once_max = 64;
constexpr std::size_t workers_at_a_time = 20;
constexpr double fleet_wait_s = 0.01;
constexpr std::size_t refusal_shown = 300;  // bytes

}  // namespace

Result<std::unique_ptr<Fleet>> Fleet::open(FleetOptions options, const Deadline& deadline) {
    std::unique_ptr<Fleet> fleet(new Fleet(std::move(options)));
    auto calls =
        CallPool::open(fleet->options_.port,
                       std::clamp<std::size_t>(fleet->options_.workers, 4, calls_at_once_max));
    if (!calls) return calls.error();
    fleet->calls_ = std::move(*calls);
    if (auto opened = fleet->open_sessions(deadline); !opened) return opened.error();
    fleet->clock_ = Stopwatch();
    return fleet;
}

std::string Fleet::offer_of(std::size_t worker, std::size_t turn) const {
    return options_.offer ? options_.offer(worker, turn) : std::string(any_offer);
}

Result<void> Fleet::open_sessions(const Deadline& deadline) {
    workers_.resize(options_.workers);
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        auto& worker = workers_[i];
        worker.offer = offer_of(i, 0);
        const OpenMessage message{
            .directory = i + 1, .slots = options_.slots, .offer = worker.offer};
        calls_->post("/v1/worker/open", open_body(message),
                     [&worker](std::string_view answer) -> Result<void> {
                         worker.session = session_in(answer);
                         return {};
                     });
    }
    while (calls_->unanswered() > 0) {
        if (deadline.is_over())
            return error(Errc::unavailable,
                         fmt::format("gave up after {:.0f} s: {} of {} workers "
                                     "have no session",
                                     deadline.limit_s(), calls_->unanswered(), workers_.size()));
        if (auto went = calls_->turn(fleet_wait_s); !went) return went;
    }
    return {};
}

Result<void> Fleet::open_streams(std::size_t workers) {
    for (; streams_ < std::min(workers, workers_.size()); ++streams_) {
        auto& worker = workers_[streams_];
        auto opened = calls_->stream(
            "/v1/worker/stream?session=" + worker.session,
            [this, &worker](std::string_view bytes) { return take_from_stream(worker, bytes); });
        if (!opened) return opened;
        beat_whose_time_has_come();
    }
    return {};
}

Result<void> Fleet::turn() {
    beat_whose_time_has_come();
    return calls_->turn(fleet_wait_s);
}

Result<std::size_t> Fleet::drain(std::size_t jobs, const Deadline& deadline) {
    what_ = has_succeeded;
    reported_ = 0;
    if (auto opened = open_streams(workers_.size()); !opened) return opened.error();
    while (reported_ < jobs && !deadline.is_over())
        if (auto went = turn(); !went) return went.error();
    return reported_;
}

Result<std::size_t> Fleet::take(std::size_t jobs, std::string_view what, const Deadline& deadline) {
    what_ = what;
    reported_ = 0;
    while (reported_ < jobs && !deadline.is_over()) {
        const auto full = reported_ / options_.slots;
        if (auto opened = open_streams(full + workers_at_a_time); !opened) return opened.error();
        if (auto went = turn(); !went) return went.error();
    }
    return reported_;
}

Result<std::size_t> Fleet::keep_alive(double seconds) {
    const auto before = beats_answered_;
    const Stopwatch watch;
    while (watch.seconds() < seconds)
        if (auto went = turn(); !went) return went.error();
    return beats_answered_ - before;
}

Result<void> Fleet::take_from_stream(Worker& worker, std::string_view bytes) {
    worker.text.append(bytes);
    std::vector<Assigned> come;
    take_assignments(worker.text, come);
    if (come.empty()) return {};
    worker.seen = std::max(worker.seen, come.back().number);
    worker.attempts.insert(worker.attempts.end(), come.begin(), come.end());
    worker.list.clear();
    report(worker, std::move(come));
    return {};
}

void Fleet::report(Worker& worker, std::vector<Assigned> attempts) {
    const auto body = report_body(worker.session, attempts, what_);
    calls_->post("/v1/worker/report", body,
                 [this, &worker, told = std::move(attempts)](std::string_view answer) {
                     return take_answers(worker, told, answer);
                 });
}

Result<void> Fleet::take_answers(Worker& worker, const std::vector<Assigned>& told,
                                 std::string_view body) {
    const auto answers = answers_in(body);
    if (answers.size() != told.size())
        return error(Errc::unavailable,
                     fmt::format("a report was answered {}", body.substr(0, refusal_shown)));
    std::set<std::uint64_t> gone;
    std::vector<Assigned> again;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < told.size(); ++i) {
        const bool is_fenced = answers[i] == "fenced";
        const bool is_taken = answers[i] == "ok" || answers[i] == "go";
        if (!is_fenced && !is_taken) again.push_back(told[i]);
        if (is_fenced || (is_taken && what_ == has_succeeded)) gone.insert(told[i].number);
        if (is_fenced) ++fenced_;
        if (is_taken) ++taken;
    }
    reported_ += taken;
    std::erase_if(worker.attempts,
                  [&](const Assigned& attempt) { return gone.contains(attempt.number); });
    worker.list.clear();
    if (!again.empty()) report(worker, std::move(again));
    if (what_ == has_succeeded) count_ended(worker, taken);
    return {};
}

void Fleet::count_ended(Worker& worker, std::size_t jobs) {
    worker.ended_in_turn += jobs;
    if (options_.jobs_in_turn == 0 || worker.ended_in_turn < options_.jobs_in_turn) return;
    worker.ended_in_turn = 0;
    worker.offer = offer_of(static_cast<std::size_t>(&worker - workers_.data()), ++worker.turn);
    beat(worker);
}

// One at a time: a heartbeat that is overtaken by the next one is ignored.
void Fleet::beat(Worker& worker) {
    worker.beats_again = worker.is_beating;
    if (worker.is_beating) return;
    worker.is_beating = true;
    if (worker.list.empty()) worker.list = attempts_list(worker.attempts);
    const HeartbeatMessage message{.session = worker.session,
                                   .number = ++worker.heartbeats,
                                   .seen = worker.seen,
                                   .slots = options_.slots,
                                   .offer = worker.offer,
                                   .attempts = worker.list};
    calls_->post("/v1/worker/heartbeat", heartbeat_body(message),
                 [this, &worker](std::string_view body) { return take_beat(worker, body); });
}

Result<void> Fleet::take_beat(Worker& worker, std::string_view body) {
    worker.is_beating = false;
    ++beats_answered_;
    if (body.find(R"("accept")") == std::string_view::npos)
        return error(Errc::unavailable,
                     fmt::format("a heartbeat was refused: {}", body.substr(0, refusal_shown)));
    if (worker.beats_again) beat(worker);
    return {};
}

// Spread evenly over the period.
void Fleet::beat_whose_time_has_come() {
    const auto due = static_cast<std::size_t>(clock_.seconds() / heartbeat_period_s *
                                              static_cast<double>(workers_.size()));
    for (; beats_due_ < due; ++beats_due_) {
        auto& worker = workers_[beats_due_ % workers_.size()];
        if (!worker.is_beating) beat(worker);
    }
}

}  // namespace perdure::bench
