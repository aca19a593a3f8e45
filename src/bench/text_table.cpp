#include "bench/text_table.h"

#include <algorithm>

namespace perdure::bench {
namespace {

std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string columns(const std::vector<std::vector<std::string>>& lines) {
    std::vector<std::size_t> widths;
    for (const auto& line : lines) {
        widths.resize(std::max(widths.size(), line.size()));
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], width(line[i]));
    }
    std::string text;
    for (const auto& line : lines) {
        for (std::size_t i = 0; i + 1 < line.size(); ++i)
            text += line[i] + std::string(widths[i] - width(line[i]) + 2, ' ');
        text += (line.empty() ? "" : line.back()) + "\n";
    }
    return text;
}

}  // namespace perdure::bench
