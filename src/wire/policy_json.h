// A job's policy as JSON: a name, or a base with the author's own rules (docs/protocol/http.md).
#pragma once

#include <array>
#include <string_view>

#include "core/policy/policy.h"
#include "wire/json_reader.h"
#include "wire/json_writer.h"

namespace perdure {

inline constexpr std::array<std::string_view, 3> growth_names = {"constant", "linear",
                                                                 "exponential"};

// Shape and words; whether the rules make sense is find_rule_fault()'s to say. A name that is not
// built in is kept in `custom`: the server looks it up. Replaces name, custom and rules only.
void read_policy(const JsonCursor& at, PolicyChoice& into);

// One value: a name, or an object if there are rules.
void write_policy(JsonWriter& out, const PolicyChoice& policy);
void write_rules(JsonWriter& out, const std::vector<CustomRule>& rules);

}  // namespace perdure
