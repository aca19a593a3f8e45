// DamageBook: which rows could not be understood, as far as anybody has met them (C9). The writer,
// the reader and fsck note them here; each is told once. A job that the writer could not read or
// write is left alone from then on: it would only fail again, and take others with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ports/damage.h"
#include "store/engine/failure.h"

namespace perdure::store {

class DamageBook {
public:
    using Report = std::function<void(const Damaged&)>;

    explicit DamageBook(Report report = {}) : report_(std::move(report)) {}

    // True: it was not known.
    bool note(Damaged row);
    bool note_job(JobId job, const std::string& why) {
        return note({.table = "job", .row = job.text(), .why = why, .job = job});
    }
    // Only says it: it is not damaged any more.
    void report(const Damaged& row) const {
        if (report_) report_(row);
    }
    // The writer leaves the job alone from now on. True: it did not before.
    bool isolate(JobId job, const std::string& why);
    // After something was removed: what is still damaged will be met again.
    void clear();

    // Why the writer must leave the job alone, if so. Costs nothing while nothing is damaged.
    std::optional<std::string> why_isolated(JobId job) const {
        if (!has_isolated_) return std::nullopt;
        return find_isolated(job);
    }
    std::size_t isolated() const;
    std::vector<Damaged> rows() const;
    std::map<std::string, std::uint64_t> counts() const;

    // What `read` answers; empty if it met something that cannot be understood, which is noted
    // under the name that `name` makes, and added to `met`.
    template <class Read, class Name>
    auto unless_damaged(Read read, Name name, std::vector<Damaged>* met = nullptr)
        -> std::optional<decltype(read())> {
        try {
            return read();
        } catch (const Failure& failure) {
            if (failure.error.code != Errc::corrupt || failure.fatal) throw;
            Damaged row = name();
            row.why = failure.error.what;
            if (met) met->push_back(row);
            note(std::move(row));
            return std::nullopt;
        }
    }

private:
    std::optional<std::string> find_isolated(JobId job) const;

    Report report_;
    mutable std::mutex guard_;
    std::map<std::pair<std::string, std::string>, Damaged> rows_;
    std::set<std::pair<std::string, std::string>> reported_;
    std::unordered_map<std::uint64_t, std::string> isolated_;
    std::atomic<bool> has_isolated_ = false;
};

inline Damaged damaged_job(JobId job) { return {.table = "job", .row = job.text(), .job = job}; }
inline Damaged damaged_row(const char* table, std::string row, JobId job = {}) {
    return {.table = table, .row = std::move(row), .job = job};
}

}  // namespace perdure::store
