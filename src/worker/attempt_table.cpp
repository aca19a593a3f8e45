#include "worker/attempt_table.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace perdure {
namespace {

Listed::Phase phase_of(const Attempt& attempt) {
    switch (attempt.phase) {
        case Attempt::Phase::preparing:
        case Attempt::Phase::prepared:
        case Attempt::Phase::ordered: return Listed::Phase::unstarted;
        case Attempt::Phase::running: return Listed::Phase::running;
        case Attempt::Phase::ended: return Listed::Phase::ended;
    }
    return Listed::Phase::running;
}

}  // namespace

Attempt* AttemptTable::find(AttemptKey key) {
    const auto* place = places_.find(key);
    return place ? &(*place)->second : nullptr;
}

Attempt& AttemptTable::add(AttemptKey key, Attempt attempt) {
    const auto place = attempts_.emplace(attempts_.end(), key, std::move(attempt));
    const bool added = places_.add(key, place);
    PERDURE_ASSERT(added);
    return place->second;
}

void AttemptTable::erase(AttemptKey key) {
    const auto* place = places_.find(key);
    if (!place) return;
    attempts_.erase(*place);
    places_.erase(key);
}

std::vector<AttemptKey> AttemptTable::keys() const {
    std::vector<AttemptKey> keys;
    keys.reserve(attempts_.size());
    for (const auto& [key, attempt] : attempts_) keys.push_back(key);
    return keys;
}

std::vector<Listed> AttemptTable::for_heartbeat() const {
    std::vector<Listed> list;
    list.reserve(attempts_.size());
    for (const auto& [key, attempt] : attempts_)
        list.push_back({key, attempt.assignment, phase_of(attempt)});
    return list;
}

std::vector<ProgressNote> AttemptTable::notes() const {
    std::vector<ProgressNote> notes;
    for (const auto& [key, attempt] : attempts_)
        if (attempt.note && attempt.phase == Attempt::Phase::running)
            notes.push_back(*attempt.note);
    return notes;
}

std::vector<Listed> AttemptTable::for_opening() const {
    std::vector<Listed> list;
    list.reserve(attempts_.size());
    for (const auto& [key, attempt] : attempts_)
        list.push_back({key, attempt.assignment, attempt.found_as.value_or(phase_of(attempt))});
    return list;
}

void AssignmentNumbers::handle(std::uint64_t number) {
    const auto place = std::lower_bound(handled_.begin(), handled_.end(), number);
    if (place == handled_.end() || *place != number) handled_.insert(place, number);
}

std::uint64_t AssignmentNumbers::name() {
    named_ = std::max(named_, seen_);
    handled_.clear();  // up to what is named, the table alone decides
    return named_;
}

}  // namespace perdure
