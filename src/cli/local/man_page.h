// Manual pages in roff, made from the tables of commands and settings: perdure(1), and one page for
// each command that does something.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/system.h"

namespace perdure::cli {

// The names of all pages: "perdure", "perdure-job-show".
std::vector<std::string> man_page_names();

// Empty: there is no such page.
std::string man_page(std::string_view name, const BuildFacts& build);

}  // namespace perdure::cli
