#include "core/worker/bytes_in_flight.h"

namespace perdure {
namespace {

constexpr std::size_t peak_worth_giving_back = std::size_t{8} << 20;
constexpr unsigned looks_until_quiet = 3;

std::size_t ceiling(const BytesFacts& facts) {
    switch (facts.what) {
        case BytesFor::small: return facts.budget;
        case BytesFor::worker: return facts.budget - facts.budget / 8;
        case BytesFor::bulk: return facts.budget - facts.budget / 4;
    }
    return 0;
}

}  // namespace

BytesDecision decide_bytes(const BytesFacts& facts) {
    const auto most = ceiling(facts);
    const bool fits = facts.in_flight <= most && facts.wanted <= most - facts.in_flight;
    return fits ? BytesDecision::take : BytesDecision::refuse;
}

BytesFor bytes_for(Peer peer, std::size_t size) {
    if (size <= small_bytes_max) return BytesFor::small;
    return peer == Peer::worker ? BytesFor::worker : BytesFor::bulk;
}

PeakDecision decide_peak(const PeakFacts& facts) {
    const bool high = facts.peak >= peak_worth_giving_back;
    const bool quiet = facts.recent <= facts.peak / 4;
    if (!high || !quiet) return {};
    const auto looks = facts.quiet_looks + 1;
    if (looks < looks_until_quiet) return {.quiet_looks = looks};
    return {.give_back = true};
}

}  // namespace perdure
