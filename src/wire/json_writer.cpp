#include "wire/json_writer.h"

namespace perdure {
namespace {

bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

void escape(std::string& out, unsigned char c) {
    constexpr std::string_view hex = "0123456789abcdef";
    switch (c) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default:
            out += "\\u00";
            out += hex[c >> 4U];
            out += hex[c & 15U];
    }
}

// How many bytes the valid UTF-8 sequence at the beginning of `text` has; 0: it is none. Overlong
// forms, surrogates and what is beyond U+10FFFF are none.
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0);
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool overlong = first == 0xE0 && byte(1) < 0xA0;
        const bool surrogate = first == 0xED && byte(1) >= 0xA0;
        return !overlong && !surrogate && follows(1) && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool overlong = first == 0xF0 && byte(1) < 0x90;
        const bool beyond = first == 0xF4 && byte(1) >= 0x90;
        return !overlong && !beyond && follows(1) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

}  // namespace

void JsonWriter::value(std::string_view text) {
    separate();
    out_ += '"';
    std::size_t at = 0;
    while (at < text.size()) {
        const auto begin = at;
        while (at < text.size() && is_plain(static_cast<unsigned char>(text[at]))) ++at;
        out_.append(text, begin, at - begin);
        if (at == text.size()) break;
        const auto c = static_cast<unsigned char>(text[at]);
        if (c < 0x80) {
            escape(out_, c);
            ++at;
        } else if (const auto length = sequence_length(text.substr(at))) {
            out_.append(text, at, length);
            at += length;
        } else {
            out_ += "\xEF\xBF\xBD";
            ++at;
        }
    }
    out_ += '"';
    comma_ = true;
}

}  // namespace perdure
