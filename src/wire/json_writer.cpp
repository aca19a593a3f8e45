#include "wire/json_writer.h"

#include "wire/plain.h"
#include "wire/utf8.h"

namespace perdure {
namespace {

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

}  // namespace

void JsonWriter::value(std::string_view text) {
    separate();
    out_ += '"';
    std::size_t at = 0;
    while (at < text.size()) {
        const auto begin = at;
        const auto* plain_end = skip_plain(text.data() + at, text.data() + text.size());
        at = static_cast<std::size_t>(plain_end - text.data());
        out_.append(text, begin, at - begin);
        if (at == text.size()) break;
        const auto c = static_cast<unsigned char>(text[at]);
        if (c == 0) {  // no reader of ours takes it
            out_ += "\xEF\xBF\xBD";
            ++at;
        } else if (c < 0x80) {
            escape(out_, c);
            ++at;
        } else if (const auto length = utf8_length(text.substr(at))) {
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
