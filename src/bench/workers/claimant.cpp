#include "bench/workers/claimant.h"

#include <fmt/format.h>
#include <poll.h>

namespace perdure::bench {
namespace {

constexpr std::chrono::seconds answer_patience(30);
constexpr int heartbeat_ms = 1000;
constexpr int silent_heartbeats_max = 20;

}  // namespace

Result<std::string> Claimant::call(std::string_view target, const std::string& body) {
    const auto answer = calls_.call(request_bytes("POST", target, body));
    if (!answer) return answer.error();
    if (answer->status != 200)
        return error(Errc::unavailable,
                     fmt::format("{} answered {}: {}", target, answer->status, answer->body));
    return std::string(answer->body);
}

Result<std::unique_ptr<Claimant>> Claimant::open(const ClaimantOptions& options) {
    auto calls = HttpCaller::connect(options.port);
    if (!calls) return calls.error();
    auto stream = HttpCaller::connect(options.port);
    if (!stream) return stream.error();
    calls->set_patience(answer_patience);
    std::unique_ptr<Claimant> claimant(
        new Claimant(std::move(*calls), std::move(*stream), options.slots));
    const auto opened = claimant->call(
        "/v1/worker/open",
        open_body({.directory = options.directory, .life = options.life, .slots = options.slots}));
    if (!opened) return opened.error();
    claimant->session_ = session_in(*opened);
    const auto target = "/v1/worker/stream?session=" + claimant->session_;
    if (auto sent = claimant->stream_.send(request_bytes("GET", target)); !sent)
        return sent.error();
    return claimant;
}

Result<Assigned> Claimant::next() {
    int silent = 0;
    while (come_.empty()) {
        pollfd wait{stream_.descriptor(), POLLIN, 0};
        if (::poll(&wait, 1, heartbeat_ms) == 0) {
            if (auto alive = heartbeat(); !alive) return alive.error();
            if (++silent > silent_heartbeats_max)
                return error(Errc::unavailable, "no assignment has come");
            continue;
        }
        const auto bytes = stream_.receive_raw();
        if (!bytes) return bytes.error();
        if (bytes->empty()) return error(Errc::unavailable, "the stream has ended");
        text_.append(*bytes);
        take_assignments(text_, come_);
    }
    auto next = std::move(come_.front());
    come_.erase(come_.begin());
    seen_ = std::max(seen_, next.number);
    attempts_.push_back(next);
    return next;
}

Result<void> Claimant::report(const Assigned& attempt, std::string_view what,
                              std::string_view answer) {
    const auto said = call("/v1/worker/report", report_body(session_, {attempt}, what));
    if (!said) return said.error();
    if (answers_in(*said) != std::vector{answer})
        return error(Errc::unavailable, "a report was refused: " + *said);
    return {};
}

Result<void> Claimant::start(const Assigned& attempt) { return report(attempt, asks, "go"); }

Result<void> Claimant::report_end(const Assigned& attempt, std::string_view what) {
    std::erase_if(attempts_, [&](const Assigned& other) { return other.number == attempt.number; });
    return report(attempt, what, "ok");
}

Result<void> Claimant::end(const Assigned& attempt) { return report_end(attempt, has_succeeded); }

Result<void> Claimant::fail(const Assigned& attempt) { return report_end(attempt, has_failed); }

Result<void> Claimant::heartbeat() {
    const auto list = attempts_list(attempts_);
    const auto answer = call("/v1/worker/heartbeat", heartbeat_body({.session = session_,
                                                                     .number = ++heartbeats_,
                                                                     .seen = seen_,
                                                                     .slots = slots_,
                                                                     .attempts = list}));
    if (!answer) return answer.error();
    if (answer->find(R"("accept")") == std::string::npos)
        return error(Errc::unavailable, "a heartbeat was refused: " + answer->substr(0, 200));
    return {};
}

}  // namespace perdure::bench
