#include "drill/drill_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace perdure::drill {
namespace {

constexpr std::size_t quick_runs = 2;
constexpr std::size_t runs_max = 1000;

bool* flag_of(Options& options, const std::string& word) {
    if (word == "--json") return &options.json;
    if (word == "--list") return &options.list;
    if (word == "--quick") return &options.quick;
    if (word == "--keep") return &options.keep;
    if (word == "--live") return &options.live;
    if (word == "--colour") return &options.colour;
    return nullptr;
}

bool is_known(const std::string& name) {
    return std::any_of(rows().begin(), rows().end(),
                       [&](const Row& row) { return row.name == name; });
}

Result<void> take(Options& options, const std::string& word, const std::string& value) {
    if (word == "--dir") return options.directory = value, Result<void>{};
    if (word == "--only") {
        if (!is_known(value))
            return error(Errc::invalid,
                         fmt::format("there is no failure `{}`; see perdure drill --list", value));
        return options.only.push_back(value), Result<void>{};
    }
    std::size_t number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    if (read.ec != std::errc() || read.ptr != value.data() + value.size() || number == 0 ||
        number > runs_max)
        return error(Errc::invalid, fmt::format("--runs takes 1 to {}, not `{}`", runs_max, value));
    options.runs = number;
    return {};
}

}  // namespace

std::vector<const Row*> Options::chosen() const {
    std::vector<const Row*> chosen;
    for (const auto& row : rows()) {
        const bool named = std::find(only.begin(), only.end(), row.name) != only.end();
        if (only.empty() ? (!quick || row.quick) : named) chosen.push_back(&row);
    }
    return chosen;
}

Result<Options> read_options(const std::vector<std::string>& words) {
    Options options;
    bool counted = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto& word = words[i];
        const bool takes_value = word == "--only" || word == "--dir" || word == "--runs";
        if (auto* flag = flag_of(options, word)) {
            *flag = true;
        } else if (takes_value && i + 1 < words.size()) {
            counted = counted || word == "--runs";
            if (auto taken = take(options, word, words[++i]); !taken) return taken.error();
        } else {
            return error(Errc::invalid, "`" + word + "` is not understood; try --help");
        }
    }
    if (options.quick && !counted) options.runs = quick_runs;
    return options;
}

}  // namespace perdure::drill
