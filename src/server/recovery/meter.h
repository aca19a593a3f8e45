// RecoveryMeter: what this server's life has repaired, added up as it happens. Nothing is scanned,
// and nothing survives the process: a monitoring system adds up lives.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>

#include "base/histogram.h"
#include "base/id.h"
#include "base/metrics_text.h"
#include "base/time.h"
#include "core/explain/ledger.h"

namespace perdure {

class RecoveryMeter {
public:
    // An entry of the ledger was committed.
    void recorded(const Recovery& entry, BootTime now);
    // Whether anybody waits for the attempt after a repair; only then are starts worth a look.
    bool is_waiting() const { return !waiting_.empty(); }
    // An attempt of the job was started: if it was to run again, it is recovered.
    void started(JobId job, BootTime now);
    // A worker has come back on its state directory; what became of its attempts is entered().
    void worker_came_back(const Sighting& seen);
    void heard(SessionId session, BootTime now);

    void append(MetricsText& out) const;

private:
    struct Waiting {
        BootTime entered_at;
        Duration time_to_detect;
        Incident incident = Incident::process_died;
    };
    using Kind = std::tuple<Incident, std::string_view, Repair>;  // with the name of the cause

    void append_restarts(MetricsText& out) const;

    std::map<Kind, std::uint64_t> recoveries_;
    std::map<Detector, Histogram> detected_;
    std::map<Incident, Histogram> recovered_;
    std::map<std::string_view, std::uint64_t> timeouts_;
    Histogram timeout_latency_;
    Histogram heartbeat_gap_;
    std::map<Incident, std::uint64_t> restarts_;
    std::map<std::pair<Incident, std::string_view>, std::uint64_t> disrupted_;
    std::map<JobId, Waiting> waiting_;
    std::map<SessionId, BootTime> heard_at_;
};

}  // namespace perdure
