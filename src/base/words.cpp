#include "base/words.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace perdure {
namespace {

// Levenshtein's distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        auto diagonal = row[0]++;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

// `slots` for `worker.slots`: the end of the name is what people remember.
bool is_last_part(std::string_view word, std::string_view name) {
    return name.size() > word.size() && name.ends_with(word) &&
           name[name.size() - word.size() - 1] == '.';
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
    std::string_view best;
    auto least = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const auto name : known) {
        const auto away = is_last_part(word, name) ? 0 : distance(word, name);
        if (away < least) {
            least = away;
            best = name;
        }
    }
    return best;
}

}  // namespace perdure
