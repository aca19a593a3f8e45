#include "wire/base64.h"

#include <cstdint>

namespace perdure {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64_text(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t three = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            const auto byte = at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0;
            three = three << 8U | byte;
        }
        for (std::size_t i = 0; i < 4; ++i) {
            const bool padding = at + i > bytes.size();
            text += padding ? '=' : alphabet[three >> (18 - 6 * i) & 63U];
        }
    }
    return text;
}

std::optional<std::string> base64_bytes(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    for (std::size_t at = 0; at < text.size(); at += 4) {
        std::uint32_t three = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            const auto digit = alphabet.find(text[at + i]);
            three = three << 6U | static_cast<std::uint32_t>(digit & 63U);
        }
        for (std::size_t i = 0; i < 3; ++i)
            bytes += static_cast<char>(three >> (16 - 8 * i) & 255U);
    }
    if (text.ends_with("=="))
        bytes.resize(bytes.size() - 2);
    else if (text.ends_with('='))
        bytes.resize(bytes.size() - 1);
    // The one check for everything: padding in the middle, foreign characters, stray bits.
    if (base64_text(bytes) != text) return std::nullopt;
    return bytes;
}

}  // namespace perdure
