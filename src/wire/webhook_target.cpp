#include "wire/webhook_target.h"

#include <algorithm>
#include <charconv>

#include "core/job/webhook.h"

namespace perdure {
namespace {

constexpr std::size_t url_max = 8 * 1024;

Error bad_url(std::string why) { return error(Errc::invalid, "url: " + std::move(why)); }

bool is_host_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
}
bool is_address_character(char c) {
    return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' ||
           c == '.';
}
bool is_printable(char c) { return c > ' ' && c < 127; }

// "[::1]:80", "host:80", "host": the host goes into the target, what is left is the port.
bool take_host(std::string_view& authority, Target& target) {
    const bool bracketed = authority.starts_with('[');
    const auto end = bracketed ? authority.find(']') : authority.find(':');
    if (bracketed && end == std::string_view::npos) return false;
    target.host = bracketed ? authority.substr(1, end - 1) : authority.substr(0, end);
    const auto good = bracketed ? is_address_character : is_host_character;
    if (target.host.empty() || target.host.size() > 253) return false;
    if (!std::all_of(target.host.begin(), target.host.end(), good)) return false;
    const auto after = bracketed ? end + 1 : end;
    authority = after < authority.size() ? authority.substr(after) : std::string_view{};
    return true;
}

bool take_port(std::string_view text, Target& target) {
    if (text.empty()) return true;
    if (text.front() != ':' || text.size() < 2) return false;
    text.remove_prefix(1);
    const auto* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, target.port);
    return read.ec == std::errc{} && read.ptr == end && target.port != 0;
}

}  // namespace

std::string Target::authority() const {
    const bool bracketed = host.find(':') != std::string::npos;
    const auto shown = bracketed ? "[" + host + "]" : host;
    const std::uint16_t usual = tls ? 443 : 80;
    return port == usual ? shown : shown + ":" + std::to_string(port);
}

std::string Target::text() const { return (tls ? "https://" : "http://") + authority(); }

Result<Target> parse_target(std::string_view url) {
    if (url.size() > url_max) return bad_url("longer than 8 KiB");
    if (!std::all_of(url.begin(), url.end(), is_printable))
        return bad_url("it has a character that must be written as %XX");
    Target target;
    constexpr std::string_view plain = "http://";
    constexpr std::string_view secure = "https://";
    target.tls = url.starts_with(secure);
    if (!target.tls && !url.starts_with(plain))
        return bad_url("it must begin with http:// or https://");
    target.port = target.tls ? 443 : 80;
    auto rest = url.substr(target.tls ? secure.size() : plain.size());
    rest = rest.substr(0, rest.find('#'));  // is for browsers and never sent
    const auto slash = rest.find_first_of("/?");
    auto authority = rest.substr(0, slash);
    if (slash != std::string_view::npos) {
        target.path = rest.substr(slash);
        if (target.path.front() == '?') target.path.insert(0, 1, '/');
    }
    if (authority.find('@') != std::string_view::npos)
        return bad_url("no user or password may stand in it; sign with `secret` instead");
    if (!take_host(authority, target)) return bad_url("its host is none");
    if (!take_port(authority, target)) return bad_url("its port must be a number from 1 to 65535");
    if (!is_webhook_port(target.port))
        return bad_url(std::to_string(target.port) +
                       " is no port for webhooks: only 80, 443, and 1024 and above are");
    return target;
}

}  // namespace perdure
