#include "sim/nemesis.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace perdure::sim {
namespace {

constexpr Fault striking[] = {
    Fault::kill_worker,  Fault::kill_watchdog, Fault::kill_shim,    Fault::kill_server,
    Fault::pause_worker, Fault::pause_host,    Fault::pause_server, Fault::reboot_host,
    Fault::deaf_worker,  Fault::drain_worker,  Fault::cut_one_way,  Fault::cut_both_ways,
    Fault::reset_stream, Fault::store_down,    Fault::fail_over,    Fault::step_wall_clock};

}  // namespace

Nemesis::Nemesis(Cluster& cluster) : cluster_(cluster), rng_(cluster.parts().world.split_rng()) {
    for (const auto fault : striking)
        if (cluster.parts().plan.has(fault)) classes_.push_back(fault);
    gone_.resize(cluster.worker_count());
}

void Nemesis::start(TrueTime until) {
    until_ = until;
    plan_next();
    const auto& plan = cluster_.parts().plan;
    if (plan.mode == Mode::liveness) cluster_.parts().world.at(until, Life{}, [this] { freeze(); });
}

void Nemesis::later(Duration wait, std::function<void()> action) {
    cluster_.parts().world.after(wait, Life{}, std::move(action));
}

void Nemesis::plan_next() {
    if (classes_.empty()) return;
    const auto mean = 60e6 / cluster_.parts().plan.accidents_per_minute;
    const auto wait = -std::log(1.0 - rng_.uniform()) * mean;
    later(Duration{static_cast<std::int64_t>(wait)}, [this] {
        if (cluster_.parts().world.now() >= until_) return;
        strike();
        plan_next();
    });
}

void Nemesis::strike() {
    ++accidents_;
    const auto fault = classes_[rng_.below(classes_.size())];
    cluster_.parts().world.trace(fmt::format("accident: {}", to_string(fault)));
    if (fault <= Fault::drain_worker) return strike_process(fault);
    if (fault <= Fault::reset_stream) return strike_network(fault);
    strike_rest(fault);
}

// Often about as long as a lease: who comes back just when it ends finds the narrowest gaps. Some
// come back with what was given up for good, and some to jobs that were removed meanwhile.
Duration Nemesis::draw_absence() {
    const auto& plan = cluster_.parts().plan;
    const auto lease = plan.timing.lease;
    if (rng_.chance(0.4)) return rng_.between(lease - seconds(3), lease + seconds(3));
    const auto given_up = lease + plan.timing.hold;
    if (rng_.chance(0.3)) return rng_.between(given_up, given_up + seconds(10));
    const auto removed = lease + plan.timing.retention;
    if (plan.retention_ends && rng_.chance(0.3))
        return rng_.between(removed + seconds(5), removed + seconds(30));
    return rng_.skewed(milliseconds(100), seconds(60));
}

void Nemesis::strike_process(Fault fault) {
    const auto w = some_worker();
    const auto s = some_server();
    const auto pause = draw_absence();
    switch (fault) {
        case Fault::kill_worker:
            return cluster_.kill_worker(w, rng_.between(milliseconds(50), milliseconds(1000)));
        case Fault::kill_watchdog:
            return cluster_.kill_worker(w, rng_.between(seconds(3), seconds(40)));
        case Fault::kill_shim: cluster_.worker(w).host->kill_some_shim(rng_); return;
        case Fault::kill_server:
            cluster_.kill_server(s);
            return later(rng_.skewed(milliseconds(100), seconds(15)),
                         [this, s] { cluster_.start_server(s); });
        case Fault::pause_worker:
            cluster_.pause_worker(w);
            return later(pause, [this, w] { cluster_.resume_worker(w); });
        case Fault::pause_host:
            cluster_.pause_host(w);
            return later(pause, [this, w] {
                if (!gone_[w]) cluster_.resume_host(w);
            });
        case Fault::pause_server: {
            const auto life = cluster_.server(s).life;
            cluster_.parts().world.pause(life);
            return later(pause, [this, life] { cluster_.parts().world.resume(life); });
        }
        case Fault::reboot_host:
            return cluster_.reboot_host(w, rng_.between(seconds(2), seconds(30)));
        case Fault::deaf_worker:
            return cluster_.worker(w).host->hang_until(cluster_.parts().world.now() + pause);
        default: return rng_.chance(0.7) ? cluster_.detach_worker(w) : cluster_.drain_worker(w);
    }
}

void Nemesis::strike_network(Fault fault) {
    const auto s = some_server();
    if (fault == Fault::reset_stream) return cluster_.reset_streams_of(s);
    const auto a = cluster_.server(s).node;
    const auto b = cluster_.worker(some_worker()).node;
    const bool down = fault == Fault::cut_both_ways || rng_.chance(0.5);
    const bool up = fault == Fault::cut_both_ways || !down;
    auto& network = cluster_.parts().network;
    if (down) network.cut(a, b);
    if (up) network.cut(b, a);
    later(draw_absence(), [this, a, b, &network] {
        if (cluster_.parts().world.now() >= until_) return;  // frozen, or healed by then
        network.heal(a, b);
        network.heal(b, a);
    });
}

void Nemesis::strike_rest(Fault fault) {
    auto& database = cluster_.parts().database;
    if (fault == Fault::store_down)
        return database.go_down(rng_.skewed(milliseconds(200), seconds(60)));
    if (fault == Fault::fail_over)
        return database.fail_over(rng_.between(milliseconds(300), seconds(4)));
    const auto by = rng_.between(hours(-9000), hours(9000));
    if (rng_.chance(0.5)) return cluster_.worker(some_worker()).host->step_wall_clock(by);
    cluster_.server(some_server()).time.wall_us += by.us;
}

bool Nemesis::is_served(const Shape& shape) const {
    const auto& plan = cluster_.parts().plan;
    for (std::size_t w = 0; w < gone_.size(); ++w)
        if (!gone_[w] && matches(plan.offer_of(w), shape)) return true;
    return false;
}

bool Nemesis::is_expendable(std::size_t worker) const {
    const auto& plan = cluster_.parts().plan;
    const auto taken_by_another = [&](const Shape& shape) {
        for (std::size_t w = 0; w < gone_.size(); ++w)
            if (w != worker && matches(plan.offer_of(w), shape)) return true;
        return false;
    };
    for (const auto& tenant : plan.tenants)
        for (const auto& queue : plan.queues)
            for (const auto& kind : plan.kinds)
                if (!taken_by_another({tenant, queue, kind})) return false;
    return true;
}

void Nemesis::freeze() {
    auto& parts = cluster_.parts();
    parts.world.trace("faults end; what stays broken is frozen");
    parts.network.set_faults(false);
    parts.database.set_faults(false);
    parts.network.heal_all();
    const bool lose_server = cluster_.server_count() > 1 && rng_.chance(0.5);
    const auto lost_server = some_server();
    for (std::size_t s = 0; s < cluster_.server_count(); ++s) {
        parts.world.resume(cluster_.server(s).life);
        if (lose_server && s == lost_server) {
            cluster_.server(s).stays_down = true;
            cluster_.kill_server(s);
        }
        cluster_.start_server(s);
    }
    const auto lost_worker = some_worker();
    const bool lose_worker = is_expendable(lost_worker) && rng_.chance(0.8);
    for (std::size_t w = 0; w < cluster_.worker_count(); ++w) {
        cluster_.resume_host(w);
        cluster_.worker(w).host->hang_until(parts.world.now());
        cluster_.start_worker(w);
        if (!lose_worker || w != lost_worker) continue;
        gone_[w] = true;
        switch (rng_.below(4)) {
            case 0:  // dead, its shims alive
                cluster_.worker(w).stays_down = true;
                cluster_.kill_worker(w, std::nullopt);
                break;
            case 1: cluster_.pause_host(w); break;
            case 2:  // is heard, and starts nothing ever again
                cluster_.worker(w).host->hang_until(TrueTime{parts.plan.length.us} + minutes(1));
                break;
            default:  // hears everything, is heard by nobody
                for (std::size_t s = 0; s < cluster_.server_count(); ++s)
                    parts.network.cut(cluster_.worker(w).node, cluster_.server(s).node);
        }
    }
}

}  // namespace perdure::sim
