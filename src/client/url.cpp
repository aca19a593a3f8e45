#include "client/url.h"

#include <charconv>

namespace perdure {
namespace {

Error no_url(std::string_view text) {
    return error(Errc::invalid, "`" + std::string(text) +
                                    "` is no address of a server: write it like "
                                    "http://127.0.0.1:7373");
}

}  // namespace

std::string Url::whole() const { return socket.empty() ? "http://" + text() : "unix:" + socket; }

std::string Url::text() const {
    if (!socket.empty()) return "localhost";
    const bool is_ip6 = host.find(':') != std::string::npos;
    return (is_ip6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<Url> read_url(std::string_view text) {
    constexpr std::string_view scheme = "http://";
    constexpr std::string_view socket_scheme = "unix:";
    if (text.starts_with(socket_scheme) && text.size() > socket_scheme.size())
        return Url{.host = {}, .socket = std::string(text.substr(socket_scheme.size()))};
    auto rest = text;
    if (rest.starts_with(scheme)) rest.remove_prefix(scheme.size());
    if (rest.ends_with('/')) rest.remove_suffix(1);
    if (rest.empty() || rest.find_first_of("/?#@ ") != std::string_view::npos) return no_url(text);
    Url url;
    std::string_view port;
    if (rest.front() == '[') {
        const auto end = rest.find(']');
        if (end == std::string_view::npos) return no_url(text);
        url.host = rest.substr(1, end - 1);
        port = rest.substr(end + 1);
    } else {
        const auto colon = rest.find(':');
        url.host = rest.substr(0, colon);
        if (colon != std::string_view::npos) port = rest.substr(colon);
    }
    if (url.host.empty()) return no_url(text);
    if (port.empty()) return url;
    const auto* end = port.data() + port.size();
    const auto [stop, failure] = std::from_chars(port.data() + 1, end, url.port);
    const bool fits = port.front() == ':' && failure == std::errc() && stop == end && url.port != 0;
    if (!fits) return no_url(text);
    return url;
}

}  // namespace perdure
