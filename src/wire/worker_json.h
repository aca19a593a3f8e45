// The messages of the worker protocol as JSON (docs/protocol/worker.md). Written straight into a
// string; read with unknown fields ignored, so that versions n and n+1 understand each other.
// What is read has been checked for shape and range; what it means is the services' to judge.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/json_reader.h"
#include "wire/worker_protocol.h"

namespace perdure {

inline constexpr std::uint32_t worker_protocol_version = 1;
inline constexpr std::size_t report_items_max = 10'000;

void append_json(std::string& out, const OpenRequest& request);
void append_json(std::string& out, const OpenAnswer& answer);
void append_json(std::string& out, const HeartbeatRequest& request);
void append_json(std::string& out, const HeartbeatAnswerMessage& answer);
void append_json(std::string& out, const ReportRequest& request);
void append_json(std::string& out, const ReportResponse& response);
void append_json(std::string& out, const LogResponse& response);
void append_json(std::string& out, const StreamMessage& message);

template <class Message>
std::string json_text(const Message& message) {
    std::string text;
    append_json(text, message);
    return text;
}

// What a message of a kind that this version does not know is called: a reader passes over it.
inline constexpr std::string_view unknown_message = "a message of an unknown kind";

// Empty if all is well. Otherwise `into` is half filled and must not be used.
std::optional<ParseError> from_json(std::string_view text, OpenRequest& into);
std::optional<ParseError> from_json(std::string_view text, OpenAnswer& into);
std::optional<ParseError> from_json(std::string_view text, HeartbeatRequest& into);
std::optional<ParseError> from_json(std::string_view text, HeartbeatAnswerMessage& into);
std::optional<ParseError> from_json(std::string_view text, ReportRequest& into);
std::optional<ParseError> from_json(std::string_view text, ReportResponse& into);
std::optional<ParseError> from_json(std::string_view text, LogResponse& into);
std::optional<ParseError> from_json(std::string_view text, StreamMessage& into);

}  // namespace perdure
