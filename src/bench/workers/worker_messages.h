// What a worker says and hears, by docs/protocol/worker.md, as text. As cheap as it can be made:
// the bench shares the machine with what is measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace perdure::bench {

struct Assigned {
    std::string job;
    std::string epoch;
    std::uint64_t number = 0;
};

inline constexpr std::string_view any_offer = R"({"tenant":"default"})";

struct OpenMessage {
    std::size_t directory = 1;  // another number is another worker
    std::size_t life = 1;
    std::size_t slots = 1;
    std::string_view offer = any_offer;
};
std::string open_body(const OpenMessage& message);
// The session in the answer to it; empty if there is none.
std::string session_in(std::string_view answer);

struct HeartbeatMessage {
    std::string_view session;
    std::uint64_t number = 0;
    std::uint64_t seen = 0;
    std::size_t slots = 1;
    std::string_view offer = any_offer;
    std::string_view attempts;  // attempts_list()
};
std::string heartbeat_body(const HeartbeatMessage& message);
// All of them as running.
std::string attempts_list(const std::vector<Assigned>& attempts);

// What can be reported about an attempt.
inline constexpr std::string_view asks = R"("kind":"ask")";
inline constexpr std::string_view has_started = R"("kind":"started")";
inline constexpr std::string_view has_succeeded =
    R"("kind":"ended","end":{"cause":"exit","ran":"yes","succeeded":true})";
inline constexpr std::string_view has_failed =
    R"("kind":"ended","end":{"cause":"exit","ran":"yes","exit_code":1})";
std::string report_body(std::string_view session, const std::vector<Assigned>& attempts,
                        std::string_view what);
// The answers to a report, in the order of its items; they point into the body.
std::vector<std::string_view> answers_in(std::string_view body);

// Moves the assignments that have come completely out of the text of a stream.
void take_assignments(std::string& text, std::vector<Assigned>& into);

}  // namespace perdure::bench
