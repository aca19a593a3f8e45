#include "server/recovery/meter.h"

namespace perdure {
namespace {

// Of those that another server starts, or that wait for days, we do not keep more than this.
constexpr std::size_t waiting_max = 10'000;
constexpr std::size_t sessions_max = 10'000;

template <class Key, class Value>
void drop_oldest(std::map<Key, Value>& map, std::size_t max) {
    if (map.size() >= max) map.erase(map.begin());
}

std::string_view outcome_of(Repair repair) {
    if (repair == Repair::adopted) return "adopted";
    return runs_again(repair) ? "rerun" : "ended";
}

bool is_restart(Detector detector) {
    return detector == Detector::takeover || detector == Detector::reboot;
}

}  // namespace

void RecoveryMeter::recorded(const Recovery& entry, BootTime now) {
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

void RecoveryMeter::append_restarts(MetricsText& out) const {
    using enum MetricType;
    out.family("perdure_worker_restarts_total", counter,
               "Workers that came back on their state directory.");
    for (const auto& [incident, count] : restarts_)
        out.sample({{"incident", to_string(incident)}}, count);
    out.family("perdure_restart_attempts_total", counter,
               "What became of the attempts of workers that came back.");
    for (const auto& [kind, count] : disrupted_)
        out.sample({{"incident", to_string(kind.first)}, {"outcome", kind.second}}, count);
}

void RecoveryMeter::append(MetricsText& out) const {
    using enum MetricType;
    out.family("perdure_recoveries_total", counter, "Automatic repairs: entries of the ledger.");
    for (const auto& [kind, count] : recoveries_) {
        const auto& [incident, cause, repair] = kind;
        out.sample(
            {{"incident", to_string(incident)}, {"cause", cause}, {"decision", to_string(repair)}},
            count);
    }
    out.family("perdure_time_to_detect_seconds", histogram,
               "From the last sign of life to the repair.");
    for (const auto& [detector, times] : detected_)
        out.sample({{"detector", to_string(detector)}}, times);
    out.family("perdure_time_to_recover_seconds", histogram,
               "From the last sign of life until the job runs again or goes on.");
    for (const auto& [incident, times] : recovered_)
        out.sample({{"incident", to_string(incident)}}, times);
    out.family("perdure_timeouts_total", counter, "Attempts and waits that ran out of time.");
    for (const auto& [cause, count] : timeouts_) out.sample({{"cause", cause}}, count);
    out.single("perdure_timeout_latency_seconds", histogram,
               "From a timeout to its entry in the ledger.", timeout_latency_);
    out.single("perdure_heartbeat_gap_seconds", histogram, "Between two heartbeats of one worker.",
               heartbeat_gap_);
    append_restarts(out);
}

}  // namespace perdure
