#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/probe.h"
#include "ports/catalogue.h"
#include "ports/pieces.h"

namespace perdure::sim {
namespace {

constexpr std::uint32_t everything = 1'000'000;

}  // namespace

class Simulation::TraceSink final : public LogSink {
public:
    explicit TraceSink(World& world) : world_(world) {}
    bool wants(Level) const override { return world_.tracing(); }
    void write(Level level, std::string_view component, std::string_view event,
               const std::vector<Field>& fields) override {
        auto line = fmt::format("{}: {} {}", component, to_string(level), event);
        for (const auto& field : fields) line += fmt::format(" {}={}", field.name, field.value);
        world_.trace(std::move(line));
    }

private:
    World& world_;
};

Simulation::Simulation(Plan plan, std::unique_ptr<Store> store, std::size_t trace_lines)
    : plan_(std::move(plan)),
      world_(plan_.seed),
      store_(std::move(store)),
      network_(world_, plan_),
      database_(world_, plan_, *store_),
      checker_({world_, plan_, witness_, history_,
                [this](std::uint32_t host) { return cluster_->is_frozen(host); },
                [this](SessionId id) {
                    auto session = run_now(store_->session(id));
                    return session ? std::optional(std::move(*session)) : std::nullopt;
                },
                [this](JobId id) -> std::optional<JobView> {
                    auto found = run_now(store_->jobs({id}));
                    if (!found || found->empty()) return std::nullopt;
                    return std::move(found->front());
                },
                [this](const Shape& shape) { return nemesis_->is_served(shape); },
                [this](AttemptKey attempt) -> const std::string& { return output_.of(attempt); }}),
      sink_(std::make_unique<TraceSink>(world_)) {
    world_.keep_trace(trace_lines);
    cluster_ = std::make_unique<Cluster>(Cluster::Parts{world_, plan_, network_, database_,
                                                        scripts_, witness_, output_, sink_.get()});
    clients_ =
        std::make_unique<Clients>(Clients::Parts{world_, plan_, *cluster_, scripts_, history_});
    nemesis_ = std::make_unique<Nemesis>(*cluster_);
    world_.on_event([this] { observe(); });
    output_.on_append = [this](const LogChunk& chunk) {
        if (checking_) checker_.kept(chunk);
    };
    schedule_full_check();
}

Simulation::~Simulation() = default;

Verdict Simulation::run() {
    const TrueTime faults_end{plan_.faults_end.us};
    // In liveness mode the healthy core must not only end what there was, but also serve.
    const auto serving = plan_.mode == Mode::liveness ? seconds(40) : Duration{};
    clients_->start(faults_end + serving);
    nemesis_->start(faults_end);
    world_.run(TrueTime{plan_.length.us});
    if (!checker_.violation()) check_all();
    if (!checker_.violation() && !cluster_->fatal_reasons().empty())
        checker_.report("P5", "a server gave up its life: " + cluster_->fatal_reasons().front());
    if (!checker_.violation() && plan_.mode == Mode::liveness) checker_.finished(audit());
    return {.seed = plan_.seed,
            .mode = plan_.mode,
            .violation = checker_.violation(),
            .step = world_.events(),
            .faults = nemesis_->accidents() + network_.faults() + database_.faults(),
            .accepted = history_.accepted,
            .quiet = plan_.mode == Mode::liveness && checker_.too_little_happened(),
            .trace_hash = world_.trace_hash(),
            .simulated = {world_.now().us},
            .last_events = {world_.trace_lines().begin(), world_.trace_lines().end()},
            .plan = plan_.text()};
}

void Simulation::run_for(Duration length) { world_.run(world_.now() + length); }

JobView Simulation::job(JobId id) {
    auto found = run_now(store_->jobs({id}));
    PERDURE_ASSERT(found && found->size() == 1);
    return std::move(found->front());
}

AuditView Simulation::audit() {
    auto view = run_now(read_whole_audit(*store_));
    PERDURE_ASSERT(view.has_value());
    return std::move(*view);
}

// After each event: processes that began, and jobs that transactions touched.
void Simulation::observe() {
    if (!checking_) return;
    auto& touched = database_.touched();
    const auto runs = witness_.runs().size();
    if (touched.empty() && runs == runs_seen_) return;
    for (; runs_seen_ < runs; ++runs_seen_) {
        const auto run = witness_.runs()[runs_seen_];
        auto found = run_now(store_->jobs({run.attempt.job}));
        PERDURE_ASSERT(found.has_value());
        checker_.began(run, found->empty() ? nullptr : &found->front());
    }
    auto ids = std::exchange(touched, {});
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    auto jobs = run_now(store_->jobs(std::move(ids)));
    PERDURE_ASSERT(jobs.has_value());
    for (const auto& job : *jobs) checker_.changed(job);
    checker_.check_turns();
}

Checker::Ledger Simulation::ledger() {
    Checker::Ledger entries;
    auto& catalogue = dynamic_cast<Catalogue&>(*store_);
    for (const auto& tenant : plan_.tenants) {
        RecoveryFilter filter{.tenant = tenant, .limit = everything};
        do {
            auto page = run_now(catalogue.recoveries(filter));
            PERDURE_ASSERT(page.has_value());
            for (auto& line : page->recoveries)
                entries[line.entry.attempt.job].push_back(std::move(line.entry));
            filter.before = page->next;
        } while (filter.before);
    }
    return entries;
}

void Simulation::schedule_full_check() {
    world_.after(seconds(2), Life{}, [this] {
        check_all();
        schedule_full_check();
    });
}

// A worker hears what the servers say about its attempts, as far as it knows itself: requests may
// arrive whose answers are lost.
bool Simulation::is_answered(std::uint32_t index, SessionId session) const {
    const auto& node = cluster_->worker(index);
    if (!node.worker || !node.worker->session().is(session)) return false;
    const auto lease = node.worker->session().lease_until();
    const auto& timing = plan_.timing;
    return lease && *lease - node.clock->boot() > timing.lease - timing.suspect;
}

void Simulation::note_hearing(SessionId session, const Hearing& hearing) {
    if (hearing.is_deaf()) {
        reached<"session_is_deaf">();
        deaf_.insert(session);
    } else if (deaf_.erase(session) > 0) {
        reached<"deaf_session_hears_again">();
    }
}

void Simulation::check_all() {
    if (!checking_) return;
    const auto view = audit();
    std::map<SessionId, SessionView> sessions;
    for (const auto& job : view.jobs) {
        if (!job.run || sessions.contains(job.run->session)) continue;
        auto session = run_now(store_->session(job.run->session));
        if (session) sessions.emplace(job.run->session, std::move(*session));
    }
    std::set<std::uint32_t> heard;
    for (std::uint32_t i = 0; i < cluster_->worker_count(); ++i) {
        const auto latest = run_now(store_->latest_session(cluster_->worker(i).host->directory()));
        if (!latest || !*latest) continue;
        const auto session = run_now(store_->session(**latest));
        if (!session) continue;
        const bool live =
            !cluster_->is_frozen(i) && session->heard_at + plan_.timing.suspect > view.clock.now;
        if (live && is_answered(i, session->session)) heard.insert(i);
        note_hearing(session->session, session->hearing);
    }
    checker_.full(view, sessions, heard);
    checker_.ledger(view, ledger());
}

}  // namespace perdure::sim
