#include "cli/table.h"

#include <algorithm>

namespace perdure::cli {
namespace {

constexpr std::string_view gap = "  ";
constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

void pad(std::string& line, std::size_t from, std::size_t to) {
    if (from < to) line.append(to - from, ' ');
}

}  // namespace

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return !continues_a_character(c); }));
}

std::string fitted(std::string_view text, std::size_t most) {
    const bool cut = columns_of(text) > most;
    std::size_t room = cut && most > 0 ? most - 1 : most;
    std::string made;
    for (const char c : text) {
        if (!continues_a_character(c)) {
            if (room == 0) break;
            --room;
        }
        if (is_control(c))
            made += "·";
        else
            made += c;
    }
    if (cut && most > 0) made += "…";
    return made;
}

std::string Table::text(const Terminal& terminal) const {
    std::vector<std::size_t> widths;
    for (const auto& heading : headings_) widths.push_back(columns_of(heading));
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], columns_of(row[i].text));

    std::size_t before_last = 0;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) before_last += widths[i] + gap.size();
    const auto width = terminal.look().width;
    const auto last_room = width > before_last + 8 ? width - before_last : unlimited;

    std::string made;
    const auto add_row = [&](const auto& row, auto text_of, auto colour_of) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool last = i + 1 == row.size();
            const auto shown = fitted(text_of(row[i]), last ? last_room : unlimited);
            made += terminal.paint(shown, colour_of(row[i]));
            if (last) break;
            pad(made, columns_of(shown), widths[i]);
            made += gap;
        }
        made += '\n';
    };
    add_row(
        headings_, [](const auto& h) { return h; }, [](const auto&) { return Colour::dim; });
    for (const auto& row : rows_)
        add_row(
            row, [](const Cell& c) { return c.text; }, [](const Cell& c) { return c.colour; });
    return made;
}

}  // namespace perdure::cli
