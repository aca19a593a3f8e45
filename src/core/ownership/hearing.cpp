#include "core/ownership/hearing.h"

#include <algorithm>

#include "base/zoo.h"

namespace perdure {
namespace {

HearingDecision after_unconfirmed(const HearingFacts& f, const Timing& timing) {
    auto hearing = f.known;
    // Its next try was put off when it was claimed.
    if (hearing.is_deaf()) return {hearing, false, "O3/still_deaf"};
    auto& jobs = hearing.unconfirmed;
    const bool known = std::find(jobs.begin(), jobs.end(), f.job) != jobs.end();
    if (known) return {hearing, false, "O3/the_same_job"};
    jobs.push_back(f.job);
    if (jobs.size() < deaf_after || zoo(Bug::deaf_worker_not_noticed))
        return {hearing, false, "O3/unconfirmed"};
    jobs.clear();
    hearing.wait = timing.deaf_wait;
    hearing.claims_from = f.now + hearing.wait;
    return {hearing, true, "O3/deaf"};
}

HearingDecision after_claim(const HearingFacts& f, const Timing& timing) {
    auto hearing = f.known;
    if (!hearing.is_deaf()) return {hearing, false, "O3/live"};
    hearing.wait = std::min(hearing.wait * 2, timing.deaf_wait_max);
    hearing.claims_from = f.now + hearing.wait;
    return {hearing, false, "O3/tried"};
}

}  // namespace

bool is_unconfirmed_start(const AttemptEnd& end, const Sighting& seen) {
    if (end.cause != Cause::evicted || end.ran == Ran::yes) return false;
    return seen.detector == Detector::confirmation || seen.detector == Detector::heartbeat;
}

HearingDecision decide_hearing(const HearingFacts& f, const Timing& timing) {
    switch (f.event) {
        case HearingFacts::Event::unconfirmed: return after_unconfirmed(f, timing);
        case HearingFacts::Event::claimed: return after_claim(f, timing);
        case HearingFacts::Event::confirmed: break;
    }
    return {Hearing{}, false, "O3/hears"};
}

}  // namespace perdure
