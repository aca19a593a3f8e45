// columns(): cells below each other, each column as wide as its widest cell. Some cells have
// characters of several bytes.
#pragma once

#include <string>
#include <vector>

namespace perdure::bench {

// Every line has as many cells as the first. The last cell of a line is not padded.
std::string columns(const std::vector<std::vector<std::string>>& lines);

}  // namespace perdure::bench
