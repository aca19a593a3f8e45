#include "worker/attempts.h"

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
    const auto found = attempts_.find(key);
    return found == attempts_.end() ? nullptr : &found->second;
}

Attempt& AttemptTable::add(AttemptKey key, Attempt attempt) {
    const auto [place, added] = attempts_.emplace(key, std::move(attempt));
    PERDURE_ASSERT(added);
    return place->second;
}

void AttemptTable::erase(AttemptKey key) { attempts_.erase(key); }

std::vector<AttemptKey> AttemptTable::keys() const {
    std::vector<AttemptKey> keys;
    keys.reserve(attempts_.size());
    for (const auto& [key, attempt] : attempts_) keys.push_back(key);
    return keys;
}

std::optional<Epoch> AttemptTable::other_epoch(AttemptKey key) const {
    std::optional<Epoch> newest;
    for (auto at = attempts_.lower_bound({key.job, Epoch{}}); at != attempts_.end(); ++at) {
        if (at->first.job != key.job) break;
        if (at->first.epoch != key.epoch) newest = at->first.epoch;
    }
    return newest;
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

std::uint64_t AssignmentNumbers::name() {
    named_ = std::max(named_, seen_);
    handled_.clear();  // up to what is named, the table alone decides
    return named_;
}

}  // namespace perdure
