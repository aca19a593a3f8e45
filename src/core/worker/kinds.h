// Kinds: what kinds of jobs a worker takes. It names them all: one whose list is empty would be
// given every kind, and fail what it cannot run.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perdure {

// The kind of jobs with a command is empty; where people list kinds, it has this name.
inline constexpr std::string_view commands_word = "commands";
inline constexpr std::string_view noop_kind = "perdure.noop";
inline constexpr std::string_view pause_kind = "perdure.sleep";
// What a worker without handlers can do.
inline constexpr std::array<std::string_view, 4> own_kinds = {"", noop_kind, pause_kind,
                                                              "perdure.webhook"};

// As a person calls it.
constexpr std::string_view spoken_kind(std::string_view kind) {
    return kind.empty() ? commands_word : kind;
}

// What it takes, of what it can do: the kinds that a person has listed; all of them if none is.
// invalid: one is listed that it cannot do.
Result<std::vector<std::string>> choose_kinds(const std::vector<std::string>& listed);

}  // namespace perdure
