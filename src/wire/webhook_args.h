// The args of a webhook job. Read when it is submitted, so that what can never be sent is refused
// at once, and again by the worker that sends it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "wire/webhook_target.h"

namespace perdure {

struct WebhookArgs {
    Target target;
    std::optional<std::string> body;  // JSON
    std::string secret;               // the name of one; empty: not signed
    std::vector<std::pair<std::string, std::string>> headers;
};

// invalid: they are not like {"url": "https://…", "body": …, "headers": {…}, "secret": "name"}.
Result<WebhookArgs> parse_webhook_args(std::string_view args);

}  // namespace perdure
