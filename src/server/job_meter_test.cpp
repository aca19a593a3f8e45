#include "server/job_meter.h"

#include <gtest/gtest.h>

#include <string>

namespace perdure::job_meter_test {
namespace {

std::shared_ptr<const JobSpec> in_queue(std::string name) {
    JobSpec spec;
    spec.queue = std::move(name);
    return std::make_shared<const JobSpec>(std::move(spec));
}

std::string text_of(const JobMeter& meter) {
    MetricsText text;
    meter.append(text);
    return text.take();
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(JobMeter, counts_ends_by_queue_state_and_cause) {
    JobMeter meter;
    const JobEvent::End failed{JobState::failed, Cause::exit};
    meter.committed({{.spec = in_queue("a"), .end = failed},
                     {.spec = in_queue("a"), .end = failed},
                     {.spec = in_queue("b"), .end = JobEvent::End{JobState::succeeded}}});
    const auto text = text_of(meter);
    EXPECT_TRUE(
        contains(text, "perdure_jobs_ended_total{queue=\"a\",state=\"failed\",cause=\"exit\"} 2\n"))
        << text;
    EXPECT_TRUE(contains(
        text, "perdure_jobs_ended_total{queue=\"b\",state=\"succeeded\",cause=\"none\"} 1\n"))
        << text;
}

TEST(JobMeter, adds_up_waits_and_runs_of_attempts) {
    JobMeter meter;
    meter.committed({{.spec = in_queue("a"), .waited = seconds(3)},
                     {.spec = in_queue("a"), .ran = seconds(5)}});
    const auto text = text_of(meter);
    EXPECT_TRUE(contains(text, "perdure_wait_seconds_sum{queue=\"a\"} 3\n")) << text;
    EXPECT_TRUE(contains(text, "perdure_run_seconds_sum{queue=\"a\"} 5\n")) << text;
}

TEST(JobMeter, names_no_more_queues_than_it_may) {
    JobMeter meter;
    const JobEvent::End cancelled{JobState::cancelled, Cause::cancelled};
    for (std::size_t i = 0; i < 2 * JobMeter::queues_max; ++i)
        meter.committed({{.spec = in_queue(std::to_string(i)), .end = cancelled}});
    const auto text = text_of(meter);
    EXPECT_TRUE(contains(text, "queue=\"99\"")) << text;
    EXPECT_FALSE(contains(text, "queue=\"100\"")) << text;
    EXPECT_TRUE(contains(text,
                         "perdure_jobs_ended_total{queue=\"_other\",state=\"cancelled\","
                         "cause=\"cancelled\"} 100\n"))
        << text;
}

}  // namespace
}  // namespace perdure::job_meter_test
