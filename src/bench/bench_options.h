// What `perdure bench` can be asked for.
// Unknown words are refused.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace perdure::bench {

struct Options {
    bool json = false;
    bool quick = false;    // small counts: a look, not a figure
    bool backlog = false;  // also with a million jobs
    bool scale = false;    // instead of all that: costs that must not grow
    bool keep = false;     // leave the files
    bool help = false;
    std::string directory = "/var/tmp";

    // With `scale` only.
    std::vector<std::string> names;   // of measures; none: all of them
    std::size_t waiting = 1'000'000;  // jobs, in batches of 1,000
    double time_limit_s = 30;         // for each case of a measure
};

// `measures`: the names that there are.
Result<Options> read_options(const std::vector<std::string>& words,
                             const std::vector<std::string>& measures);
std::string help_text();

}  // namespace perdure::bench
