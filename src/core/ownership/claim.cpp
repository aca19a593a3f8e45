#include "core/ownership/claim.h"

#include <algorithm>

#include "base/zoo.h"
#include "core/job/webhook.h"
#include "core/ownership/presence.h"

namespace perdure {
namespace {

bool lists(const std::vector<std::string>& names, const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

bool is_named(const Offer& offer, const Shape& shape) {
    return serves_tenant(offer, shape.tenant) && takes_queue(offer, shape.queue) &&
           takes_kind(offer, shape.kind);
}

// What the worker does by itself is done by no user.
bool may_run_it(const Offer& offer, const Shape& shape) {
    return shape.kind == webhook_kind || takes(offer.takes_from, shape.submitter);
}

}  // namespace

Shape shape_of(const JobSpec& spec) {
    return {spec.tenant, spec.queue, spec.kind, spec.share, kind_of(spec.submitted_by)};
}

bool serves_tenant(const Offer& offer, const std::string& tenant) {
    const auto& others = offer.other_tenants;
    return offer.tenant == tenant ||
           std::find(others.begin(), others.end(), tenant) != others.end();
}

bool takes_queue(const Offer& offer, const std::string& queue) {
    return lists(offer.queues, queue);
}

bool takes_kind(const Offer& offer, const std::string& kind) { return lists(offer.kinds, kind); }

bool matches(const Offer& offer, const Shape& shape) {
    return is_named(offer, shape) && may_run_it(offer, shape);
}

bool refuses_submitter(const Offer& offer, const Shape& shape) {
    return is_named(offer, shape) && !may_run_it(offer, shape);
}

ClaimantDecision decide_claimant(const ClaimantFacts& f, const Timing& timing) {
    if (!f.session_is_open) return {false, "O1/session_ended"};
    if (!f.stream_is_current) return {false, "O6/older_stream"};
    if (!f.heard_in_this_life) return {false, "T4/suspect_until_heard"};
    if (f.clock.now >= f.lease_deadline) return {false, "O3/lease_over"};
    if (is_silent(f.heard_at, f.clock.now, timing)) return {false, "O3/suspect_silent"};
    if (f.unconfirmed_start) return {false, "O3/suspect_unconfirmed_start"};
    if (!f.hearing.is_deaf()) return {true, "O3/live"};
    if (f.starting) return {false, "O3/deaf_is_being_tried"};
    if (f.clock.now < f.hearing.claims_from) return {false, "O3/deaf"};
    return {true, "O3/deaf_is_tried", 1};
}

std::vector<Permit> permits_of(const JobSpec& spec) {
    std::vector<Permit> permits;
    if (spec.key) permits.push_back({Permit::Kind::key, spec.tenant, *spec.key});
    for (const auto& limit : spec.limits)
        permits.push_back({Permit::Kind::limit, spec.tenant, limit});
    // One order for everybody: no two claims wait for each other's rows.
    std::sort(permits.begin(), permits.end());
    permits.erase(std::unique(permits.begin(), permits.end()), permits.end());
    return permits;
}

bool is_suspect(const std::optional<AttemptEnd>& newest) {
    return newest && newest->cause == Cause::suspect && newest->ran != Ran::no;
}

AdmissionDecision decide_admission(const AdmissionFacts& f, const Timing& timing) {
    using Kind = AdmissionDecision::Kind;
    if (f.queue_paused) return {Kind::skip, std::nullopt, "C4/queue_paused"};
    if (f.avoids_this_worker) return {Kind::skip, std::nullopt, "policy/another_worker"};
    // Alone it shows whether it was the one. Where every worker is always busy it must not wait
    // for ever.
    const bool wants_to_be_alone = f.suspect_for && *f.suspect_for < timing.suspect_alone;
    if (wants_to_be_alone && !f.session_is_empty && !zoo(Bug::suspect_beside_others))
        return {Kind::skip, std::nullopt, "O9/suspect_waits"};
    for (const auto& t : f.permits) {
        if (!t.held_by_this_job && t.taken >= t.max) return {Kind::block, t.permit, "C4/taken"};
    }
    return {Kind::admit, std::nullopt, "C4/free"};
}

PromotionDecision decide_promotion(const PromotionFacts& f) {
    const auto offered = std::min(f.free, promotion_window);
    // Beyond the window it is filled up by halves: not one more for each one that is claimed.
    const auto enough = f.free > promotion_window ? promotion_window / 2 : f.free;
    if (f.wanting >= enough) return {0, "C4/offered"};
    return {offered - f.wanting, "C4/free"};
}

}  // namespace perdure
