// Lists of jobs: from id to id, newest first, along the table of the wanted states.
#include <algorithm>
#include <set>
#include <utility>

#include "store/engine/people_views.h"
#include "store/sql/views/catalogue_views.h"

namespace perdure::store::sql {
namespace {

constexpr int chunk_max = 200;
// So few ready jobs of so few shapes are sorted by their ids; where there are more, or might be,
// the jobs themselves are walked through.
constexpr std::uint32_t sorted_max = 5'000;
constexpr std::uint32_t sorted_shapes_max = 1'000;
constexpr const char* behind_all_names = "\x7f";

// ?1: only older jobs; ?2: their state; ?3: how many. A statement answers every row that it looks
// at, so that each is counted: what is of another state is left out by whoever reads them.
constexpr const char* all_jobs =
    "SELECT id, shape, ?2 FROM job WHERE id < ?1 ORDER BY id DESC LIMIT ?3";
constexpr const char* scheduled_jobs =
    "SELECT t.job, j.shape, ?2 FROM timer t CROSS JOIN job j ON j.id = t.job WHERE t.job < ?1"
    " ORDER BY t.job DESC LIMIT ?3";
constexpr const char* blocked_jobs =
    "SELECT job, shape, ?2 FROM blocked WHERE job < ?1 ORDER BY job DESC LIMIT ?3";
constexpr const char* waiting_jobs =
    "SELECT w.job, j.shape, ?2 FROM wait w CROSS JOIN job j ON j.id = w.job WHERE w.job < ?1"
    " ORDER BY w.job DESC LIMIT ?3";
constexpr const char* running_jobs =
    "SELECT r.job, j.shape, r.state, ?2 FROM run r CROSS JOIN job j ON j.id = r.job"
    " WHERE r.job < ?1 ORDER BY r.job DESC LIMIT ?3";
constexpr const char* succeeded_jobs =
    "SELECT o.job, j.shape, o.state, ?2 FROM outcome o CROSS JOIN job j ON j.id = o.job"
    " WHERE o.job < ?1 ORDER BY o.job DESC LIMIT ?3";
// By an index of these states.
constexpr const char* other_outcomes =
    "SELECT o.job, j.shape, ?2 FROM outcome o CROSS JOIN job j ON j.id = o.job WHERE o.job < ?1"
    " AND o.state = ?2 AND o.state <> 6 ORDER BY o.job DESC LIMIT ?3";

const char* jobs_in(JobState state) {
    switch (place_of(state).place) {
        case Place::timer: return scheduled_jobs;
        case Place::blocked: return blocked_jobs;
        case Place::run: return running_jobs;
        case Place::outcome: return state == JobState::succeeded ? succeeded_jobs : other_outcomes;
        case Place::wait: return waiting_jobs;
        case Place::ready: break;
    }
    return all_jobs;
}

}  // namespace

class CatalogueViews::Stream {
public:
    Stream(Database& database, const char* sql, JobState state, JobId before)
        : statement_(database, sql), state_(state), before_(before) {
        next();
    }
    // These, and no more.
    Stream(Database& database, std::vector<Entry> newest_first)
        : statement_(database, all_jobs), chunk_(std::move(newest_first)), is_all_(true) {
        next();
    }

    const std::optional<Entry>& now() const { return now_; }
    bool is_wanted(const Entry& entry) const { return entry.state == code(state_); }
    void next() {
        if (at_ == chunk_.size() && !is_all_) refill();
        now_.reset();
        if (at_ < chunk_.size()) now_ = chunk_[at_++];
    }

private:
    void refill() {
        chunk_.clear();
        at_ = 0;
        auto row = statement_.query({before_, code(state_), chunk_max});
        while (row.next()) chunk_.push_back({JobId{row.bits(0)}, row.number(1), row.number(2)});
        is_all_ = chunk_.size() < chunk_max;
        if (!chunk_.empty()) before_ = chunk_.back().job;
    }

    Statement statement_;
    JobState state_ = JobState::ready;
    JobId before_;
    std::vector<Entry> chunk_;
    std::size_t at_ = 0;
    bool is_all_ = false;
    std::optional<Entry> now_;
};

bool CatalogueViews::is_wanted_shape(ShapeId id, const JobFilter& filter, WantedShapes& known) {
    const auto [found, is_new] = known.try_emplace(id, false);
    if (!is_new) return found->second;
    auto row = shape_.query({id});
    found->second = row.next() && row.bytes(0) == filter.tenant &&
                    (!filter.queue || row.bytes(1) == *filter.queue) &&
                    (!filter.kind || row.bytes(2) == *filter.kind);
    return found->second;
}

// Empty: there are too many of them, or of the shapes that might have some.
std::optional<std::vector<CatalogueViews::Entry>> CatalogueViews::few_ready_jobs(
    const JobFilter& filter, JobId before) {
    std::vector<Entry> found;
    std::uint32_t shapes = 0;
    std::uint32_t looked_at = 0;
    const std::string first = filter.queue.value_or("");
    const std::string last = filter.queue.value_or(behind_all_names);
    auto shape = shapes_with_ready_.query({filter.tenant, first, last, sorted_shapes_max});
    while (shape.next()) {
        if (++shapes == sorted_shapes_max) return std::nullopt;
        const auto ready = shape.number(1);
        const bool is_of_kind = !filter.kind || shape.bytes(2) == *filter.kind;
        if (!is_of_kind || ready == 0) continue;
        if (ready < 0 || ready > std::int64_t{sorted_max - looked_at}) return std::nullopt;
        // The table is not in order of ids: it is walked through, whatever is wanted of it.
        auto row = ready_.query({shape.number(0), before, sorted_max});
        while (row.next()) found.push_back({JobId{row.bits(0)}, shape.number(0), 1});
        looked_at += static_cast<std::uint32_t>(ready);
    }
    std::sort(found.begin(), found.end(),
              [](const Entry& a, const Entry& b) { return a.job > b.job; });
    return found;
}

CatalogueViews::Streams CatalogueViews::streams_for(const JobFilter& filter) {
    Streams streams;
    const JobId before = filter.before.value_or(JobId{INT64_MAX});
    const auto add = [&](const char* sql, JobState state) {
        streams.push_back(std::make_unique<Stream>(database_, sql, state, before));
    };
    if (filter.states.empty()) add(all_jobs, JobState::ready);
    for (const auto state : std::set(filter.states.begin(), filter.states.end())) {
        if (state != JobState::ready) {
            add(jobs_in(state), state);
        } else if (auto few = few_ready_jobs(filter, before)) {
            streams.push_back(std::make_unique<Stream>(database_, std::move(*few)));
        } else {
            add(all_jobs, state);
        }
    }
    return streams;
}

// The next of all, whatever it is: what none of the streams wants is told by its shape, zero.
std::optional<CatalogueViews::Entry> CatalogueViews::newest(const Streams& streams) {
    std::optional<Entry> newest;
    for (const auto& stream : streams)
        if (stream->now() && (!newest || stream->now()->job > newest->job)) newest = stream->now();
    if (!newest) return newest;
    bool is_wanted = false;
    for (const auto& stream : streams) {
        if (!stream->now() || stream->now()->job != newest->job) continue;
        is_wanted = is_wanted || stream->is_wanted(*stream->now());
        stream->next();
    }
    if (!is_wanted) newest->shape = 0;
    return newest;
}

// What cannot be understood is listed as such, unless something is asked that only its bytes tell.
std::optional<JobLine> CatalogueViews::wanted_line(JobId id, const JobFilter& filter) {
    std::vector<Damaged> met;
    const auto read = [&]() -> std::optional<JobLine> {
        const auto job = load_.job(id);
        if (!job) fail_corrupt("job " + id.text() + " is listed, and is not there");
        if (!is_wanted(*job, filter)) return std::nullopt;
        return job_line(*job, [&](SessionId session) { return worker_of(session); });
    };
    auto found = book_.unless_damaged(
        read, [&] { return damaged_job(id); }, &met);
    if (found) return std::move(*found);
    if (asks_for_content(filter)) return std::nullopt;
    JobSpec nothing_known;
    nothing_known.tenant = filter.tenant;
    return JobLine{.id = id,
                   .spec = std::make_shared<const JobSpec>(std::move(nothing_known)),
                   .damaged = met.front().why};
}

JobPage CatalogueViews::list(const JobFilter& filter) {
    Transaction snapshot(database_, Transaction::Kind::read);
    JobPage page;
    WantedShapes shapes;
    const auto streams = streams_for(filter);
    std::uint32_t walked = 0;
    std::uint32_t read = 0;
    std::optional<JobId> last;
    while (const auto entry = newest(streams)) {
        if (walked++ == list_walk_max || read == list_read_max) {
            page.next = last;
            return page;
        }
        last = entry->job;
        if (entry->shape == 0 || !is_wanted_shape(entry->shape, filter, shapes)) continue;
        ++read;
        auto line = wanted_line(entry->job, filter);
        if (!line) continue;
        if (page.jobs.size() == filter.limit) {
            page.next = page.jobs.back().id;
            return page;
        }
        page.jobs.push_back(std::move(*line));
    }
    return page;
}

}  // namespace perdure::store::sql
