// The token for whoever may read the data directory, on a kernel that cannot tell who opens a
// loopback connection: `token` in that directory, mode 0600, an administrator's, new at each start.
// Where the kernel can tell there is none. The unix socket needs it nowhere.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "ports/access.h"

namespace perdure {

inline constexpr const char* local_token_name = "this-host";

// `is_needed`: the kernel cannot tell. unavailable: the file cannot be written.
Result<void> keep_local_token(const std::string& directory, Tokens& tokens, bool is_needed,
                              WallTime now);

}  // namespace perdure
