#include "store/engine/rows/rows.h"

#include <algorithm>

namespace perdure::store {
namespace {

struct StateOf {
    JobState operator()(const Timer&) const { return JobState::scheduled; }
    JobState operator()(const Ready&) const { return JobState::ready; }
    JobState operator()(const Blocked&) const { return JobState::blocked; }
    JobState operator()(const Run& run) const { return run.state; }
    JobState operator()(const Wait&) const { return JobState::waiting; }
    JobState operator()(const Outcome& outcome) const { return outcome.state; }
};

struct FillWaitFacts {
    WaitFacts& facts;
    void operator()(const Timer& timer) const {
        facts.due = timer.due;
        facts.date = timer.date;
    }
    void operator()(const Ready& ready) const {
        facts.queue_deadline = ready.entry.queue_deadline;
        facts.kept_until = ready.kept_until;
    }
    void operator()(const Blocked& blocked) const {
        facts.queue_deadline = blocked.entry.queue_deadline;
    }
    void operator()(const Run& run) const { facts.kill_ordered = run.kill_cause.has_value(); }
    void operator()(const Wait& wait) const { facts.queue_deadline = wait.queue_deadline; }
    void operator()(const Outcome&) const { facts.total_deadline.reset(); }
};

}  // namespace

bool AttemptRow::was_owned_by(SessionId session) const {
    return std::find(owners.begin(), owners.end(), session) != owners.end();
}

const Run* JobRow::running(Epoch of) const {
    const auto* run = in<Run>();
    return run && run->epoch == of ? run : nullptr;
}

AttemptRow* JobRow::attempt(Epoch of) {
    const auto is_it = [&](const AttemptRow& a) { return a.epoch == of; };
    const auto found = std::find_if(attempts.rbegin(), attempts.rend(), is_it);
    if (found != attempts.rend()) return &*found;
    const auto alone = std::find_if(older.begin(), older.end(), is_it);
    return alone == older.end() ? nullptr : &*alone;
}

void JobRow::keep_newest_attempt() {
    older.clear();
    if (attempts.size() < 2) return;
    attempts.erase(attempts.begin(), attempts.end() - 1);
    has_history = false;
}

bool JobRow::is_suspected() const {
    return !attempts.empty() && attempts.back().generation == generation &&
           is_suspect(attempts.back().end);
}

bool JobRow::is_held_by_a_person() const {
    const auto* blocked = in<Blocked>();
    return blocked && !blocked->on;
}

bool JobRow::wants_its_permits(const PlaceRow& in) const {
    const auto* ready = std::get_if<Ready>(&in);
    return ready && !ready->kept_until && !permits.empty();
}

JobState state_of(const PlaceRow& place) { return std::visit(StateOf{}, place); }

WaitFacts wait_facts(const JobRow& job) {
    WaitFacts facts{.state = state_of(job), .total_deadline = job.total_deadline};
    std::visit(FillWaitFacts{facts}, job.place);
    return facts;
}

std::optional<ServiceTime> wake_at(const JobRow& job) {
    const auto facts = wait_facts(job);
    std::optional<ServiceTime> earliest;
    const auto consider = [&](const std::optional<ServiceTime>& at) {
        if (at && (!earliest || *at < *earliest)) earliest = at;
    };
    consider(facts.queue_deadline);
    consider(facts.due);
    consider(facts.kept_until);
    if (!facts.kill_ordered) consider(facts.total_deadline);
    return earliest;
}

}  // namespace perdure::store
