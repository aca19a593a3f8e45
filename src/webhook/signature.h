// Signatures as in Standard Webhooks: the receiver learns who has sent a message, that nobody has
// changed it, and when it was sent.
//   webhook-signature: v1,BASE64(HMAC-SHA256(secret, ID.TIMESTAMP.BODY))
// Several secrets give several signatures, with a space between: so a secret can be replaced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perdure {

// The bytes of a secret, never its text.
using Secret = std::string;

struct Signed {
    std::string_view id;
    std::int64_t timestamp = 0;  // seconds since 1970
    std::string_view body;
};
std::string signature_of(const std::vector<Secret>& secrets, const Signed& what);

// One secret for each line: `whsec_` may stand before, base 64 of 24 to 64 bytes.
// invalid: one of them is something else.
Result<std::vector<Secret>> parse_secrets(std::string_view text);

// The secrets in DIRECTORY/NAME. unavailable: no such file, or not to be read. invalid: everybody
// on the machine can read it, or it holds something else. No error quotes the content.
Result<std::vector<Secret>> read_secrets(const std::string& directory, const std::string& name);

}  // namespace perdure
