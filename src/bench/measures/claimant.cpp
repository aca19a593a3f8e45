#include "bench/measures/claimant.h"

#include <fmt/format.h>
#include <poll.h>

namespace perdure::bench {
namespace {

constexpr int heartbeat_ms = 1000;
constexpr int silent_heartbeats_max = 20;

// The text between `before` and the next of `after`, from `at` on.
std::string_view between(std::string_view text, std::size_t at, std::string_view before,
                         std::string_view after) {
    const auto begin = text.find(before, at);
    if (begin == std::string_view::npos) return {};
    const auto rest = text.substr(begin + before.size());
    const auto end = rest.find_first_of(after);
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace

Result<std::string> Claimant::call(std::string_view target, const std::string& body) {
    const auto answer = calls_.call(request_bytes("POST", target, body));
    if (!answer) return answer.error();
    if (answer->status != 200)
        return error(Errc::unavailable,
                     fmt::format("{} answered {}: {}", target, answer->status, answer->body));
    return std::string(answer->body);
}

Result<std::unique_ptr<Claimant>> Claimant::open(std::uint16_t port, std::size_t life,
                                                 std::size_t slots) {
    auto calls = HttpCaller::connect(port);
    if (!calls) return calls.error();
    auto stream = HttpCaller::connect(port);
    if (!stream) return stream.error();
    std::unique_ptr<Claimant> claimant(new Claimant(std::move(*calls), std::move(*stream), slots));
    const auto opened = claimant->call(
        "/v1/worker/open",
        fmt::format(R"({{"protocol":1,"directory":{{"machine":"bench","boot":"bench","device":1,)"
                    R"("inode":1}},"life":{},"worker":"bench","slots":{},)"
                    R"("offer":{{"tenant":"default"}},"on_disk":[]}})",
                    life, slots));
    if (!opened) return opened.error();
    claimant->session_ = between(*opened, 0, R"("session":")", "\"");
    const auto target = "/v1/worker/stream?session=" + claimant->session_;
    if (auto sent = claimant->stream_.send(request_bytes("GET", target)); !sent)
        return sent.error();
    return claimant;
}

bool Claimant::take_from_stream(Assigned& into) {
    constexpr std::string_view mark = R"({"assign":)";
    const auto begin = text_.find(mark);
    const auto line_end = begin == std::string::npos ? begin : text_.find('\n', begin);
    if (line_end == std::string::npos) return false;
    into.job = between(text_, begin, R"("job":")", "\"");
    into.epoch = between(text_, begin, R"("epoch":)", ",}");
    into.number = std::stoull(std::string(between(text_, begin, R"("number":)", ",}")));
    text_.erase(0, line_end);
    return true;
}

Result<Assigned> Claimant::next() {
    Assigned next;
    int silent = 0;
    while (!take_from_stream(next)) {
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
    }
    seen_ = std::max(seen_, next.number);
    attempts_.push_back(next);
    return next;
}

Result<void> Claimant::report(const Assigned& attempt, std::string_view what,
                              std::string_view answer) {
    const auto said =
        call("/v1/worker/report",
             fmt::format(R"({{"session":"{}","items":[{{"job":"{}","epoch":{},{}}}]}})", session_,
                         attempt.job, attempt.epoch, what));
    if (!said) return said.error();
    if (said->find(answer) == std::string::npos)
        return error(Errc::unavailable, "a report was refused: " + *said);
    return {};
}

Result<void> Claimant::start(const Assigned& attempt) {
    return report(attempt, R"("kind":"ask")", R"("go")");
}

Result<void> Claimant::end(const Assigned& attempt) {
    std::erase_if(attempts_, [&](const Assigned& other) { return other.job == attempt.job; });
    return report(attempt, R"("kind":"ended","end":{"cause":"exit","ran":"yes","succeeded":true})",
                  R"("ok")");
}

Result<void> Claimant::heartbeat() {
    std::string list;
    for (const auto& attempt : attempts_)
        list += fmt::format(R"({}{{"job":"{}","epoch":{},"number":{},"phase":"running"}})",
                            list.empty() ? "" : ",", attempt.job, attempt.epoch, attempt.number);
    const auto answer =
        call("/v1/worker/heartbeat",
             fmt::format(R"({{"session":"{}","number":{},"seen":{},"slots":{},)"
                         R"("offer":{{"tenant":"default"}},"lease_us":60000000,"attempts":[{}],)"
                         R"("tick_seen":0}})",
                         session_, ++heartbeats_, seen_, slots_, list));
    if (!answer) return answer.error();
    if (answer->find(R"("accept")") == std::string::npos)
        return error(Errc::unavailable, "a heartbeat was refused: " + answer->substr(0, 200));
    return {};
}

}  // namespace perdure::bench
