// What rows of places say, as every kind of database writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/engine/rows/rows.h"

namespace perdure::store::sql {

inline std::int64_t rank_of(const QueuePosition& order) {
    return 2 * order.priority + (order.in_turn ? 1 : 0);
}

// If the row is damaged, it is some order: whoever loads the job will see it.
inline QueuePosition order_of(std::int64_t rank, std::int64_t since, JobId job) {
    return {.priority = static_cast<std::uint8_t>(rank / 2),
            .in_turn = rank % 2 != 0,
            .since = ServiceTime{since},
            .job = job};
}

// A position in a line, as its columns say it.
struct Behind {
    explicit Behind(const std::optional<QueuePosition>& order) {
        if (!order) return;
        rank = rank_of(*order);
        since = order->since.us;
        job = static_cast<std::int64_t>(order->job.value);
    }
    std::int64_t rank = INT64_MIN;
    std::int64_t since = INT64_MIN;
    std::int64_t job = INT64_MIN;
};

// Where it first gets in line needs no row in `line`.
inline bool is_in_first_line(const JobRow& job, const QueuePosition& order) {
    return order.in_turn && order.priority == job.spec->priority && order.since == job.submitted_at;
}

inline std::optional<SessionId> avoided(const QueueEntry& entry) {
    if (!entry.avoid) return std::nullopt;
    return entry.avoid->session;
}
inline std::optional<ServiceTime> avoided_until(const QueueEntry& entry) {
    if (!entry.avoid) return std::nullopt;
    return entry.avoid->until;
}

// When its retention is over has been noted already.
inline bool is_noted(const JobRow& job, const Outcome& outcome) {
    const auto* stored = job.stored ? std::get_if<Outcome>(&*job.stored) : nullptr;
    return stored && stored->forget_at == outcome.forget_at;
}

// A part of a line that leaves it as a whole.
struct LineRange {
    const JobRow* first = nullptr;
    const JobRow* last = nullptr;
    int jobs = 0;
};
// Claims take jobs from the fronts of lines, by turns: those of one line, that were read one after
// the other, leave it with one statement. Puts them in that order.
std::vector<LineRange> stretches_of(std::vector<const JobRow*>& jobs);

}  // namespace perdure::store::sql
