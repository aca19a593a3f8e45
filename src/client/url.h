// Where a server is: http://HOST[:PORT] or unix:PATH, nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

struct Url {
    std::string host;  // without the brackets of an IPv6 address
    std::uint16_t port = 7373;
    std::string socket = {};  // path of a unix socket, instead of both

    std::string text() const;   // as it stands in a Host header
    std::string whole() const;  // as people write it
};

// invalid, with a sentence, if it is something else.
Result<Url> read_url(std::string_view text);

}  // namespace perdure
