// A configuration file as a flat list: key, value, line. Knows TOML, and nothing about settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/value.h"

namespace perdure {

struct FileEntry {
    std::string name;  // dotted: "worker.slots"
    Value value;
    std::size_t line = 0;
    bool is_json = false;  // a list of other things than texts: the value is its JSON
    std::vector<std::size_t> element_lines = {};  // of a list
    bool is_flag = false;                         // true or false, as a text
};

// `path` is only for messages. What is not TOML is refused with its line.
Result<std::vector<FileEntry>> read_toml(std::string_view text, const std::string& path);

}  // namespace perdure
