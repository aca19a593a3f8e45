#include "server/request_lanes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/probe.h"

namespace perdure {
namespace {

std::size_t rows_of(const CommitRequest& request) {
    std::size_t rows = 0;
    for (const auto& change : request.changes) rows += perdure::rows_of(change);
    return rows;
}

// How many jobs the store will have to do with.
std::size_t jobs_of(const Change& change) {
    const auto* claim = std::get_if<Claim>(&change);
    return claim ? claim->max : rows_of(change);
}

// What a worker says of an attempt; nothing else is ever repeated.
struct Said {
    std::size_t kind = 0;
    AttemptKey attempt;
    std::uint64_t number = 0;
    auto operator<=>(const Said&) const = default;
};

std::optional<Said> said_by(const Change& change) {
    if (const auto* start = std::get_if<Start>(&change)) return Said{0, start->attempt};
    if (const auto* report = std::get_if<Report>(&change)) return Said{1, report->attempt};
    if (const auto* progress = std::get_if<Progress>(&change))
        return Said{2 + static_cast<std::size_t>(progress->kind), progress->attempt,
                    progress->number};
    return std::nullopt;
}

bool says_all_of(const CommitRequest& newer, const CommitRequest& older) {
    std::vector<Said> said;
    for (const auto& change : newer.changes)
        if (const auto one = said_by(change)) said.push_back(*one);
    std::sort(said.begin(), said.end());
    return std::all_of(older.changes.begin(), older.changes.end(), [&](const Change& change) {
        const auto one = said_by(change);
        return one && std::binary_search(said.begin(), said.end(), *one);
    });
}

}  // namespace

std::size_t rows_of(const Change& change) {
    if (const auto* all = std::get_if<SubmitAll>(&change)) return all->jobs.size();
    const auto* sweep = std::get_if<Sweep>(&change);
    return sweep ? 1 + sweep->waiting.size() : 1;
}

bool RequestLanes::is_full(Lane lane) const { return of(lane).rows >= lane_max_; }

void RequestLanes::push(std::unique_ptr<CommitRequest> request) {
    auto& lane = of(request->lane);
    lane.rows += rows_of(*request);
    if (request->worker) reports_[*request->worker] = request.get();
    lane.requests.push_back(std::move(request));
}

std::unique_ptr<CommitRequest> RequestLanes::take_repeated(const CommitRequest& by) {
    const auto found = by.worker ? reports_.find(*by.worker) : reports_.end();
    if (found == reports_.end() || found->second->committed) return nullptr;
    auto* older = found->second;
    if (older->lane != by.lane || !says_all_of(by, *older)) return nullptr;
    auto& lane = of(older->lane);
    const auto at = std::find_if(lane.requests.begin(), lane.requests.end(),
                                 [&](const auto& request) { return request.get() == older; });
    auto taken = std::move(*at);
    lane.requests.erase(at);
    lane.rows -= rows_of(*taken);
    reports_.erase(found);
    reached<"repeated_report_replaced">();
    return taken;
}

void RequestLanes::put_back(CommitBatch batch) {
    while (!batch.empty()) {
        auto& request = batch.back();
        auto& lane = of(request->lane);
        lane.rows += rows_of(*request);
        if (request->worker) reports_.try_emplace(*request->worker, request.get());
        lane.requests.push_front(std::move(request));
        batch.pop_back();
    }
}

bool RequestLanes::empty() const {
    return std::all_of(lanes_.begin(), lanes_.end(),
                       [](const Waiting& lane) { return lane.requests.empty(); });
}

bool RequestLanes::has_jobs(std::size_t enough) const {
    std::size_t jobs = 0;
    for (const auto& lane : lanes_)
        for (const auto& request : lane.requests)
            for (const auto& change : request->changes)
                if ((jobs += jobs_of(change)) >= enough) return true;
    return false;
}

// What lanes behind this one are sure of, if they have anything.
std::size_t RequestLanes::reserved_behind(std::size_t lane) const {
    std::size_t rows = 0;
    for (auto later = lane + 1; later < lane_count; ++later)
        rows += std::min(lanes_[later].rows, group_max_ / 10);
    return rows;
}

CommitBatch RequestLanes::form() {
    CommitBatch batch;
    auto room = group_max_;
    for (std::size_t i = 0; i < lane_count; ++i) {
        auto& lane = lanes_[i];
        const auto reserved = reserved_behind(i);
        auto allowed = room > reserved ? room - reserved : 0;
        while (!lane.requests.empty()) {
            auto& front = *lane.requests.front();
            const auto rows = rows_of(front);
            // It may be larger than any room there will ever be.
            const bool fits = rows <= allowed || batch.empty() || front.passed_over;
            front.passed_over = !fits;
            if (!fits) break;
            allowed -= std::min(allowed, rows);
            room -= std::min(room, rows);
            batch.push_back(take_front(lane));
        }
    }
    // Room is given by lanes, but claims are carried out last: they see what is submitted and
    // freed beside them, so that a job can be submitted and claimed by one sync.
    std::stable_partition(batch.begin(), batch.end(),
                          [](const auto& request) { return request->lane != Lane::claims; });
    return batch;
}

CommitBatch RequestLanes::take_expired(BootTime now) {
    CommitBatch expired;
    for (auto& lane : lanes_) {
        // Those with time left stay where they are.
        const auto late =
            std::stable_partition(lane.requests.begin(), lane.requests.end(),
                                  [now](const auto& request) { return now < request->deadline; });
        for (auto at = late; at != lane.requests.end(); ++at) {
            lane.rows -= rows_of(**at);
            forget_worker(**at);
            expired.push_back(std::move(*at));
        }
        lane.requests.erase(late, lane.requests.end());
    }
    return expired;
}

std::unique_ptr<CommitRequest> RequestLanes::take_front(Waiting& lane) {
    auto request = std::move(lane.requests.front());
    lane.requests.pop_front();
    lane.rows -= rows_of(*request);
    forget_worker(*request);
    return request;
}

void RequestLanes::forget_worker(const CommitRequest& request) {
    if (!request.worker) return;
    const auto found = reports_.find(*request.worker);
    if (found != reports_.end() && found->second == &request) reports_.erase(found);
}

}  // namespace perdure
