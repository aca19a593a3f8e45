#include "server/sessions/live_progress.h"

#include <set>
#include <utility>

namespace perdure {
namespace {

// Of sessions that ended without a word; far more than any number of slots.
constexpr std::size_t notes_max = 100'000;

}  // namespace

void LiveProgress::hear(const SessionView& session, std::vector<ProgressNote> notes) {
    std::erase_if(notes_,
                  [&](const auto& entry) { return entry.second.session == session.session; });
    std::set<AttemptKey> running;
    for (const auto& run : session.runs) running.insert(run.attempt);
    if (notes_.size() > notes_max) notes_.clear();
    for (auto& note : notes) {
        if (!running.contains(note.attempt)) continue;
        if (note.text.size() > progress_text_max) note.text.resize(progress_text_max);
        notes_.insert_or_assign(note.attempt, Heard{session.session, std::move(note)});
    }
}

const ProgressNote* LiveProgress::find(AttemptKey attempt) const {
    const auto found = notes_.find(attempt);
    return found == notes_.end() ? nullptr : &found->second.note;
}

}  // namespace perdure
