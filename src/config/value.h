// Value: what a setting can be set to, and how each form of it is read from text.
// Reading never guesses: what does not fit is refused with a sentence that says what would.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace perdure {

using Value = std::variant<std::string, std::int64_t, Duration, std::vector<std::string>>;

// HOST:PORT, with an IPv6 host in brackets.
struct HostPort {
    std::string host;
    std::uint16_t port = 0;

    bool is_loopback() const;
};
std::optional<HostPort> parse_host_port(std::string_view text);
// unix:PATH, a socket on this host.
bool is_socket_url(std::string_view text);
// http://HOST:PORT, without a path.
std::optional<HostPort> parse_server_url(std::string_view text);

// Words between commas, without the spaces around them. Empty words are left out.
std::vector<std::string> split_list(std::string_view text);

// For people: lists with commas, durations as duration_text().
std::string value_text(const Value& value);

// Where the value of a setting came from.
struct Origin {
    enum class Kind { standard, file, environment, flag } kind = Kind::standard;
    std::string place;  // "perdure.toml:3", "PERDURE_DATA", "--data"; empty for a default
};
std::string_view to_string(Origin::Kind kind);

}  // namespace perdure
