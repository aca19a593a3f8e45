// What a sweep must look at: attempts whose lease or confirmation is over, jobs whose time has
// come, and things that are freer than they are offered (O2, E5, C4).
#include <algorithm>

#include "core/presence.h"
#include "store/sqlite/show/show.h"

namespace perdure::store::sqlite {
namespace {

// Comparing every thing that is waited for would take long where there are many: each sweep goes on
// where the last one stopped. Finding one is finding a bug of ours, which is not urgent.
constexpr int things_max = 1'000;

}  // namespace

OverdueRun Show::overdue_run(JobRow& job, const Owner& owner) {
    const auto& session = owner.session;
    OverdueRun overdue{.run = run_view(job, session.policy)};
    const auto& run = overdue.run;
    overdue.renewal = session.renewal;
    overdue.heard_at = session.heard_at;
    overdue.claimed_at = job.attempts.back().claimed_at;
    overdue.facts = {.state = run.state,
                     .terms = run.terms,
                     .clean = run.clean,
                     .order = run.order,
                     .recalled = run.recalled,
                     .heard = !is_silent(session.heard_at, owner.now, timing_),
                     .saw_assignment = session.seen >= run.assignment,
                     .alone = owner.runs + session.given_up == 1,
                     .lease_deadline = session.lease_deadline,
                     .confirm_deadline = run.confirm_deadline};
    return overdue;
}

// What it waited for, or its checkpoint, may be what cannot be understood.
void Show::add_run(JobRow& job, const Owner& owner, std::vector<OverdueRun>& into) {
    auto read = book_.unless_damaged([&] { return overdue_run(job, owner); },
                                     [&] { return damaged_job(job.id); });
    if (read) into.push_back(std::move(*read));
}

void Show::add_overdue_runs(std::uint32_t limit, const RunCounts& counts, OverdueView& view) {
    for (const auto& [owner, runs] : counts) {
        // Nobody knows when its lease ends: what runs there waits for a person (C9).
        const auto session = readable_session(owner);
        if (!session) continue;
        if (session->lease_deadline > view.clock.now) continue;
        for (const auto id : jobs_of(owner)) {
            if (view.runs.size() >= limit) return;
            auto job = readable_job(id);
            if (!job || !job->in<Run>()) continue;
            const auto& terms = job->attempts.back().terms;
            const bool is_released =
                session->lease_deadline + terms.release_after <= view.clock.now;
            const bool is_lost = job->in<Run>()->state == JobState::running;
            if (is_released) {
                add_run(*job, {*session, runs, view.clock.now}, view.runs);
            } else if (is_lost && view.owner_lost.size() < limit) {
                add_run(*job, {*session, runs, view.clock.now}, view.owner_lost);
            }
        }
    }
}

void Show::add_unconfirmed(std::uint32_t limit, const RunCounts& counts, OverdueView& view) {
    auto row = unconfirmed_.query({static_cast<int>(JobState::starting), view.clock.now});
    while (view.runs.size() < limit && row.next()) {
        auto job = readable_job(JobId{row.bits(0)});
        if (!job || !job->in<Run>()) continue;
        const auto session = readable_session(job->in<Run>()->session);
        if (!session) continue;
        const auto& terms = job->attempts.back().terms;
        const bool listed = session->lease_deadline + terms.release_after <= view.clock.now;
        if (!listed) add_run(*job, {*session, counts.at(session->id), view.clock.now}, view.runs);
    }
}

void Show::add_ready_wakes(ServiceTime now, std::uint32_t limit, std::vector<Wake>& wakes) {
    auto part = ready_wakes_.query({now});
    std::size_t found = 0;
    std::optional<ServiceTime> last;
    while (part.next()) {
        const ServiceTime at{part.number(0)};
        // Parts of one instant are taken together, so that they can be put in order.
        if (found >= limit && last != at) return;
        last = at;
        auto row = ready_at_.query({part.number(1), part.number(2), part.number(3), at, limit});
        while (row.next()) {
            wakes.emplace_back(at, JobId{row.bits(0)});
            ++found;
        }
    }
}

std::vector<Show::Wake> Show::wakes(ServiceTime now, std::uint32_t limit) {
    std::vector<Wake> wakes;
    for (auto* statement : {&timer_wakes_, &blocked_wakes_, &wait_wakes_, &run_wakes_}) {
        auto row = statement->query({now, limit});
        while (row.next()) wakes.emplace_back(ServiceTime{row.number(0)}, JobId{row.bits(1)});
    }
    add_ready_wakes(now, limit, wakes);
    std::sort(wakes.begin(), wakes.end());
    if (wakes.size() > limit) wakes.resize(limit);
    return wakes;
}

void Show::add_overdue_waits(WallTime wall, std::uint32_t limit, OverdueView& view) {
    const auto now = view.clock.now;
    const auto add = [&](const JobRow& job) {
        auto facts = wait_facts(job);
        facts.now = now;
        facts.wall = wall;
        view.waits.push_back({.job = job.id, .epoch = job.epoch, .facts = facts});
    };
    for (const auto& [at, id] : wakes(now, limit))
        if (const auto job = readable_job(id)) add(*job);
    auto row = dates_.query({wall, std::int64_t{limit} + limit});
    while (view.waits.size() < limit && row.next()) {
        const auto job = readable_job(JobId{row.bits(1)});
        if (!job) continue;
        const auto wakes = wake_at(*job);
        const bool is_listed = wakes && *wakes <= now;
        if (!is_listed) add(*job);
    }
}

std::optional<Thing> Show::thing_after(const std::optional<Thing>& last) {
    const Thing from = last.value_or(Thing{});
    const auto kind = last ? static_cast<int>(from.kind) : -1;
    auto row = next_thing_.query({from.tenant, kind, from.name});
    if (!row.next()) return std::nullopt;
    return Thing{row.number(1) == 0 ? Thing::Kind::key : Thing::Kind::limit, row.text(0),
                 row.text(2)};
}

std::uint32_t Show::free_of(const Thing& thing) {
    std::int64_t max = 1;
    const bool is_key = thing.kind == Thing::Kind::key;
    if (!is_key) {
        auto row = limit_max_.query({thing.tenant, thing.name});
        // One that is not defined any more is full (C9).
        max = row.next() ? row.number(0) : 0;
        if (max > INT32_MAX) max = 0;
    }
    auto held = (is_key ? keys_held_ : limits_held_).query({thing.tenant, thing.name});
    const auto taken = held.next() ? held.number(0) : 0;
    return static_cast<std::uint32_t>(max - std::min(max, taken));
}

bool Show::is_overlooked(const Thing& thing) {
    const auto free = free_of(thing);
    const auto kind = static_cast<int>(thing.kind);
    for (ShapeId last = 0; free > 0;) {
        auto shape = blocked_shapes_.query({thing.tenant, kind, thing.name, last});
        if (!shape.next() || shape.is_null(0)) return false;
        last = shape.number(0);
        const auto enough = std::min(free, promotion_window);
        auto row = wanting_.query({thing.tenant, kind, thing.name, last, enough});
        const auto wanting = row.next() ? static_cast<std::uint32_t>(row.number(0)) : 0;
        if (decide_promotion({.free = free, .wanting = wanting}).promote > 0) return true;
    }
    return false;
}

void Show::add_free_things(std::uint32_t limit, OverdueView& view) {
    for (int looked = 0; looked < things_max && view.free_things.size() < limit; ++looked) {
        looked_at_ = thing_after(looked_at_);
        if (!looked_at_) return;
        if (is_overlooked(*looked_at_)) view.free_things.push_back(*looked_at_);
    }
}

OverdueView Show::overdue(WallTime wall, std::uint32_t limit) {
    Transaction snapshot(connection_, Transaction::Kind::read);
    OverdueView view{.clock = load_.service().clock};
    const auto counts = run_counts();
    add_overdue_runs(limit, counts, view);
    add_unconfirmed(limit, counts, view);
    for (auto* runs : {&view.runs, &view.owner_lost})
        for (auto& run : *runs) run.facts.clock = view.clock;
    add_overdue_waits(wall, limit, view);
    add_free_things(limit, view);
    return view;
}

}  // namespace perdure::store::sqlite
