// What `perdure drill` can be asked for.
// Unknown words and unknown rows are refused.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "drill/row.h"

namespace perdure::drill {

struct Options {
    bool json = false;
    bool list = false;
    bool quick = false;  // some rows, few runs: a look, not a proof
    bool keep = false;   // leave the files
    bool live = false;   // somebody looks: show what is going on
    bool colour = false;
    std::size_t runs = 5;
    std::size_t backlog = 1'000'000;
    std::string directory = "/var/tmp";
    std::vector<std::string> only;

    std::vector<const Row*> chosen() const;
};

Result<Options> read_options(const std::vector<std::string>& words);

}  // namespace perdure::drill
