#include "bench/bench_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace perdure::bench {
namespace {

constexpr std::size_t waiting_step = 1000;  // a batch
constexpr std::size_t waiting_max = 100'000'000;
constexpr std::size_t time_limit_max_s = 86'400;

bool* flag_of(Options& options, const std::string& word) {
    if (word == "--json") return &options.json;
    if (word == "--quick") return &options.quick;
    if (word == "--backlog") return &options.backlog;
    if (word == "--scale") return &options.scale;
    if (word == "--keep") return &options.keep;
    if (word == "--help") return &options.help;
    return nullptr;
}

// A whole number from 1 to `max`.
std::optional<std::size_t> number_of(const std::string& word, std::size_t max) {
    std::size_t number = 0;
    const auto* end = word.data() + word.size();
    const auto [rest, failed] = std::from_chars(word.data(), end, number);
    if (failed != std::errc() || rest != end || number == 0 || number > max) return std::nullopt;
    return number;
}

bool take_value(Options& options, const std::string& word, const std::string& value) {
    if (word == "--dir") {
        options.directory = value;
        return true;
    }
    if (word == "--waiting") {
        const auto number = number_of(value, waiting_max);
        if (number) options.waiting = (*number + waiting_step - 1) / waiting_step * waiting_step;
        return number.has_value();
    }
    const auto number =
        word == "--time-limit" ? number_of(value, time_limit_max_s) : std::optional<std::size_t>();
    if (number) options.time_limit_s = static_cast<double>(*number);
    return number.has_value();
}

Result<void> check_together(const Options& options, const std::vector<std::string>& measures) {
    if (options.scale && (options.quick || options.backlog))
        return error(Errc::invalid, "--scale goes with neither --quick nor --backlog");
    const Options standard;
    if (!options.scale &&
        (options.waiting != standard.waiting || options.time_limit_s != standard.time_limit_s))
        return error(Errc::invalid, "--waiting and --time-limit go with --scale");
    for (const auto& name : options.names) {
        if (!options.scale)
            return error(Errc::invalid, "`" + name + "` is not understood; try --help");
        if (std::find(measures.begin(), measures.end(), name) == measures.end())
            return error(Errc::invalid, fmt::format("there is no measure `{}`; there are {}", name,
                                                    fmt::join(measures, ", ")));
    }
    return {};
}

}  // namespace

Result<Options> read_options(const std::vector<std::string>& words,
                             const std::vector<std::string>& measures) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (auto* flag = flag_of(options, words[i])) {
            *flag = true;
        } else if (!words[i].starts_with("-")) {
            options.names.push_back(words[i]);
        } else if (i + 1 < words.size() && take_value(options, words[i], words[i + 1])) {
            ++i;
        } else {
            return error(Errc::invalid, "`" + words[i] + "` is not understood; try --help");
        }
    }
    if (auto fine = check_together(options, measures); !fine) return fine.error();
    return options;
}

std::string help_text() {
    return "perdure bench [--json] [--quick] [--backlog] [--keep] [--dir DIR]\n"
           "perdure bench --scale [NAME...] [--waiting N] [--time-limit SECONDS] [--json]\n"
           "Measures what this machine can do at all, then Perdure on it.\n"
           "  --json                one object for programs\n"
           "  --quick               small counts: a look, not a figure\n"
           "  --backlog             also with a million jobs; takes minutes\n"
           "  --scale               instead: costs that must not grow; all, or those named\n"
           "  --waiting N           with --scale: how many jobs wait; a million if left out\n"
           "  --time-limit SECONDS  with --scale: when a case gives up; 30 if left out\n"
           "  --keep                leave the files\n"
           "  --dir DIR             where to measure, on a real disk; /var/tmp if left out\n";
}

}  // namespace perdure::bench
