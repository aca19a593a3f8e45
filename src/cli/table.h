// Table: aligned columns for people. Cut to the width of a terminal, the last column first, then
// the widest ones but the first; what is piped is whole.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace perdure::cli {

struct Cell {
    Cell(std::string t, Colour c = Colour::plain) : text(std::move(t)), colour(c) {}
    Cell(const char* t) : text(t) {}

    std::string text;
    Colour colour = Colour::plain;
};

class Table {
public:
    explicit Table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

    void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
    bool empty() const { return rows_.empty(); }
    std::string text(const Terminal& terminal) const;

private:
    std::vector<std::string> headings_;
    std::vector<std::vector<Cell>> rows_;
};

// Characters, not bytes. Every one counts as one column.
std::size_t columns_of(std::string_view text);
// At most `most` characters; what is cut ends with "…". Control characters become "·", so that no
// name of a job can play with the terminal.
std::string fitted(std::string_view text, std::size_t most = std::string_view::npos);

}  // namespace perdure::cli
