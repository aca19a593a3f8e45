#include "store/engine/state/relations.h"

#include <algorithm>
#include <utility>

namespace perdure::store {
namespace {

bool is_open(const AwaitedView& view, JobId other) {
    return view.after.job == other && !view.ended;
}

}  // namespace

Relations::Relations(RelationReader& written, const Contents& contents, WriteSet& pending)
    : written_(written), pending_(pending) {
    for (const auto job : contents.awaited) waited_for_.insert(job.value);
    for (const auto parent : contents.added_to) added_to_.insert(parent.value);
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
        const auto told = told_.find(other);
        if (!facts.ended_as && told != told_.end()) facts.ended_as = told->second.state;
    }
    return known;
}

std::vector<AwaitedView> Relations::awaited(JobId job) {
    if (const auto begun = begun_.find(job); begun != begun_.end()) return begun->second;
    auto all = written_.awaited(job);
    for (auto& view : all) {
        const auto told = told_.find(view.after.job);
        if (!view.ended && told != told_.end()) view.ended = told->second;
    }
    return all;
}

std::vector<JobId> Relations::waiters(JobId other) {
    std::vector<JobId> all;
    if (!told_.contains(other)) all = written_.waiters(other);
    if (const auto joined = joined_.find(other); joined != joined_.end())
        all.insert(all.end(), joined->second.begin(), joined->second.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

std::vector<AddedRow> Relations::added(JobId parent) {
    auto all = written_.added(parent);
    if (const auto found = added_.find(parent); found != added_.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    return all;
}

std::optional<JobId> Relations::made(const CallbackOf& of) {
    const auto found = made_.find({of.job, of.generation, of.number});
    if (found != made_.end()) return found->second;
    return written_.made(of);
}

void Relations::await(NewAwaited row) {
    begun_[row.job].push_back({row.after, row.ended});
    if (!row.ended) {
        waited_for_.insert(row.after.job.value);
        joined_[row.after.job].push_back(row.job);
    }
    pending_.relations.emplace_back(std::in_place_type<NewAwaited>, std::move(row));
}

void Relations::tell(JobId other, const Input& ended) {
    waited_for_.erase(other.value);
    if (const auto joined = joined_.find(other); joined != joined_.end()) {
        for (const auto job : joined->second)
            for (auto& view : begun_.at(job))
                if (is_open(view, other)) view.ended = ended;
        joined_.erase(joined);
    }
    told_.try_emplace(other, ended);  // what is told once is not told again
    pending_.relations.emplace_back(ToldWaiters{other, ended});
}

void Relations::add(JobId parent, const AddedRow& row) {
    pending_.relations.emplace_back(NewAdded{parent, row});
    added_[parent].push_back(row);
    added_to_.insert(parent.value);
}

void Relations::note_made(const CallbackOf& of, JobId job) {
    made_.emplace(MadeKey{of.job, of.generation, of.number}, job);
    pending_.relations.emplace_back(NewMade{of, job});
}

ForgottenJob Relations::forget(JobRow job) {
    const bool awaits = has_awaited(*job.spec);
    const bool added = added_to_.erase(job.id.value) > 0;
    const bool made = added || !job.spec->callbacks.empty();
    return {std::move(job), awaits, added, made};
}

void Relations::note_written() {
    begun_.clear();
    joined_.clear();
    told_.clear();
    added_.clear();
    made_.clear();
}

}  // namespace perdure::store
