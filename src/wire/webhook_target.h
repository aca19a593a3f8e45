// Target: a receiver's URL, taken apart. Only what can be sent as it stands is accepted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

struct Target {
    bool tls = false;
    std::string host;  // a name or an address, without brackets
    std::uint16_t port = 0;
    std::string path = "/";  // with its query

    // As the header `Host` has it: without the scheme's own port.
    std::string authority() const;
    // For people: without path and query, which may hold tokens.
    std::string text() const;
};

// invalid: not http or https, a user or password in it, no host, a bad port or one that is not for
// webhooks, or a character that must be written as %XX.
Result<Target> parse_target(std::string_view url);

}  // namespace perdure
