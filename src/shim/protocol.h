// The talk between a worker and its shim: records over a stream socket on one machine.
//   worker to shim   start GO LEASE | renew LEASE | kill CAUSE | answer NUMBER 0-or-1 |
//                    reply NUMBER STATUS LF body
//   shim to worker   started | printed | progress PERCENT SP text | begin NUMBER |
//                    checkpoint NUMBER LF body | call NUMBER METHOD TARGET LF body |
//                    ended RESULT
// GO and LEASE are instants of the boot clock in microseconds; GO is `-` if there is none. RESULT
// is the text of result.json, or empty: then it is to be read from disk. Records with other names
// are skipped by both sides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/policy/cause.h"
#include "shim/format/records.h"

namespace perdure {

namespace talk {
inline constexpr std::string_view start = "start";
inline constexpr std::string_view renew = "renew";
inline constexpr std::string_view kill = "kill";
inline constexpr std::string_view answer = "answer";
inline constexpr std::string_view reply = "reply";
inline constexpr std::string_view call = "call";
inline constexpr std::string_view started = "started";
inline constexpr std::string_view printed = "printed";
inline constexpr std::string_view progress = "progress";
inline constexpr std::string_view begin = "begin";
inline constexpr std::string_view checkpoint = "checkpoint";
inline constexpr std::string_view ended = "ended";
}  // namespace talk

struct StartTalk {
    std::optional<BootTime> go_until;
    BootTime lease_until;
};
struct AnswerTalk {
    std::uint64_t number = 0;
    bool committed = false;
};

inline std::string to_text(const StartTalk& start) {
    const auto go = start.go_until ? std::to_string(start.go_until->us) : "-";
    return go + " " + std::to_string(start.lease_until.us);
}

inline std::optional<StartTalk> parse_start(std::string_view text) {
    const auto space = text.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const auto lease = number_in<std::int64_t>(text.substr(space + 1));
    if (!lease) return std::nullopt;
    StartTalk start{.go_until = std::nullopt, .lease_until = {*lease}};
    if (text.substr(0, space) == "-") return start;
    const auto go = number_in<std::int64_t>(text.substr(0, space));
    if (!go) return std::nullopt;
    start.go_until = BootTime{*go};
    return start;
}

inline std::string to_text(const AnswerTalk& answer) {
    return std::to_string(answer.number) + (answer.committed ? " 1" : " 0");
}

inline std::optional<AnswerTalk> parse_answer(std::string_view text) {
    const auto space = text.find(' ');
    const auto number = number_in<std::uint64_t>(text.substr(0, space));
    if (!number || space == std::string_view::npos) return std::nullopt;
    return AnswerTalk{*number, text.substr(space + 1) == "1"};
}

// Views are of what was parsed.
struct CallTalk {
    std::uint64_t number = 0;
    std::string_view method;
    std::string_view target;
    std::string_view body;
};
struct ReplyTalk {
    std::uint64_t number = 0;
    std::uint32_t status = 0;
    std::string_view body;
};

inline std::string to_text(const CallTalk& call) {
    auto text = std::to_string(call.number) + " ";
    text.append(call.method).append(1, ' ').append(call.target).append(1, '\n').append(call.body);
    return text;
}
inline std::string to_text(const ReplyTalk& reply) {
    auto text = std::to_string(reply.number) + " " + std::to_string(reply.status) + "\n";
    return text.append(reply.body);
}

inline std::optional<CallTalk> parse_call(std::string_view text) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    auto line = text.substr(0, end);
    const auto number = number_in<std::uint64_t>(take_word(line));
    CallTalk call{.method = take_word(line), .target = line, .body = text.substr(end + 1)};
    if (!number || call.method.empty() || call.target.empty()) return std::nullopt;
    call.number = *number;
    return call;
}

inline std::optional<ReplyTalk> parse_reply(std::string_view text) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    auto line = text.substr(0, end);
    const auto number = number_in<std::uint64_t>(take_word(line));
    const auto status = number_in<std::uint32_t>(line);
    if (!number || !status) return std::nullopt;
    return ReplyTalk{*number, *status, text.substr(end + 1)};
}

inline std::optional<Cause> cause_named(std::string_view name) {
    for (std::size_t i = 0; i < cause_count; ++i)
        if (cause_names[i] == name) return static_cast<Cause>(i);
    return std::nullopt;
}

}  // namespace perdure
