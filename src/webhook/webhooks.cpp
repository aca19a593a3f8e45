#include "webhook/webhooks.h"

#include <utility>

#include "webhook/delivery.h"
#include "webhook/message.h"

namespace perdure {

Webhooks::Webhooks(Clock& clock, WebhookOptions options)
    : shared_(std::make_shared<const Shared>(clock, std::move(options))) {}

Webhooks::~Webhooks() = default;

Result<std::shared_ptr<InProcessWork>> Webhooks::prepare(const Assignment& assignment) {
    auto message = message_for(assignment);
    if (!message) return message.error();
    return std::shared_ptr<InProcessWork>(std::make_shared<Delivery>(shared_, std::move(*message)));
}

}  // namespace perdure
