#include "bench/workers/worker_messages.h"

#include <fmt/format.h>

namespace perdure::bench {
namespace {

constexpr std::string_view assign_mark = R"({"assign":)";

// The text between `before` and the next of `after`.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
    const auto begin = text.find(before);
    if (begin == std::string_view::npos) return {};
    const auto rest = text.substr(begin + before.size());
    const auto end = rest.find_first_of(after);
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

Assigned assignment_in(std::string_view line) {
    Assigned assigned;
    assigned.job = between(line, R"("job":")", "\"");
    assigned.epoch = between(line, R"("epoch":)", ",}");
    for (const char digit : between(line, R"("number":)", ",}"))
        assigned.number = assigned.number * 10 + static_cast<std::uint64_t>(digit - '0');
    return assigned;
}

}  // namespace

std::string open_body(const OpenMessage& message) {
    return fmt::format(
        R"({{"protocol":1,"directory":{{"machine":"bench","boot":"bench","device":1,)"
        R"("inode":{0}}},"life":{1},"worker":"bench-{0}","slots":{2},"offer":{3},"on_disk":[]}})",
        message.directory, message.life, message.slots, message.offer);
}

std::string session_in(std::string_view answer) {
    return std::string(between(answer, R"("session":")", "\""));
}

std::string heartbeat_body(const HeartbeatMessage& message) {
    return fmt::format(
        R"({{"session":"{}","number":{},"seen":{},"slots":{},"offer":{},"lease_us":60000000,)"
        R"("attempts":{},"tick_seen":0}})",
        message.session, message.number, message.seen, message.slots, message.offer,
        message.attempts);
}

std::string attempts_list(const std::vector<Assigned>& attempts) {
    std::string list = "[";
    for (const auto& attempt : attempts)
        fmt::format_to(std::back_inserter(list),
                       R"({}{{"job":"{}","epoch":{},"number":{},"phase":"running"}})",
                       list.size() == 1 ? "" : ",", attempt.job, attempt.epoch, attempt.number);
    return list + "]";
}

std::string report_body(std::string_view session, const std::vector<Assigned>& attempts,
                        std::string_view what) {
    std::string body = fmt::format(R"({{"session":"{}","items":[)", session);
    bool first = true;
    for (const auto& attempt : attempts) {
        fmt::format_to(std::back_inserter(body), R"({}{{"job":"{}","epoch":{},{}}})",
                       first ? "" : ",", attempt.job, attempt.epoch, what);
        first = false;
    }
    return body + "]}";
}

std::vector<std::string_view> answers_in(std::string_view body) {
    constexpr std::string_view name = R"("answers":[)";
    std::vector<std::string_view> answers;
    const auto begin = body.find(name);
    if (begin == std::string_view::npos) return answers;
    body.remove_prefix(begin + name.size());
    while (body.starts_with('"')) {
        const auto end = body.find('"', 1);
        if (end == std::string_view::npos) break;
        answers.push_back(body.substr(1, end - 1));
        body.remove_prefix(end + 1);
        if (body.starts_with(',')) body.remove_prefix(1);
    }
    return answers;
}

void take_assignments(std::string& text, std::vector<Assigned>& into) {
    std::size_t used = 0;
    for (;;) {
        const auto end = text.find('\n', used);
        if (end == std::string::npos) break;
        const auto line = std::string_view(text).substr(used, end - used);
        const auto mark = line.find(assign_mark);
        if (mark != std::string_view::npos) into.push_back(assignment_in(line.substr(mark)));
        used = end + 1;
    }
    text.erase(0, used);
}

}  // namespace perdure::bench
