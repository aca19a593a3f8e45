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
    bool keep = false;     // leave the files
    bool help = false;
    std::string directory = "/var/tmp";
};

Result<Options> read_options(const std::vector<std::string>& words);
std::string help_text();

}  // namespace perdure::bench
