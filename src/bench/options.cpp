#include "bench/options.h"

namespace perdure::bench {
namespace {

bool* flag_of(Options& options, const std::string& word) {
    if (word == "--json") return &options.json;
    if (word == "--quick") return &options.quick;
    if (word == "--backlog") return &options.backlog;
    if (word == "--keep") return &options.keep;
    if (word == "--help") return &options.help;
    return nullptr;
}

}  // namespace

Result<Options> read_options(const std::vector<std::string>& words) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (auto* flag = flag_of(options, words[i])) {
            *flag = true;
        } else if (words[i] == "--dir" && i + 1 < words.size()) {
            options.directory = words[++i];
        } else {
            return error(Errc::invalid, "`" + words[i] + "` is not understood; try --help");
        }
    }
    return options;
}

std::string help_text() {
    return "perdure bench [--json] [--quick] [--backlog] [--keep] [--dir DIR]\n"
           "Measures what this machine can do at all, then Perdure on it.\n"
           "  --json     one object for programs\n"
           "  --quick    small counts: a look, not a figure\n"
           "  --backlog  also with a million jobs; takes minutes\n"
           "  --keep     leave the files\n"
           "  --dir DIR  where to measure, on a real disk; /var/tmp if left out\n";
}

}  // namespace perdure::bench
