// Command: one command of the command line as data: its words, options, help and what it does.
// Parser, help, shell completion and docs/cli.md all go by these descriptions.
#pragma once

#include <string_view>
#include <vector>

#include "base/exit_code.h"

namespace perdure::cli {

struct Context;

struct Word {
    std::string_view name;  // "id"
    std::string_view help;
    enum class How { one, optional, many, any } how = How::one;
};

struct Option {
    std::string_view name;   // "--queue" or "-f,--follow"
    std::string_view value;  // "NAME"; empty: a flag without value
    std::string_view help;
    bool repeated = false;

    // The name under which Args has it: "queue".
    std::string_view key() const { return name.substr(name.rfind("--") + 2); }
};

struct Command {
    std::string_view path;     // "job show"
    std::string_view group;    // heading in the list of commands; empty: hidden
    std::string_view summary;  // one line
    std::string_view example;  // one or several lines
    std::vector<Word> words;
    std::vector<Option> options;
    std::vector<std::string_view> settings;  // that have a flag here
    bool takes_command = false;              // `-- CMD...`
    ExitCode (*run)(Context&) = nullptr;     // null: only a family of commands
};

// Where the server is found, and what is shown to it.
inline const std::vector<std::string_view> server_settings = {"server.urls", "data",
                                                              "server.token_file"};

// Every command has these besides its own.
const std::vector<Option>& common_options();
// All commands, in the order in which they are listed.
const std::vector<Command>& commands();
const Command* find_command(std::string_view path);

}  // namespace perdure::cli
