#include "store/sqlite/show/catalogue.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/job/aftermath.h"
#include "core/ownership/presence.h"

namespace perdure::store::sqlite {
namespace {

// So many ready jobs are sorted by their ids; where there are more, the jobs themselves are read.
constexpr std::uint64_t sorted_max = 20'000;
constexpr int chunk_max = 200;
// For one page. Nothing is indexed by its key, and readers must not wait long for each other.
constexpr std::size_t rows_of_a_page_max = 10'000;

// ?1: only older jobs; ?2: their state; ?3: how many.
constexpr const char* all_jobs =
    "SELECT id, shape FROM job WHERE id < ?1 ORDER BY id DESC LIMIT ?3";
constexpr const char* scheduled_jobs =
    "SELECT t.job, j.shape FROM timer t CROSS JOIN job j ON j.id = t.job WHERE t.job < ?1"
    " ORDER BY t.job DESC LIMIT ?3";
constexpr const char* blocked_jobs =
    "SELECT job, shape FROM blocked WHERE job < ?1 ORDER BY job DESC LIMIT ?3";
constexpr const char* waiting_jobs =
    "SELECT w.job, j.shape FROM wait w CROSS JOIN job j ON j.id = w.job WHERE w.job < ?1"
    " ORDER BY w.job DESC LIMIT ?3";
constexpr const char* running_jobs =
    "SELECT r.job, j.shape FROM run r CROSS JOIN job j ON j.id = r.job WHERE r.job < ?1"
    " AND r.state = ?2 ORDER BY r.job DESC LIMIT ?3";
constexpr const char* succeeded_jobs =
    "SELECT o.job, j.shape FROM outcome o CROSS JOIN job j ON j.id = o.job WHERE o.job < ?1"
    " AND o.state = ?2 ORDER BY o.job DESC LIMIT ?3";
constexpr const char* other_outcomes =
    "SELECT o.job, j.shape FROM outcome o CROSS JOIN job j ON j.id = o.job WHERE o.job < ?1"
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

bool is_wanted_end(const Outcome* outcome, const JobFilter& filter) {
    if (!outcome) return !filter.cause && !filter.ended_before;
    return (!filter.cause || outcome->cause == *filter.cause) &&
           (!filter.ended_before || outcome->ended_on < *filter.ended_before) &&
           !(filter.undealt && outcome->discarded);
}

bool is_wanted(const JobRow& job, const JobFilter& filter) {
    const auto& states = filter.states;
    const bool state =
        states.empty() || std::count(states.begin(), states.end(), state_of(job)) > 0;
    return state && (!filter.key || job.spec->key == filter.key) &&
           is_wanted_end(job.in<Outcome>(), filter);
}

}  // namespace

class ShowCatalogue::Stream {
public:
    Stream(Connection& connection, const char* sql, JobState state, JobId before)
        : statement_(connection, sql), state_(state), before_(before) {
        next();
    }
    // These, and no more.
    Stream(Connection& connection, std::vector<Entry> newest_first)
        : statement_(connection, all_jobs), chunk_(std::move(newest_first)), is_all_(true) {
        next();
    }

    const std::optional<Entry>& now() const { return now_; }
    void next() {
        if (at_ == chunk_.size() && !is_all_) refill();
        now_.reset();
        if (at_ < chunk_.size()) now_ = chunk_[at_++];
    }

private:
    void refill() {
        chunk_.clear();
        at_ = 0;
        auto row = statement_.query({before_, static_cast<int>(state_), chunk_max});
        while (row.next()) chunk_.push_back({JobId{row.bits(0)}, row.number(1)});
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

ShowCatalogue::ShowCatalogue(Connection& c, const Timing& timing, DamageBook& book)
    : connection_(c),
      timing_(timing),
      book_(book),
      load_(c),
      shapes_(c, "SELECT id, queue, kind FROM shape WHERE tenant = ?"),
      tally_(c, "SELECT jobs FROM jobs_in_state WHERE shape = ? AND state = ?"),
      ready_(c, "SELECT job FROM ready WHERE shape = ? AND job < ?"),
      queues_(c,
              // A count that cannot be must not be added up.
              "SELECT s.queue, t.state, sum(t.jobs) FROM shape s JOIN jobs_in_state t ON t.shape ="
              " s.id"
              " WHERE s.tenant = ? AND t.jobs BETWEEN 1 AND 1000000000000"
              " GROUP BY s.queue, t.state"),
      paused_(c, "SELECT queue FROM queue WHERE tenant = ? AND paused = 1"),
      limits_(c,
              "SELECT m.name, m.max, (SELECT count(*) FROM limit_holder h WHERE"
              " h.tenant = m.tenant AND h.name = m.name) FROM limit_max m WHERE m.tenant = ?"
              " ORDER BY m.name"),
      workers_(c,
               "SELECT id, (SELECT count(*) FROM run WHERE session = s.id) FROM session s"
               " WHERE is_open = 1 AND tenant = ? ORDER BY worker, id") {}

std::vector<ShapeId> ShowCatalogue::wanted_shapes(const JobFilter& filter) {
    std::vector<ShapeId> wanted;
    auto row = shapes_.query({filter.tenant});
    while (row.next()) {
        if (filter.queue && row.bytes(1) != *filter.queue) continue;
        if (filter.kind && row.bytes(2) != *filter.kind) continue;
        wanted.push_back(row.number(0));
    }
    std::sort(wanted.begin(), wanted.end());
    return wanted;
}

std::uint64_t ShowCatalogue::count(const std::vector<ShapeId>& shapes, JobState state) {
    std::uint64_t jobs = 0;
    for (const auto shape : shapes) {
        auto row = tally_.query({shape, static_cast<int>(state)});
        if (row.next()) jobs += row.bits(0);
    }
    return jobs;
}

std::vector<ShowCatalogue::Entry> ShowCatalogue::ready_jobs(const std::vector<ShapeId>& shapes,
                                                            JobId before) {
    std::vector<Entry> found;
    for (const auto shape : shapes) {
        auto row = ready_.query({shape, before});
        while (row.next()) found.push_back({JobId{row.bits(0)}, shape});
    }
    std::sort(found.begin(), found.end(),
              [](const Entry& a, const Entry& b) { return a.job > b.job; });
    return found;
}

ShowCatalogue::Streams ShowCatalogue::streams_for(const JobFilter& filter,
                                                  const std::vector<ShapeId>& shapes) {
    Streams streams;
    const JobId before = filter.before.value_or(JobId{INT64_MAX});
    if (filter.states.empty()) {
        streams.push_back(std::make_unique<Stream>(connection_, all_jobs, JobState::ready, before));
        return streams;
    }
    for (const auto state : std::set(filter.states.begin(), filter.states.end())) {
        const auto jobs = count(shapes, state);
        if (jobs == 0) continue;
        if (state == JobState::ready && jobs <= sorted_max) {
            streams.push_back(std::make_unique<Stream>(connection_, ready_jobs(shapes, before)));
        } else {
            streams.push_back(std::make_unique<Stream>(connection_, jobs_in(state), state, before));
        }
    }
    return streams;
}

std::optional<ShowCatalogue::Entry> ShowCatalogue::newest(const Streams& streams) {
    std::optional<Entry> newest;
    for (const auto& stream : streams)
        if (stream->now() && (!newest || stream->now()->job > newest->job)) newest = stream->now();
    if (!newest) return newest;
    for (const auto& stream : streams)
        if (stream->now() && stream->now()->job == newest->job) stream->next();
    return newest;
}

// Of a quarantined job whose last process is not known to be dead.
std::optional<std::string> ShowCatalogue::worker_in_doubt(const JobRow& job) {
    if (state_of(job) != JobState::quarantined || job.attempts.empty()) return std::nullopt;
    const auto& last = job.attempts.back();
    if (is_known_dead(last.end, last.late_result)) return std::nullopt;
    const auto session = readable_session(last.session());
    return session ? session->worker : "a worker that is not known any more";
}

JobLine ShowCatalogue::line(const JobRow& job) {
    JobLine line{.id = job.id,
                 .spec = job.spec,
                 .state = state_of(job),
                 .epoch = job.epoch,
                 .generation = job.generation};
    if (const auto* outcome = job.in<Outcome>()) {
        line.cause = outcome->cause;
        line.ended_on = outcome->ended_on;
        line.may_have_run = outcome->may_have_run;
        line.discarded = outcome->discarded;
        line.may_still_run_on = worker_in_doubt(job);
    }
    if (const auto* run = job.in<Run>()) {
        const auto session = readable_session(run->session);
        if (!session)
            fail_corrupt("it runs in a session that is not there, or cannot be understood");
        line.worker = session->worker;
    }
    return line;
}

std::optional<SessionRow> ShowCatalogue::readable_session(SessionId id) {
    auto read = book_.unless_damaged(
        [&] { return load_.session(id); },
        [&] {
            return damaged_row("session", std::to_string(static_cast<std::int64_t>(id.value)));
        });
    return read ? std::move(*read) : std::nullopt;
}

// What cannot be understood is listed as such, unless something is asked that only its bytes tell.
std::optional<JobLine> ShowCatalogue::wanted_line(JobId id, const JobFilter& filter) {
    std::vector<Damaged> met;
    const auto read = [&]() -> std::optional<JobLine> {
        const auto job = load_.job(id);
        if (!job) fail_corrupt("job " + id.text() + " is listed, and is not there");
        if (!is_wanted(*job, filter)) return std::nullopt;
        return line(*job);
    };
    auto found = book_.unless_damaged(
        read, [&] { return damaged_job(id); }, &met);
    if (found) return std::move(*found);
    if (filter.key || filter.cause || filter.ended_before) return std::nullopt;
    JobSpec nothing_known;
    nothing_known.tenant = filter.tenant;
    return JobLine{.id = id,
                   .spec = std::make_shared<const JobSpec>(std::move(nothing_known)),
                   .damaged = met.front().why};
}

JobPage ShowCatalogue::list(const JobFilter& filter) {
    Transaction snapshot(connection_, Transaction::Kind::read);
    JobPage page;
    const auto shapes = wanted_shapes(filter);
    if (shapes.empty()) return page;
    const auto streams = streams_for(filter, shapes);
    std::size_t looked_at = 0;
    std::optional<JobId> last;
    while (const auto entry = newest(streams)) {
        if (looked_at++ == rows_of_a_page_max) {
            page.next = last;
            return page;
        }
        last = entry->job;
        if (!std::binary_search(shapes.begin(), shapes.end(), entry->shape)) continue;
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

void ShowCatalogue::add_queues(const std::string& tenant, Overview& overview) {
    std::map<std::string, QueueLine> queues;
    auto row = queues_.query({tenant});
    while (row.next()) {
        const auto state = row.bits(1);
        if (state < places.size()) queues[row.text(0)].jobs[state] = row.bits(2);
    }
    auto paused = paused_.query({tenant});
    while (paused.next()) queues[paused.text(0)].paused = true;
    for (auto& [name, line] : queues) {
        line.queue = name;
        overview.queues.push_back(line);
    }
}

void ShowCatalogue::add_limits(const std::string& tenant, Overview& overview) {
    auto row = limits_.query({tenant});
    while (row.next())
        overview.limits.push_back(
            {row.text(0), row.number(1) > INT32_MAX ? 0 : static_cast<std::uint32_t>(row.number(1)),
             static_cast<std::uint32_t>(row.number(2))});
}

void ShowCatalogue::add_workers(const std::string& tenant, Overview& overview) {
    auto row = workers_.query({tenant});
    while (row.next()) {
        const auto session = readable_session(SessionId{row.bits(0)});
        if (!session) continue;
        WorkerLine line{.session = session->id,
                        .worker = session->worker,
                        .machine = session->directory.machine,
                        .slots = session->slots,
                        .running = static_cast<std::uint32_t>(row.number(1)),
                        .offer = session->offer,
                        .silent_for = overview.clock.now - session->heard_at,
                        .lease_left = session->lease_deadline - overview.clock.now,
                        .draining = session->draining};
        const auto presence = decide_presence({.heard_at = session->heard_at,
                                               .lease_deadline = session->lease_deadline,
                                               .draining = session->draining,
                                               .running = line.running,
                                               .now = overview.clock.now},
                                              timing_);
        if (presence.left) continue;
        line.suspect = presence.suspect;
        line.deaf = session->hearing.is_deaf();
        overview.workers.push_back(std::move(line));
    }
}

Overview ShowCatalogue::overview(const std::string& tenant) {
    Transaction snapshot(connection_, Transaction::Kind::read);
    Overview overview{.clock = load_.service().clock};
    add_queues(tenant, overview);
    add_limits(tenant, overview);
    add_workers(tenant, overview);
    return overview;
}

}  // namespace perdure::store::sqlite
