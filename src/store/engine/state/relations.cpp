#include "store/engine/state/relations.h"

#include <algorithm>
#include <utility>

namespace perdure::store {
namespace {

bool is_open(const AwaitedView& view, JobId other) {
    return view.after.job == other && !view.ended;
}

}  // namespace

const Input* Relations::notified(JobId other, JobId waiter) const {
    const auto found = notified_.find(other);
    if (found == notified_.end()) return nullptr;
    return waiter <= found->second.last ? &found->second.ended : nullptr;
}

std::vector<KnownAwaited> Relations::facts(JobId job) {
    std::vector<KnownAwaited> known;
    if (const auto begun = begun_.find(job); begun != begun_.end()) {
        for (const auto& [after, ended] : begun->second) {
            known.push_back({after.job, {.on = after.on, .ended_as = {}}});
            if (ended) known.back().facts.ended_as = ended->state;
        }
        return known;
    }
    known = written_.facts(job);
    for (auto& [other, facts] : known) {
        const auto* ended = notified(other, job);
        if (!facts.ended_as && ended) facts.ended_as = ended->state;
    }
    return known;
}

std::vector<AwaitedView> Relations::awaited(JobId job) {
    if (const auto begun = begun_.find(job); begun != begun_.end()) return begun->second;
    auto all = written_.awaited(job);
    for (auto& view : all) {
        const auto* ended = notified(view.after.job, job);
        if (!view.ended && ended) view.ended = *ended;
    }
    return all;
}

std::vector<JobId> Relations::waiters(JobId other, std::uint32_t max) {
    auto all = written_.waiters(other, max);
    if (const auto joined = joined_.find(other); joined != joined_.end())
        all.insert(all.end(), joined->second.begin(), joined->second.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() > max) all.resize(max);
    return all;
}

std::vector<AddedRow> Relations::added(JobId parent) {
    auto all = written_.added(parent);
    if (const auto found = added_.find(parent); found != added_.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    return all;
}

std::optional<JobId> Relations::made(const CallbackOf& of) {
    const auto found = made_.find(name_of(of));
    if (found != made_.end()) return found->second;
    return written_.made(of);
}

void Relations::await(NewAwaited row) {
    begun_[row.job].push_back({row.after, row.ended});
    if (!row.ended) joined_[row.after.job].push_back(row.job);
    pending_.change().relations.emplace_back(std::in_place_type<NewAwaited>, std::move(row));
}

void Relations::notify(NotifiedWaiters notified) {
    const auto& [other, ended, last] = notified;
    if (const auto joined = joined_.find(other); joined != joined_.end()) {
        for (const auto job : joined->second) {
            if (last < job) continue;
            for (auto& view : begun_.at(job))
                if (is_open(view, other)) view.ended = ended;
        }
    }
    const auto [known, is_first] = notified_.try_emplace(other, notified);
    if (!is_first) known->second.last = std::max(known->second.last, last);
    pending_.change().relations.emplace_back(std::move(notified));
}

void Relations::add(JobId parent, const AddedRow& row) {
    pending_.change().relations.emplace_back(NewAdded{parent, row});
    added_[parent].push_back(row);
}

void Relations::note_made(const CallbackOf& of, JobId job) {
    made_.emplace(name_of(of), job);
    pending_.change().relations.emplace_back(NewMade{of, job});
}

ForgottenJob Relations::forget(JobRow job) {
    const bool awaits = has_awaited(*job.spec);
    const bool may_have_added = job.watched.value_or(true);
    const bool may_have_made = may_have_added || !job.spec->callbacks.empty();
    return {std::move(job), awaits, may_have_added, may_have_made};
}

void Relations::note_written() {
    begun_.clear();
    joined_.clear();
    notified_.clear();
    added_.clear();
    made_.clear();
}

}  // namespace perdure::store
