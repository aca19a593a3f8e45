#include "store/memory/places.h"

#include <numeric>

#include "base/assert.h"

namespace perdure::store::memory {
namespace {

// Insert and remove touch the same indexes with the same keys; only the verb differs.
struct Insert {
    template <class Set, class Value>
    static void in(Set& set, const Value& value) {
        const bool inserted = set.insert(value).second;
        PERDURE_ASSERT(inserted);
    }
    template <class Map, class Key, class Value>
    static void in(Map& map, const Key& key, const Value& value) {
        in(map[key], value);
    }
    static void count(std::size_t& counter) { ++counter; }
};

struct Remove {
    template <class Set, class Value>
    static void in(Set& set, const Value& value) {
        const auto removed = set.erase(value);
        PERDURE_ASSERT(removed == 1);
    }
    template <class Map, class Key, class Value>
    static void in(Map& map, const Key& key, const Value& value) {
        const auto found = map.find(key);
        PERDURE_ASSERT(found != map.end());
        in(found->second, value);
        if (found->second.empty()) map.erase(found);
    }
    static void count(std::size_t& counter) {
        PERDURE_ASSERT(counter > 0);
        --counter;
    }
};

}  // namespace

template <class Change>
void Places::change_wanting(const Permit& permit, ShapeId shape) {
    auto& shapes = wanting_[permit];
    auto& counter = shapes[shape];
    Change::count(counter);
    if (counter == 0) shapes.erase(shape);
    if (shapes.empty()) wanting_.erase(permit);
}

template <class Change>
void Places::change(const JobRow& job) {
    Change::count(counts_[static_cast<std::size_t>(place_of(state_of(job)).place)]);
    if (const auto* timer = job.in<Timer>()) {
        if (timer->date) Change::in(dates_, std::pair{*timer->date, job.id});
    } else if (const auto* ready = job.in<Ready>()) {
        Change::in(ready_, job.shape, ready->entry.order);
        if (ready->kept_until) Change::in(kept_, job.id);
    } else if (const auto* blocked = job.in<Blocked>()) {
        if (blocked->on) {
            auto& lines = blocked_[*blocked->on];
            Change::in(lines, job.shape, blocked->entry.order);
            if (lines.empty()) blocked_.erase(*blocked->on);
        }
    } else if (const auto* run = job.in<Run>()) {
        Change::in(runs_, run->session, std::pair{run->assignment, job.id});
        if (run->state == JobState::starting)
            Change::in(confirmations_, std::pair{run->confirm_deadline, job.id});
    } else if (const auto* outcome = job.in<Outcome>()) {
        Change::in(retentions_, std::pair{outcome->forget_at, job.id});
    }
    if (job.wants_its_permits())
        for (const auto& permit : job.permits) change_wanting<Change>(permit, job.shape);
    if (const auto at = wake_at(job)) Change::in(wakes_, std::pair{*at, job.id});
}

void Places::insert(const JobRow& job) { change<Insert>(job); }
void Places::remove(const JobRow& job) { change<Remove>(job); }

std::size_t Places::total() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
}

std::vector<ShapeId> Places::shapes_blocked_on(const Permit& permit) const {
    std::vector<ShapeId> shapes;
    const auto lines = blocked_.find(permit);
    if (lines == blocked_.end()) return shapes;
    for (const auto& [shape, line] : lines->second) shapes.push_back(shape);
    return shapes;
}

const Places::Line& Places::blocked_on(const Permit& permit, ShapeId shape) const {
    static const Line none;
    const auto lines = blocked_.find(permit);
    if (lines == blocked_.end()) return none;
    const auto line = lines->second.find(shape);
    return line == lines->second.end() ? none : line->second;
}

std::size_t Places::wanting(const Permit& permit, ShapeId shape) const {
    const auto shapes = wanting_.find(permit);
    if (shapes == wanting_.end()) return 0;
    const auto counter = shapes->second.find(shape);
    return counter == shapes->second.end() ? 0 : counter->second;
}

const Places::Runs& Places::runs_of(SessionId session) const {
    static const Runs none;
    const auto found = runs_.find(session);
    return found == runs_.end() ? none : found->second;
}

}  // namespace perdure::store::memory
