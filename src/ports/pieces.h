// A whole, gathered from pieces (C8): each read has its bound, and so has their number.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "ports/catalogue.h"
#include "ports/store.h"

namespace perdure {

// So many pieces make a whole at most: a million queues, limits' holders or running attempts each.
inline constexpr int pieces_max = 200;

inline Error too_many_pieces() {
    return error(Errc::overloaded, "there is too much to add up at once: ask for single pages");
}

// Adds a piece's lines to those before it; the first may go on with the last.
inline void add_queues(std::vector<QueueLine>& all, std::vector<QueueLine> some) {
    for (auto& line : some) {
        if (all.empty() || all.back().queue != line.queue) {
            all.push_back(std::move(line));
            continue;
        }
        auto& same = all.back();
        same.paused = same.paused || line.paused;
        for (std::size_t i = 0; i < same.jobs.size(); ++i) same.jobs[i] += line.jobs[i];
        for (const auto& [kind, count] : line.ready_kinds)
            same.add_ready(kind, count, *line.oldest_ready);
    }
}
inline void add_limits(std::vector<LimitLine>& all, std::vector<LimitLine> some) {
    for (auto& line : some) {
        if (!all.empty() && all.back().name == line.name)
            all.back().taken += line.taken;
        else
            all.push_back(std::move(line));
    }
}

inline Task<Result<RunCounts>> read_running(Catalogue& catalogue, ReadTerms terms = {}) {
    RunCounts all;
    JobId after;
    for (int i = 0; i < pieces_max; ++i) {
        auto piece = co_await catalogue.running(after, terms);
        if (!piece) co_return piece.error();
        for (const auto& [session, count] : piece->running) all[session] += count;
        if (!piece->next) co_return all;
        after = *piece->next;
    }
    co_return too_many_pieces();
}

// By name; those of one name by the ids of their sessions.
inline Task<Result<std::vector<WorkerLine>>> read_workers(Catalogue& catalogue,
                                                          std::optional<std::string> tenant,
                                                          ReadTerms terms = {}) {
    auto running = co_await read_running(catalogue, terms);
    if (!running) co_return running.error();
    WorkerQuery query{.tenant = std::move(tenant),
                      .running = std::make_shared<const RunCounts>(std::move(*running))};
    std::vector<WorkerLine> all;
    for (int i = 0; i < pieces_max; ++i) {
        auto piece = co_await catalogue.workers(query, terms);
        if (!piece) co_return piece.error();
        std::move(piece->workers.begin(), piece->workers.end(), std::back_inserter(all));
        if (!piece->next) {
            std::stable_sort(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return a.worker < b.worker; });
            co_return all;
        }
        query.after = *piece->next;
    }
    co_return too_many_pieces();
}

inline Task<Result<std::vector<QueueLine>>> read_queues(Catalogue& catalogue, std::string tenant,
                                                        ReadTerms terms = {}) {
    std::vector<QueueLine> all;
    QueuePlace after;
    for (int i = 0; i < pieces_max; ++i) {
        auto piece = co_await catalogue.queues(tenant, after, terms);
        if (!piece) co_return piece.error();
        add_queues(all, std::move(piece->queues));
        if (!piece->next) co_return all;
        after = *piece->next;
    }
    co_return too_many_pieces();
}

// From one of this name on, at most `max` of them.
inline Task<Result<std::vector<LimitLine>>> read_limits(Catalogue& catalogue, std::string tenant,
                                                        std::string from, std::size_t max,
                                                        ReadTerms terms = {}) {
    std::vector<LimitLine> all;
    LimitPlace place{.name = std::move(from)};
    for (int i = 0; i < pieces_max; ++i) {
        auto piece = co_await catalogue.limits(tenant, place, terms);
        if (!piece) co_return piece.error();
        add_limits(all, std::move(piece->limits));
        const bool is_enough = all.size() > max;
        if (is_enough) all.resize(max);
        if (is_enough || !piece->next) co_return all;
        place = *piece->next;
    }
    co_return too_many_pieces();
}

// For checkers: all of it, however much that is.
inline Task<Result<AuditView>> read_whole_audit(Store& store) {
    constexpr std::uint32_t jobs_max = 10'000;
    AuditView all;
    for (AuditPlace after;;) {
        auto piece = co_await store.audit(after, jobs_max);
        if (!piece) co_return piece.error();
        const auto take = [](auto& into, auto& from) {
            std::move(from.begin(), from.end(), std::back_inserter(into));
        };
        take(all.jobs, piece->jobs);
        take(all.holders, piece->holders);
        take(all.owed_ends, piece->owed_ends);
        take(all.owed_permits, piece->owed_permits);
        take(all.damaged, piece->damaged);
        all.repairs = piece->repairs;
        all.fenced = piece->fenced;
        all.clock = piece->clock;
        if (!piece->next) co_return all;
        after = *piece->next;
    }
}

inline Task<Result<Overview>> read_overview(Catalogue& catalogue, std::string tenant,
                                            ReadTerms terms = {}) {
    Overview overview;
    auto queues = co_await read_queues(catalogue, tenant, terms);
    if (!queues) co_return queues.error();
    overview.queues = std::move(*queues);
    auto limits = co_await read_limits(catalogue, tenant, "", SIZE_MAX, terms);
    if (!limits) co_return limits.error();
    overview.limits = std::move(*limits);
    auto workers = co_await read_workers(catalogue, tenant, terms);
    if (!workers) co_return workers.error();
    overview.workers = std::move(*workers);
    WorkerQuery nobody{.tenant = tenant, .running = nullptr, .after = SessionId{INT64_MAX}};
    auto clock = co_await catalogue.workers(std::move(nobody), terms);
    if (!clock) co_return clock.error();
    overview.clock = clock->clock;
    co_return overview;
}

}  // namespace perdure
