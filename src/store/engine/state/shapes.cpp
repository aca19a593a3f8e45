#include "store/engine/state/shapes.h"

#include <algorithm>

#include "base/assert.h"

namespace perdure::store {

Shapes::Shapes(const Contents& contents, Pending& pending, DamageBook& book)
    : pending_(pending), book_(book) {
    take_shapes(contents.shapes);
    for (const auto& tally : contents.tallies) take_tally(tally);
    for (auto& k : known_) k.changed = false;
    changed_.clear();
    for (const auto id : doubted_) ready_.insert(id);
    compare_with_places(contents);
    for (const auto& pause : contents.pauses)
        if (pause.paused) paused_.emplace(pause.tenant, pause.queue);
}

void Shapes::take_shapes(const std::vector<ShapeRow>& shapes) {
    const auto id_max = number_max(static_cast<std::int64_t>(shapes.size()));
    for (const auto& [id, shape] : shapes) {
        if (id < 1 || id > id_max) {
            book_.note({"shape", std::to_string(id), "its number is out of bounds"});
            continue;
        }
        if (known_.size() < static_cast<std::size_t>(id))
            known_.resize(static_cast<std::size_t>(id));
        auto& known = known_.back();
        known.shape = shape;
        const auto submitter = static_cast<int>(shape.submitter);
        if (submitter < 0 || submitter > static_cast<int>(last_submitter_kind)) {
            book_.note({"shape", std::to_string(id), "its submitter cannot be"});
            known.shape.submitter = SubmitterKind::no_account;
        }
        known.is_there = true;
        ids_[known.shape] = id;
    }
}

void Shapes::take_tally(const TallyRow& tally) {
    const auto& [shape, jobs] = tally;
    const auto index = static_cast<std::size_t>(shape) - 1;
    const bool is_known = index < known_.size() && known_[index].is_there;
    const bool is_sound = std::all_of(jobs.begin(), jobs.end(), [](std::int64_t count) {
        return count >= 0 && count <= count_max;
    });
    if (!is_known || !is_sound) {
        book_.note({"tally", std::to_string(shape), "it counts what cannot be"});
        // Whose count is missing now is not known.
        for (std::size_t i = 0; i < known_.size(); ++i)
            if (known_[i].is_there && (!is_known || i == index))
                doubted_.insert(static_cast<ShapeId>(i) + 1);
        return;
    }
    for (const auto& place : places)
        add(shape, place.state, jobs[static_cast<std::size_t>(place.state)]);
}

// A line that is not counted would never be claimed from, a blocked job never be promoted.
void Shapes::compare_with_places(const Contents& contents) {
    for (const auto id : contents.ready_shapes) {
        const auto index = static_cast<std::size_t>(id) - 1;
        const bool is_known = index < known_.size() && known_[index].is_there;
        if (is_known && count(id, JobState::ready) == 0)
            doubt(id, "it counts no ready jobs, and there are some");
    }
    if (!contents.has_blocked || total(JobState::blocked) > 0) return;
    for (std::size_t i = 0; i < known_.size(); ++i)
        if (known_[i].is_there)
            doubt(static_cast<ShapeId>(i) + 1, "nobody counts the jobs that are blocked");
}

void Shapes::doubt(ShapeId id, const char* why) {
    if (!doubted_.insert(id).second) return;
    ready_.insert(id);
    book_.note({"tally", std::to_string(id), why});
}

Shapes::Known& Shapes::known(ShapeId id) {
    const auto index = static_cast<std::size_t>(id) - 1;
    if (index >= known_.size() || !known_[index].is_there)
        fail_corrupt("its shape is not there: " + std::to_string(id));
    return known_[index];
}

ShapeId Shapes::id_of(const Shape& shape) {
    const auto found = ids_.find(shape);
    if (found != ids_.end()) return found->second;
    const auto id = static_cast<ShapeId>(known_.size()) + 1;
    pending_.change().shapes.push_back({id, shape});
    ids_[shape] = id;
    known_.push_back({.shape = shape, .is_there = true});
    return id;
}

const Shape& Shapes::shape(ShapeId id) const { return known(id).shape; }

void Shapes::add(ShapeId id, JobState state, std::int64_t jobs) {
    Known& k = known(id);
    auto& count = k.counts[static_cast<std::size_t>(state)];
    const auto before = count;
    count += jobs;
    if (count < 0) {
        doubt(id, "it counts fewer jobs than there are");
        count = 0;
    }
    totals_[static_cast<std::size_t>(state)] += static_cast<std::uint64_t>(count - before);
    if (!k.changed) changed_.push_back(id);
    k.changed = true;
    if (state != JobState::ready || (before > 0) == (count > 0)) return;
    if (count > 0) {
        ready_.insert(id);
    } else if (!doubted_.contains(id)) {
        ready_.erase(id);
    }
}

std::uint64_t Shapes::count(ShapeId id, JobState state) const {
    return static_cast<std::uint64_t>(known(id).counts[static_cast<std::size_t>(state)]);
}

bool Shapes::pause(const std::string& tenant, const std::string& queue, bool paused) {
    const bool changes =
        paused ? paused_.emplace(tenant, queue).second : paused_.erase({tenant, queue}) > 0;
    if (changes) pending_.change().pauses.push_back({tenant, queue, paused});
    return changes;
}

void Shapes::save() {
    for (const auto id : changed_) {
        Known& k = known(id);
        pending_.change().tallies.push_back({id, k.counts});
        k.changed = false;
    }
    changed_.clear();
}

}  // namespace perdure::store
