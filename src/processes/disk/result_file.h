// The text of result.json, read: how an attempt ended, and the evidence. Unknown members are
// ignored; a text that is cut short, or says something impossible, is corrupt.
#pragma once

#include <string_view>

#include "base/result.h"
#include "core/explain/evidence.h"
#include "core/policy/cause.h"

namespace perdure {

struct ReadResult {
    AttemptEnd end;
    EvidenceRef evidence;
};

Result<ReadResult> parse_result(std::string_view text);

}  // namespace perdure
