#include "cli/table.h"

#include <algorithm>

namespace perdure::cli {
namespace {

constexpr std::string_view gap = "  ";
constexpr std::size_t column_least = 3;
constexpr std::size_t last_least = 8;
constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Columns that are too many for the terminal lose letters, always the widest one; the first, which
// is the name or id, loses none, and none gets narrower than can be read.
void make_fit(std::vector<std::size_t>& widths, std::size_t width) {
    const auto wanted = [&] {
        std::size_t sum = last_least;
        for (std::size_t i = 0; i + 1 < widths.size(); ++i) sum += widths[i] + gap.size();
        return sum;
    };
    while (widths.size() > 2 && wanted() > width) {
        const auto widest = std::max_element(widths.begin() + 1, widths.end() - 1);
        if (*widest <= column_least) return;
        --*widest;
    }
}

// Where even that is too much, the last columns are left out.
std::size_t columns_that_fit(const std::vector<std::size_t>& widths, std::size_t width) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const bool last = i + 1 == widths.size();
        sum += last ? column_least : widths[i];
        if (sum > width && i > 0) return i;
        sum += gap.size();
    }
    return widths.size();
}

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

    const auto width = terminal.look().width;
    if (width > 0) make_fit(widths, width);
    std::size_t before_last = 0;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) before_last += widths[i] + gap.size();
    const auto last_room = width > before_last ? width - before_last : unlimited;
    const auto columns = width > 0 ? columns_that_fit(widths, width) : widths.size();

    std::string made;
    const auto add_row = [&](const auto& row, auto text_of, auto colour_of) {
        for (std::size_t i = 0; i < columns; ++i) {
            const auto room = i + 1 == widths.size() ? last_room : widths[i];
            const auto shown = fitted(text_of(row[i]), room);
            made += terminal.paint(shown, colour_of(row[i]));
            if (i + 1 == columns) break;
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
