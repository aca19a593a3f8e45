// A policy from JSON text, complete: read, and its rules checked.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/policy/policy.h"

namespace perdure {

// The place that is to blame, like "rules[2].causes[0]"; empty: the whole.
struct PolicyParseError {
    std::string place;
    std::string what;
};

// invalid policies leave `into` half read.
std::optional<PolicyParseError> read_policy_text(std::string_view json, PolicyChoice& into);
std::string policy_text(const PolicyChoice& policy);

}  // namespace perdure
