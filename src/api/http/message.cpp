#include "api/http/message.h"

namespace perdure {
namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// In a query a plus sign is a space. An encoded NUL is malformed: no name of ours has one.
std::optional<std::string> decode(std::string_view text, char plus) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i] == '+' ? plus : text[i];
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const int high = hex_digit(text[i + 1]);
        const int low = hex_digit(text[i + 2]);
        if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return decoded;
}

}  // namespace

std::optional<Request> read_target(std::string_view target) {
    if (target.empty() || target.front() != '/') return std::nullopt;
    Request request;
    const auto mark = target.find('?');
    auto path = decode(target.substr(0, mark), '+');
    if (!path) return std::nullopt;
    request.path = std::move(*path);
    auto rest = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
    while (!rest.empty()) {
        const auto pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
        if (pair.empty()) continue;
        const auto equals = pair.find('=');
        auto name = decode(pair.substr(0, equals), ' ');
        auto value =
            equals == std::string_view::npos ? std::string() : decode(pair.substr(equals + 1), ' ');
        if (!name || !value) return std::nullopt;
        request.query.emplace_back(std::move(*name), std::move(*value));
    }
    return request;
}

}  // namespace perdure
