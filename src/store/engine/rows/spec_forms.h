// Specs and policies as earlier releases wrote them, with every field. They are read, never
// written.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/job/job.h"
#include "store/engine/rows/bytes.h"

namespace perdure::store {

inline constexpr std::uint64_t last_full_form = 4;

// What follows the number of the form. `nested` decodes the spec of a callback.
JobSpec get_full_spec(ByteReader& in, std::uint64_t form,
                      const std::function<JobSpec(std::string_view)>& nested);
PolicyChoice get_full_policy(ByteReader& in, std::uint64_t form);

}  // namespace perdure::store
