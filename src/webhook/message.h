// Message: what one webhook job sends, made from its assignment. Pure: the same assignment gives
// the same message, and so every try of it has the same id.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "wire/webhook_target.h"
#include "wire/worker_protocol.h"

namespace perdure {

struct Message {
    Target target;
    std::string id;      // webhook-id: of what it tells of, so that receivers know repetitions
    std::string body;    // JSON
    std::string secret;  // the name of one; empty: not signed
    std::vector<std::pair<std::string, std::string>> headers;
};

// invalid: its args are not like {"url": "https://…", "body": …, "headers": {…}, "secret": "name"}.
// One that waited for one job alone, like a callback, needs no body: it tells how that job ended.
Result<Message> message_for(const Assignment& assignment);

}  // namespace perdure
