// E7: whoever waits and can be taken is passed over by every other queue at most twice its weight,
// and within its queue by every other share at most twice, while its own is not claimed from
// (core/turns.h). Turns begin anew with the store's working set: once more is allowed for that.
#include <fmt/format.h>

#include <iterator>

#include "core/claim.h"
#include "sim/checkers/checker.h"

namespace perdure::sim {
namespace {

constexpr std::uint32_t passes_allowed = 4;  // for a weight of 1

}  // namespace

void Checker::check_turns(const JobView& job, const Known& before, const Offer& offer) {
    const auto& taken = *job.spec;
    note_served(taken);
    if (before.epoch != Epoch{}) return;  // it may have been first in line (E6)
    for (const auto& [id, other] : known_) {
        if (other.state != JobState::ready || other.epoch != Epoch{} || !other.spec) continue;
        const auto& spec = *other.spec;
        const bool is_passed_over = spec.priority == taken.priority && !spec.needs_holders() &&
                                    matches(offer, shape_of(spec)) &&
                                    (spec.queue != taken.queue || spec.share != taken.share) &&
                                    !parts_.history.may_be_paused(spec.tenant, spec.queue);
        if (!is_passed_over) continue;
        const auto now = parts_.job(id);
        if (!now || now->state != JobState::ready) continue;
        const bool same_queue = spec.queue == taken.queue;
        auto& passes = passes_[id][same_queue ? LineName{"", taken.share} : LineName{taken.queue}];
        const auto weight = same_queue ? 1 : parts_.plan.weights.of(taken.queue);
        if (++passes > passes_allowed * weight)
            report("E7", fmt::format("{} of queue {} and share \"{}\" was passed over {} times for "
                                     "queue {} and share \"{}\"",
                                     id.text(), spec.queue, spec.share, passes, taken.queue,
                                     taken.share));
    }
}

// Whoever waits there has had a turn: what passed it over before counts no more.
void Checker::note_served(const JobSpec& taken) {
    for (auto at = passes_.begin(); at != passes_.end();) {
        const auto& known = known_.at(at->first);
        const bool same_queue =
            known.spec->tenant == taken.tenant && known.spec->queue == taken.queue;
        const bool is_served = same_queue && known.spec->share == taken.share;
        if (same_queue)
            std::erase_if(at->second, [](const auto& pass) { return !pass.first.queue.empty(); });
        at = is_served || known.state != JobState::ready ? passes_.erase(at) : std::next(at);
    }
}

}  // namespace perdure::sim
