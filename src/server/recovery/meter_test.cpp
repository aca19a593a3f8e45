// The meter, and that every metric is explained: see tests/wire for what a server exports.
#include "server/recovery/meter.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string text_of(const RecoveryMeter& meter) {
    MetricsText text;
    meter.append(text);
    return text.take();
}

Recovery lost(JobId job) {
    return {.attempt = {job, Epoch{1}},
            .detector = Detector::lease,
            .incident = Incident::worker_lost,
            .repair = Repair::run_again_now,
            .end = AttemptEnd{.cause = Cause::worker_lost},
            .time_to_detect = seconds(11)};
}

TEST(RecoveryMeter, counts_a_recovery_from_the_last_sign_of_life_to_the_next_start) {
    RecoveryMeter meter;
    meter.recorded(lost(JobId{1}), BootTime{0});
    EXPECT_TRUE(meter.is_waiting());
    EXPECT_FALSE(contains(text_of(meter), "perdure_time_to_recover_seconds_count"));
    meter.started(JobId{2}, BootTime{seconds(1).us});
    EXPECT_TRUE(meter.is_waiting()) << "that was another job";
    meter.started(JobId{1}, BootTime{seconds(2).us});
    const auto text = text_of(meter);
    EXPECT_TRUE(
        contains(text, "perdure_time_to_recover_seconds_sum{incident=\"worker_lost\"} 13\n"))
        << text;
    EXPECT_TRUE(contains(text, "perdure_time_to_detect_seconds_sum{detector=\"lease\"} 11\n"));
    EXPECT_TRUE(contains(text,
                         "perdure_recoveries_total{incident=\"worker_lost\",cause=\"worker_lost\","
                         "decision=\"run_again_now\"} 1\n"));
    EXPECT_FALSE(meter.is_waiting());
}

TEST(RecoveryMeter, what_is_brought_back_is_recovered_at_once) {
    RecoveryMeter meter;
    meter.recorded(lost(JobId{1}), BootTime{0});
    meter.recorded({.attempt = {JobId{1}, Epoch{1}},
                    .detector = Detector::heartbeat,
                    .incident = Incident::worker_returned,
                    .repair = Repair::reinstated,
                    .time_to_detect = seconds(14)},
                   BootTime{0});
    EXPECT_FALSE(meter.is_waiting());
    EXPECT_TRUE(contains(text_of(meter),
                         "perdure_time_to_recover_seconds_sum{incident=\"worker_returned\"} 14\n"));
}

TEST(RecoveryMeter, tells_what_a_restart_did_to_the_attempts) {
    RecoveryMeter meter;
    const Sighting seen{.detector = Detector::takeover};
    meter.worker_came_back(seen);
    auto adopted = lost(JobId{1});
    adopted.detector = Detector::takeover;
    adopted.incident = Incident::worker_restarted;
    adopted.repair = Repair::adopted;
    meter.recorded(adopted, BootTime{0});
    auto rerun = adopted;
    rerun.repair = Repair::run_again_now;
    meter.recorded(rerun, BootTime{0});
    const auto text = text_of(meter);
    for (const auto* line :
         {"perdure_worker_restarts_total{incident=\"worker_restarted\"} 1\n",
          "perdure_restart_attempts_total{incident=\"worker_restarted\",outcome=\"adopted\"} 1\n",
          "perdure_restart_attempts_total{incident=\"worker_restarted\",outcome=\"rerun\"} 1\n"})
        EXPECT_TRUE(contains(text, line)) << line;
}

TEST(RecoveryMeter, counts_timeouts_and_how_late_they_were_seen) {
    RecoveryMeter meter;
    auto expired = lost(JobId{1});
    expired.incident = Incident::timed_out;
    expired.end->cause = Cause::timeout_queue;
    expired.repair = Repair::expired;
    meter.recorded(expired, BootTime{0});
    EXPECT_TRUE(contains(text_of(meter), "perdure_timeouts_total{cause=\"timeout(queue)\"} 1\n"));
    EXPECT_TRUE(contains(text_of(meter), "perdure_timeout_latency_seconds_count 1\n"));
}

TEST(RecoveryMeter, measures_the_gap_between_two_heartbeats_of_one_worker) {
    RecoveryMeter meter;
    meter.heard(SessionId{1}, BootTime{0});
    meter.heard(SessionId{2}, BootTime{seconds(1).us});
    EXPECT_TRUE(contains(text_of(meter), "perdure_heartbeat_gap_seconds_count 0\n"));
    meter.heard(SessionId{1}, BootTime{seconds(2).us});
    EXPECT_TRUE(contains(text_of(meter), "perdure_heartbeat_gap_seconds_sum 2\n"));
}

}  // namespace
}  // namespace perdure
