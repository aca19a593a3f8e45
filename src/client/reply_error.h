// What a server's refusal says, as an Error again.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "client/http_link.h"

namespace perdure {

struct Refusal {
    Error error;
    std::string path;
};
// Of an answer with a status of 400 or more. One that is not in our format is told by its status.
Refusal read_refusal(unsigned status, std::string_view body);

}  // namespace perdure
