// The parser: from words to a command with its arguments, going by the descriptions in command.h.
// Exceptions of the library end here.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/args.h"
#include "cli/command.h"

namespace perdure::cli {

struct ParsedCommand {
    const Command* command = nullptr;
    Args args;
};
// Somebody asked for help: it is data.
struct HelpText {
    std::string text;
};

// `words` without the program's name. invalid: a sentence, with a suggestion where one is near.
Result<std::variant<ParsedCommand, HelpText>> parse_command_line(std::vector<std::string> words);

}  // namespace perdure::cli
