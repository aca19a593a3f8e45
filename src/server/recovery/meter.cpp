#include "server/recovery/meter.h"

#include <fmt/format.h>

#include <iterator>

namespace perdure {
namespace {

// Of those that another server starts, or that wait for days, we do not keep more than this.
constexpr std::size_t waiting_max = 10'000;
constexpr std::size_t sessions_max = 10'000;

template <class Key, class Value>
void drop_oldest(std::map<Key, Value>& map, std::size_t max) {
    if (map.size() >= max) map.erase(map.begin());
}

void head(std::string& out, std::string_view name, std::string_view type) {
    fmt::format_to(std::back_inserter(out), "# TYPE {} {}\n", name, type);
}

std::string_view outcome_of(Repair repair) {
    if (repair == Repair::adopted) return "adopted";
    return runs_again(repair) ? "rerun" : "ended";
}

bool is_restart(Detector detector) {
    return detector == Detector::takeover || detector == Detector::reboot;
}

}  // namespace

void RecoveryMeter::entered(const Recovery& entry, BootTime now) {
    const auto cause = entry.end ? to_string(entry.end->cause) : std::string_view("none");
    ++recoveries_[{entry.incident, cause, entry.repair}];
    detected_[entry.detector].add(entry.time_to_detect);
    if (entry.incident == Incident::timed_out) {
        ++timeouts_[cause];
        timeout_latency_.add(entry.time_to_detect);
    }
    if (is_restart(entry.detector)) ++disrupted_[{entry.incident, outcome_of(entry.repair)}];
    if (is_brought_back(entry.repair)) {
        recovered_[entry.incident].add(entry.time_to_detect);
        waiting_.erase(entry.attempt.job);
    }
    if (!runs_again(entry.repair)) return;
    drop_oldest(waiting_, waiting_max);
    waiting_[entry.attempt.job] = {now, entry.time_to_detect, entry.incident};
}

void RecoveryMeter::started(JobId job, BootTime now) {
    const auto found = waiting_.find(job);
    if (found == waiting_.end()) return;
    const auto& wait = found->second;
    recovered_[wait.incident].add(wait.time_to_detect + (now - wait.entered_at));
    waiting_.erase(found);
}

void RecoveryMeter::worker_came_back(const Sighting& seen) {
    const auto back = decide_repair({.seen = seen});
    if (back) ++restarts_[back->incident];
}

void RecoveryMeter::heard(SessionId session, BootTime now) {
    const auto found = heard_at_.find(session);
    if (found != heard_at_.end()) heartbeat_gap_.add(now - found->second);
    if (found == heard_at_.end()) drop_oldest(heard_at_, sessions_max);
    heard_at_[session] = now;
}

void RecoveryMeter::append_restarts(std::string& out) const {
    auto into = std::back_inserter(out);
    head(out, "perdure_worker_restarts_total", "counter");
    for (const auto& [incident, count] : restarts_)
        fmt::format_to(into, "perdure_worker_restarts_total{{incident=\"{}\"}} {}\n",
                       to_string(incident), count);
    head(out, "perdure_restart_attempts_total", "counter");
    for (const auto& [kind, count] : disrupted_)
        fmt::format_to(into,
                       "perdure_restart_attempts_total{{incident=\"{}\",outcome=\"{}\"}} {}\n",
                       to_string(kind.first), kind.second, count);
}

std::string RecoveryMeter::text() const {
    std::string out;
    auto into = std::back_inserter(out);
    head(out, "perdure_recoveries_total", "counter");
    for (const auto& [kind, count] : recoveries_)
        fmt::format_to(
            into, "perdure_recoveries_total{{incident=\"{}\",cause=\"{}\",decision=\"{}\"}} {}\n",
            to_string(std::get<0>(kind)), std::get<1>(kind), to_string(std::get<2>(kind)), count);
    head(out, "perdure_time_to_detect_seconds", "histogram");
    for (const auto& [detector, times] : detected_)
        times.append(out, "perdure_time_to_detect_seconds",
                     fmt::format("detector=\"{}\"", to_string(detector)));
    head(out, "perdure_time_to_recover_seconds", "histogram");
    for (const auto& [incident, times] : recovered_)
        times.append(out, "perdure_time_to_recover_seconds",
                     fmt::format("incident=\"{}\"", to_string(incident)));
    head(out, "perdure_timeouts_total", "counter");
    for (const auto& [cause, count] : timeouts_)
        fmt::format_to(into, "perdure_timeouts_total{{cause=\"{}\"}} {}\n", cause, count);
    head(out, "perdure_timeout_latency_seconds", "histogram");
    timeout_latency_.append(out, "perdure_timeout_latency_seconds", "");
    head(out, "perdure_heartbeat_gap_seconds", "histogram");
    heartbeat_gap_.append(out, "perdure_heartbeat_gap_seconds", "");
    append_restarts(out);
    return out;
}

}  // namespace perdure
