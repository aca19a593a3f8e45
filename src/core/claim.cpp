#include "core/claim.h"

#include "core/presence.h"

#include <algorithm>

namespace perdure {
namespace {

bool lists(const std::vector<std::string>& names, const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool matches(const Offer& offer, const Shape& shape) {
    return offer.tenant == shape.tenant && lists(offer.queues, shape.queue) &&
           lists(offer.kinds, shape.kind);
}

ClaimantDecision decide_claimant(const ClaimantFacts& f, const Timing& timing) {
    if (!f.session_is_open) return {false, "O1/session_ended"};
    if (!f.stream_is_current) return {false, "O6/older_stream"};
    if (f.clock.now >= f.lease_deadline) return {false, "O3/lease_over"};
    if (is_silent(f.heard_at, f.clock.now, timing)) return {false, "O3/suspect_silent"};
    if (f.unconfirmed_start) return {false, "O3/suspect_unconfirmed_start"};
    return {true, "O3/live"};
}

std::vector<Thing> things_of(const JobSpec& spec) {
    std::vector<Thing> things;
    if (spec.key) things.push_back({Thing::Kind::key, spec.tenant, *spec.key});
    for (const auto& limit : spec.limits)
        things.push_back({Thing::Kind::limit, spec.tenant, limit});
    // One order for everybody: no two claims wait for each other's rows.
    std::sort(things.begin(), things.end());
    things.erase(std::unique(things.begin(), things.end()), things.end());
    return things;
}

AdmissionDecision decide_admission(const AdmissionFacts& f) {
    using Kind = AdmissionDecision::Kind;
    if (f.queue_paused) return {Kind::skip, std::nullopt, "C4/queue_paused"};
    if (f.avoids_this_worker) return {Kind::skip, std::nullopt, "policy/another_worker"};
    for (const auto& t : f.things) {
        if (!t.held_by_this_job && t.taken >= t.max) return {Kind::block, t.thing, "C4/taken"};
    }
    return {Kind::admit, std::nullopt, "C4/free"};
}

}  // namespace perdure
