// JobHost: what jobs find where a worker runs them, as the worker says it. Clients and people look
// at it; a claim does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/job/resources.h"

namespace perdure {

struct JobHost {
    std::optional<Enforceable> limits;  // empty if the worker has not said
    std::optional<std::uint32_t> uid;   // of their processes; empty if it differs, or is not said
    // A mark of the file system that they see: where it is equal, a path means the same file.
    // Empty if that is not known.
    std::string files;

    friend bool operator==(const JobHost&, const JobHost&) = default;
};
inline constexpr std::size_t files_mark_max = 200;

}  // namespace perdure
