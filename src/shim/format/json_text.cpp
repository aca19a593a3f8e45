#include "shim/format/json_text.h"

#include <cstdint>
#include <optional>

namespace perdure {
namespace {

constexpr int depth_max = 32;  // of lists and objects, as a server takes them

// How many bytes the UTF-8 character at the front has; zero: it is none.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
    const bool surrogate = first == 0xED && byte(1) >= 0xA0;
    const bool too_large = first == 0xF4 && byte(1) >= 0x90;
    return overlong || surrogate || too_large ? 0 : length;
}

void append_control(std::string& to, unsigned char c) {
    constexpr std::string_view hex = "0123456789abcdef";
    switch (c) {
        case '\n': to += "\\n"; return;
        case '\r': to += "\\r"; return;
        case '\t': to += "\\t"; return;
        default: break;
    }
    to.append("\\u00").append(1, hex[c >> 4]).append(1, hex[c & 15]);
}

class Checker {
public:
    explicit Checker(std::string_view text) : rest_(text) {}

    bool whole() {
        skip_space();
        return value(0) && (skip_space(), rest_.empty());
    }

private:
    bool value(int depth) {
        if (rest_.empty()) return false;
        switch (rest_.front()) {
            case '{': return depth < depth_max && members(depth);
            case '[': return depth < depth_max && elements(depth);
            case '"': return string();
            case 't': return word("true");
            case 'f': return word("false");
            case 'n': return word("null");
            default: return number();
        }
    }

    bool members(int depth) {
        take('{');
        skip_space();
        if (take('}')) return true;
        do {
            skip_space();
            if (!string()) return false;
            skip_space();
            if (!take(':')) return false;
            skip_space();
            if (!value(depth + 1)) return false;
            skip_space();
        } while (take(','));
        return take('}');
    }

    bool elements(int depth) {
        take('[');
        skip_space();
        if (take(']')) return true;
        do {
            skip_space();
            if (!value(depth + 1)) return false;
            skip_space();
        } while (take(','));
        return take(']');
    }

    bool string() {
        if (!take('"')) return false;
        while (!rest_.empty()) {
            if (take('"')) return true;
            if (rest_.front() == '\\') {
                if (!escape()) return false;
                continue;
            }
            const auto length = utf8_length(rest_);
            if (length == 0 || static_cast<unsigned char>(rest_.front()) < 0x20) return false;
            rest_.remove_prefix(length);
        }
        return false;
    }

    bool escape() {
        take('\\');
        if (rest_.empty()) return false;
        const char kind = rest_.front();
        rest_.remove_prefix(1);
        if (kind != 'u') return std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos;
        const auto unit = four_hex();
        if (!unit || *unit == 0 || (*unit >= 0xDC00 && *unit < 0xE000)) return false;
        if (*unit < 0xD800 || *unit >= 0xE000) return true;
        if (!take('\\') || !take('u')) return false;
        const auto low = four_hex();
        return low && *low >= 0xDC00 && *low < 0xE000;
    }

    std::optional<std::uint32_t> four_hex() {
        if (rest_.size() < 4) return std::nullopt;
        std::uint32_t unit = 0;
        for (const char c : rest_.substr(0, 4)) {
            const auto lower = static_cast<char>(c | 0x20);
            const bool letter = lower >= 'a' && lower <= 'f';
            if (!letter && (c < '0' || c > '9')) return std::nullopt;
            unit = unit * 16 + static_cast<std::uint32_t>(letter ? lower - 'a' + 10 : c - '0');
        }
        rest_.remove_prefix(4);
        return unit;
    }

    bool number() {
        take('-');
        if (!take('0') && !digits()) return false;
        if (take('.') && !digits()) return false;
        if (!take('e') && !take('E')) return true;
        if (!take('+')) take('-');
        return digits();
    }

    bool digits() {
        const auto before = rest_.size();
        while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9')
            rest_.remove_prefix(1);
        return rest_.size() < before;
    }

    bool word(std::string_view expected) {
        if (!rest_.starts_with(expected)) return false;
        rest_.remove_prefix(expected.size());
        return true;
    }

    bool take(char c) {
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void skip_space() {
        const auto end = rest_.find_first_not_of(" \t\r\n");
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
    }

    std::string_view rest_;
};

}  // namespace

void append_json_string(std::string& to, std::string_view bytes) {
    to += '"';
    while (!bytes.empty()) {
        const auto c = static_cast<unsigned char>(bytes.front());
        const auto length = utf8_length(bytes);
        if (c == '"' || c == '\\')
            to.append(1, '\\').append(1, bytes.front());
        else if (c < 0x20 || c == 0x7F)
            c == 0 ? to.append("\xEF\xBF\xBD") : (append_control(to, c), to);
        else if (length == 0)
            to.append("\xEF\xBF\xBD");
        else
            to.append(bytes.substr(0, length));
        bytes.remove_prefix(length == 0 ? 1 : length);
    }
    to += '"';
}

bool is_json(std::string_view text) { return Checker(text).whole(); }

}  // namespace perdure
