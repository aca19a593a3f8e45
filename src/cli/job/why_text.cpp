#include "cli/job/why_text.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/answer.h"
#include "cli/table.h"

namespace perdure::cli {

std::string blocker_text(const boost::json::value& blocker, WallTime now) {
    auto text = fmt::format("- {}\n", fitted(text_of(blocker, "what")));
    if (has(blocker, "removed_by"))
        text += fmt::format("  removed by: {}\n", fitted(text_of(blocker, "removed_by")));
    if (has(blocker, "in")) text += fmt::format("  by itself in {}\n", spoken_of(blocker, "in"));
    if (has(blocker, "at"))
        text += fmt::format("  by itself {}\n", relative_of(blocker, "at", now));
    return text;
}

std::string blockers_in_short(const boost::json::value& answer) {
    std::string text;
    for (const auto& blocker : list_of(answer, "blockers")) {
        text += fmt::format("\n  - {}", fitted(text_of(blocker, "what")));
        if (has(blocker, "removed_by"))
            text += fmt::format("\n    removed by: {}", fitted(text_of(blocker, "removed_by")));
    }
    return text;
}

}  // namespace perdure::cli
