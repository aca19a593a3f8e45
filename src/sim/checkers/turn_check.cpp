// E7: a job that can be taken is passed over by every other queue at most twice its weight,
// and within its queue by every other share at most twice, while its own is not claimed from
// (core/job/turns.h). Turns begin anew with the store's working set: once more is allowed for that.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/ownership/claim.h"
#include "sim/checkers/checker.h"

namespace perdure::sim {
namespace {

constexpr std::uint32_t passes_allowed = 4;  // for a weight of 1

bool are_of_one_queue(const JobSpec& a, const JobSpec& b) {
    return a.tenant == b.tenant && a.queue == b.queue;
}

}  // namespace

// Several claims may be seen at once, and nobody knows which was first: a line that was served by
// one of them was not passed over, nor was a job that may have come after them.
void Checker::check_turns() {
    const auto taken = std::exchange(taken_, {});
    for (const auto& each : taken) note_served(*each.spec);
    for (const auto& each : taken)
        if (!each.may_be_first_in_line) check_passes(each, taken);
    waited_.clear();
    for (const auto& [id, known] : known_)
        if (known.state == JobState::ready && known.epoch == Epoch{}) waited_.insert(id);
}

void Checker::check_passes(const Taken& by, const std::vector<Taken>& all) {
    for (const auto id : waited_) {
        const auto& other = known_.at(id);
        if (other.state != JobState::ready || other.epoch != Epoch{} || !other.spec) continue;
        const auto& spec = *other.spec;
        const bool could_be_taken = spec.priority == by.spec->priority && !spec.needs_holders() &&
                                    matches(by.offer, shape_of(spec)) &&
                                    !parts_.history.may_be_paused(spec.tenant, spec.queue);
        if (!could_be_taken) continue;
        const bool same_queue = spec.queue == by.spec->queue;
        const bool is_served = std::any_of(all.begin(), all.end(), [&](const Taken& each) {
            const bool same_share = each.spec->share == spec.share;
            return are_of_one_queue(*each.spec, spec) && (!same_queue || same_share);
        });
        if (is_served) continue;
        const auto now = parts_.job(id);
        if (!now || now->state != JobState::ready) continue;
        const auto line = same_queue ? LineName{"", by.spec->share} : LineName{by.spec->queue};
        const auto passes = ++passes_[id][line];
        const auto weight = same_queue ? 1 : parts_.plan.weights.of(by.spec->queue);
        if (passes > passes_allowed * weight)
            report("E7", fmt::format("{} of queue {} and share \"{}\" was passed over {} times for "
                                     "queue {} and share \"{}\"",
                                     id.text(), spec.queue, spec.share, passes, by.spec->queue,
                                     by.spec->share));
    }
}

// A job that waits there has had a turn: what passed it over before counts no more.
void Checker::note_served(const JobSpec& taken) {
    for (auto at = passes_.begin(); at != passes_.end();) {
        const auto& known = known_.at(at->first);
        const bool same_queue = are_of_one_queue(*known.spec, taken);
        const bool is_served = same_queue && known.spec->share == taken.share;
        if (same_queue)
            std::erase_if(at->second, [](const auto& pass) { return !pass.first.queue.empty(); });
        at = is_served || known.state != JobState::ready ? passes_.erase(at) : std::next(at);
    }
}

}  // namespace perdure::sim
