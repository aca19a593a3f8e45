// What settings must be together: an instance that starts can keep its promises.
#pragma once

#include <optional>

#include "base/error.h"
#include "config/resolve.h"

namespace perdure {

// Empty if all is well; otherwise a sentence that names the setting and its place.
std::optional<Error> check_together(const Configuration& configuration);

}  // namespace perdure
