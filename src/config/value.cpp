#include "config/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/words.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

template <class Number>
std::optional<Number> take_number(std::string_view& text) {
    Number number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || text.empty() || text.front() == '-') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return number;
}

}  // namespace

bool HostPort::is_loopback() const {
    return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::optional<HostPort> parse_host_port(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    auto host = text.substr(0, colon);
    auto digits = text.substr(colon + 1);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    else if (host.find_first_of(":[]") != std::string_view::npos)
        return std::nullopt;
    if (host.empty() || host.find_first_of(" /@") != std::string_view::npos) return std::nullopt;
    const auto port = take_number<std::uint16_t>(digits);
    if (!port || !digits.empty()) return std::nullopt;
    return HostPort{std::string(host), *port};
}

bool is_socket_url(std::string_view text) {
    constexpr std::string_view scheme = "unix:";
    return text.starts_with(scheme) && text.size() > scheme.size();
}

std::optional<HostPort> parse_server_url(std::string_view text) {
    constexpr std::string_view scheme = "http://";
    if (!text.starts_with(scheme)) return std::nullopt;
    text.remove_prefix(scheme.size());
    if (text.ends_with('/')) text.remove_suffix(1);
    return parse_host_port(text);
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const auto comma = std::min(text.find(','), text.size());
        const auto word = trimmed(text.substr(0, comma));
        if (!word.empty()) words.emplace_back(word);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return words;
}

std::string value_text(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
    if (const auto* duration = std::get_if<Duration>(&value)) return duration_text(*duration);
    return fmt::format("{}", fmt::join(std::get<std::vector<std::string>>(value), ","));
}

}  // namespace perdure
