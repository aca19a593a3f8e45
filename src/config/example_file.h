// A perdure.toml with every setting: its meaning, and its default behind a `#`. Made from the table
// of settings, so that it cannot be out of date.
#pragma once

#include <string>

namespace perdure {

std::string example_file();

}  // namespace perdure
