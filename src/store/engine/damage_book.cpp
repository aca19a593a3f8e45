#include "store/engine/damage_book.h"

namespace perdure::store {
namespace {

// More than a person looks at one by one; beyond that the file is damaged as a whole.
constexpr std::size_t rows_max = 10'000;

}  // namespace

bool DamageBook::note(Damaged row) {
    {
        const std::lock_guard lock(guard_);
        if (rows_.size() >= rows_max) return false;
        const std::pair name{row.table, row.row};
        if (!rows_.try_emplace(name, row).second) return false;
        if (!reported_.insert(name).second) return true;
    }
    if (report_) report_(row);
    return true;
}

bool DamageBook::isolate(JobId job, const std::string& why) {
    note_job(job, why);
    if (!job) return false;  // no change is about it
    const std::lock_guard lock(guard_);
    if (isolated_.size() >= rows_max) return false;
    const bool is_new = isolated_.emplace(job.value, why).second;
    has_isolated_ = true;
    return is_new;
}

void DamageBook::clear() {
    const std::lock_guard lock(guard_);
    rows_.clear();
    isolated_.clear();
    has_isolated_ = false;
}

std::optional<std::string> DamageBook::find_isolated(JobId job) const {
    const std::lock_guard lock(guard_);
    const auto found = isolated_.find(job.value);
    if (found == isolated_.end()) return std::nullopt;
    return found->second;
}

std::vector<Damaged> DamageBook::rows() const {
    const std::lock_guard lock(guard_);
    std::vector<Damaged> all;
    for (const auto& [name, row] : rows_) all.push_back(row);
    return all;
}

std::size_t DamageBook::isolated() const {
    const std::lock_guard lock(guard_);
    return isolated_.size();
}

std::map<std::string, std::uint64_t> DamageBook::counts() const {
    const std::lock_guard lock(guard_);
    std::map<std::string, std::uint64_t> counts;
    for (const auto& [name, row] : rows_) ++counts[row.table];
    return counts;
}

}  // namespace perdure::store
