// Access: what configuration and host say about who may do what, for the processes of this program.
#pragma once

#include <memory>

#include "api/access_control.h"
#include "base/result.h"
#include "client/http_link.h"
#include "config/config.h"

namespace perdure {

// What a client or worker shows. The token comes from the file that is named, or from the
// credential `perdure-token` of a systemd unit. forbidden: others can read the file.
Result<std::shared_ptr<const Credentials>> read_credentials(const Config& config);

// Who needs no token. invalid: there is no such account.
Result<AccessOptions> read_access(const Config& config);

}  // namespace perdure
