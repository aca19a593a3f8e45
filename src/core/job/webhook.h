// Webhooks: which receivers may be spoken to, and what an answer means. A worker stands inside
// somebody's network, and the URLs come from all who submit jobs: an address that is not public
// is spoken to only if the worker's settings list its network.
//   decide_destination()  over the address that is connected to, never over a name
//   decide_delivery()     over what became of one try
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/policy/cause.h"

namespace perdure {

inline constexpr std::string_view webhook_kind = "perdure.webhook";
inline constexpr Duration webhook_try_max = seconds(15);
inline constexpr Duration webhook_total = hours(24);  // if its author gives no total timeout
inline constexpr std::size_t webhook_answer_max = 64 * 1024;

// An address of either family, most significant byte first; an IPv4 one is the first four bytes.
struct IpAddress {
    bool v6 = false;
    std::array<std::uint8_t, 16> bytes{};
    friend bool operator==(const IpAddress&, const IpAddress&) = default;
};
std::optional<IpAddress> parse_address(std::string_view text);

// "10.0.0.0/8", "fd00::/8"; an address alone is a network of one.
struct Network {
    IpAddress address;
    unsigned bits = 0;
    bool contains(const IpAddress& other) const;
};
std::optional<Network> parse_network(std::string_view text);

// Below 1024 services listen that understand lines of text, such as mail: not for webhooks.
constexpr bool is_webhook_port(std::uint16_t port) {
    return port == 80 || port == 443 || port >= 1024;
}

struct DestinationFacts {
    IpAddress address;
    std::uint16_t port = 0;
    const std::vector<Network>* allowed = nullptr;  // webhooks.allow_private of this worker
};
struct DestinationDecision {
    bool allowed = false;
    std::string_view rule;
    std::string_view what;  // the address is, if it is refused: "private", "loopback", …
};
DestinationDecision decide_destination(const DestinationFacts& facts);

// What became of one try. Without a status there was no answer that could be understood.
struct DeliveryFacts {
    std::optional<unsigned> status;
};
struct DeliveryDecision {
    bool delivered = false;
    Cause cause = Cause::disconnected;
    std::string_view rule;
};
DeliveryDecision decide_delivery(const DeliveryFacts& facts);

}  // namespace perdure
