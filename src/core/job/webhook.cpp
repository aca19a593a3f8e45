#include "core/job/webhook.h"

#include <arpa/inet.h>

#include <charconv>
#include <string>

namespace perdure {
namespace {

struct SpecialNetwork {
    std::string_view network;
    std::string_view what;
};

// What is not a public host's, from the registries of special-purpose addresses (RFC 6890 and its
// successors). The first that fits names it.
constexpr std::array special_v4 = {
    SpecialNetwork{"0.0.0.0/8", "unspecified"},
    SpecialNetwork{"10.0.0.0/8", "private"},
    SpecialNetwork{"100.64.0.0/10", "shared by a carrier (CGNAT)"},
    SpecialNetwork{"127.0.0.0/8", "loopback"},
    SpecialNetwork{"169.254.0.0/16", "link-local"},
    SpecialNetwork{"172.16.0.0/12", "private"},
    SpecialNetwork{"192.0.0.0/24", "reserved"},
    SpecialNetwork{"192.0.2.0/24", "for documentation"},
    SpecialNetwork{"192.88.99.0/24", "reserved"},
    SpecialNetwork{"192.168.0.0/16", "private"},
    SpecialNetwork{"198.18.0.0/15", "for measurements"},
    SpecialNetwork{"198.51.100.0/24", "for documentation"},
    SpecialNetwork{"203.0.113.0/24", "for documentation"},
    SpecialNetwork{"224.0.0.0/4", "multicast"},
    SpecialNetwork{"240.0.0.0/4", "reserved"},
};
// Public ones are in 2000::/3; some of those carry an IPv4 address inside, which could be any.
constexpr std::array special_v6 = {
    SpecialNetwork{"::1", "loopback"},
    SpecialNetwork{"::", "unspecified"},
    SpecialNetwork{"::ffff:0:0/96", "an IPv4 address in disguise"},
    SpecialNetwork{"64:ff9b::/96", "an IPv4 address in disguise"},
    SpecialNetwork{"fc00::/7", "private"},
    SpecialNetwork{"fe80::/10", "link-local"},
    SpecialNetwork{"ff00::/8", "multicast"},
    SpecialNetwork{"2001::/32", "an IPv4 address in disguise"},
    SpecialNetwork{"2001::/23", "reserved"},
    SpecialNetwork{"2001:db8::/32", "for documentation"},
    SpecialNetwork{"2002::/16", "an IPv4 address in disguise"},
    SpecialNetwork{"3fff::/20", "for documentation"},
};

// Empty: it is public.
std::string_view what_is(const IpAddress& address) {
    const auto fits = [&](const SpecialNetwork& special) {
        return parse_network(special.network)->contains(address);
    };
    if (!address.v6) {
        for (const auto& special : special_v4)
            if (fits(special)) return special.what;
        return {};
    }
    for (const auto& special : special_v6)
        if (fits(special)) return special.what;
    return (address.bytes[0] & 0xe0) == 0x20 ? std::string_view{} : "reserved";
}

}  // namespace

std::optional<IpAddress> parse_address(std::string_view text) {
    // A text with a zero byte inside must not be taken for what stands before it.
    if (text.find('\0') != std::string_view::npos) return std::nullopt;
    IpAddress address{.v6 = text.find(':') != std::string_view::npos};
    const auto family = address.v6 ? AF_INET6 : AF_INET;
    if (::inet_pton(family, std::string(text).c_str(), address.bytes.data()) != 1)
        return std::nullopt;
    return address;
}

bool Network::contains(const IpAddress& other) const {
    if (other.v6 != address.v6) return false;
    for (unsigned bit = 0; bit < bits; ++bit) {
        const auto mask = static_cast<std::uint8_t>(0x80U >> (bit % 8));
        if ((address.bytes[bit / 8] & mask) != (other.bytes[bit / 8] & mask)) return false;
    }
    return true;
}

std::optional<Network> parse_network(std::string_view text) {
    const auto slash = text.find('/');
    const auto address = parse_address(text.substr(0, slash));
    if (!address) return std::nullopt;
    const unsigned all = address->v6 ? 128 : 32;
    if (slash == std::string_view::npos) return Network{*address, all};
    const auto length = text.substr(slash + 1);
    unsigned bits = 0;
    const auto* end = length.data() + length.size();
    const auto parsed = std::from_chars(length.data(), end, bits);
    if (parsed.ec != std::errc{} || parsed.ptr != end || bits > all) return std::nullopt;
    return Network{*address, bits};
}

DestinationDecision decide_destination(const DestinationFacts& f) {
    if (!is_webhook_port(f.port))
        return {false, "webhook/port", "asked at a port that is not for webhooks"};
    const auto what = what_is(f.address);
    if (what.empty()) return {true, "webhook/public", {}};
    if (f.allowed)
        for (const auto& network : *f.allowed)
            if (network.contains(f.address)) return {true, "webhook/allowed", {}};
    return {false, "webhook/not_public", what};
}

DeliveryDecision decide_delivery(const DeliveryFacts& f) {
    if (!f.status) return {false, Cause::disconnected, "webhook/no_answer"};
    if (*f.status >= 200 && *f.status < 300) return {true, Cause::exit, "webhook/delivered"};
    // "Gone": the receiver asks not to be told any more.
    if (*f.status == 410) return {false, Cause::verdict_permanent, "webhook/gone"};
    return {false, Cause::disconnected, "webhook/refused"};
}

}  // namespace perdure
