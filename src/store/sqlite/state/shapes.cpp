#include "store/sqlite/state/shapes.h"

#include "base/assert.h"

namespace perdure::sqlite {

Shapes::Shapes(Connection& c)
    : insert_(c, "INSERT INTO shape (id, tenant, queue, kind) VALUES (?, ?, ?, ?)"),
      tally_(c, "INSERT OR REPLACE INTO tally (shape, state, jobs) VALUES (?, ?, ?)"),
      pause_(c, "INSERT OR REPLACE INTO queue (tenant, queue, paused) VALUES (?, ?, ?)") {
    load(c);
}

void Shapes::load(Connection& c) {
    Statement shapes(c, "SELECT id, tenant, queue, kind FROM shape ORDER BY id");
    auto shape = shapes.query({});
    while (shape.next()) {
        known_.push_back({.shape = {shape.text(1), shape.text(2), shape.text(3)}});
        const auto id = static_cast<ShapeId>(known_.size());
        if (shape.number(0) != id) fail_corrupt("a shape is missing");
        ids_[known_.back().shape] = id;
    }
    Statement tallies(c, "SELECT shape, state, jobs FROM tally");
    auto row = tallies.query({});
    while (row.next()) {
        const auto state = row.number(1);
        if (state < 0 || state >= static_cast<std::int64_t>(places.size()))
            fail_corrupt("a tally is of no state");
        known(row.number(0)).saved[static_cast<std::size_t>(state)] = row.number(2);
        add(row.number(0), static_cast<JobState>(state), static_cast<int>(row.number(2)));
    }
    for (auto& k : known_) k.changed = false;
    changed_.clear();
    Statement queues(c, "SELECT tenant, queue FROM queue WHERE paused = 1");
    auto queue = queues.query({});
    while (queue.next()) paused_.emplace(queue.text(0), queue.text(1));
}

Shapes::Known& Shapes::known(ShapeId id) {
    const auto index = static_cast<std::size_t>(id) - 1;
    if (index >= known_.size()) fail_corrupt("a row names a shape that is not there");
    return known_[index];
}

ShapeId Shapes::id_of(const Shape& shape) {
    const auto found = ids_.find(shape);
    if (found != ids_.end()) return found->second;
    const auto id = static_cast<ShapeId>(known_.size()) + 1;
    insert_.run_one({id, shape.tenant, shape.queue, shape.kind});
    ids_[shape] = id;
    known_.push_back({.shape = shape});
    return id;
}

const Shape& Shapes::shape(ShapeId id) const { return known(id).shape; }

void Shapes::add(ShapeId id, JobState state, int jobs) {
    Known& k = known(id);
    auto& count = k.counts[static_cast<std::size_t>(state)];
    const auto before = count;
    count += jobs;
    if (count < 0) fail_corrupt("fewer jobs are counted than there are");
    totals_[static_cast<std::size_t>(state)] += static_cast<std::uint64_t>(jobs);
    if (!k.changed) changed_.push_back(id);
    k.changed = true;
    if (state != JobState::ready || (before > 0) == (count > 0)) return;
    if (count > 0) {
        ready_.insert(id);
    } else {
        ready_.erase(id);
    }
}

std::uint64_t Shapes::count(ShapeId id, JobState state) const {
    return static_cast<std::uint64_t>(known(id).counts[static_cast<std::size_t>(state)]);
}

bool Shapes::pause(const std::string& tenant, const std::string& queue, bool paused) {
    const bool changes =
        paused ? paused_.emplace(tenant, queue).second : paused_.erase({tenant, queue}) > 0;
    if (changes) pause_.run_one({tenant, queue, paused});
    return changes;
}

void Shapes::save() {
    for (const auto id : changed_) {
        Known& k = known(id);
        for (std::size_t state = 0; state < k.counts.size(); ++state) {
            if (k.counts[state] == k.saved[state]) continue;
            tally_.run_one({id, static_cast<std::int64_t>(state), k.counts[state]});
        }
        k.saved = k.counts;
        k.changed = false;
    }
    changed_.clear();
}

}  // namespace perdure::sqlite
