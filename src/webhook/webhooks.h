// Webhooks: the kind `perdure.webhook`, one POST of JSON for each attempt. Every try ends within 15
// seconds, whatever the receiver does; at most 64 KiB of its answer are read. Names are resolved
// once, and the very address that decide_destination() has allowed is connected to. Certificates
// are verified; redirects are not followed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/job/webhook.h"
#include "ports/clock.h"
#include "ports/in_process.h"

namespace perdure {

struct WebhookOptions {
    std::string secrets;  // directory of the secrets, one file for each name
    std::vector<Network> allow_private;
    std::string host;  // this machine's name, for the evidence
    Duration try_max = webhook_try_max;
};

class Webhooks final : public InProcessKind {
public:
    // The clock outlives it and everything it has prepared.
    Webhooks(Clock& clock, WebhookOptions options);
    ~Webhooks() override;

    Result<std::shared_ptr<InProcessWork>> prepare(const Assignment& assignment) override;

    struct Shared;  // by all deliveries

private:
    std::shared_ptr<const Shared> shared_;
};

}  // namespace perdure
