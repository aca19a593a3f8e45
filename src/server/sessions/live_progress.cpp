#include "server/sessions/live_progress.h"

#include <utility>

namespace perdure {
namespace {

// Of sessions that ended without a word; far more than any number of slots.
constexpr std::size_t notes_max = 100'000;

}  // namespace

void LiveProgress::replace_notes(SessionId session, const std::set<AttemptKey>& running,
                                 std::vector<ProgressNote> notes) {
    if (const auto known = noted_by_.find(session); known != noted_by_.end()) {
        for (const auto& attempt : known->second) notes_.erase(attempt);
        noted_by_.erase(known);
    }
    if (notes.empty()) return;
    if (notes_.size() > notes_max) {
        notes_.clear();
        noted_by_.clear();
    }
    for (auto& note : notes) {
        if (!running.contains(note.attempt)) continue;
        if (note.text.size() > progress_text_max) note.text.resize(progress_text_max);
        noted_by_[session].push_back(note.attempt);
        notes_.insert_or_assign(note.attempt, std::move(note));
    }
}

const ProgressNote* LiveProgress::find(AttemptKey attempt) const {
    const auto found = notes_.find(attempt);
    return found == notes_.end() ? nullptr : &found->second;
}

}  // namespace perdure
