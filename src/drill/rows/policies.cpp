#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "drill/rows/all.h"
#include "drill/rows/play.h"
#include "testbed/child.h"
#include "wire/text_time.h"

namespace perdure::drill {
namespace {

constexpr double disconnected_wait_s = 5;
constexpr double asked_wait_s = 2;
constexpr double queue_timeout_s = 1;

std::string fails_saying(const std::string& verdict) {
    return fmt::format("{}'{}' verdict {}; exit 1\n", says_start, own_program(), verdict);
}

// Fails until its attempt `n`, which succeeds.
std::string fails_until(int n, const std::string& verdict) {
    return fmt::format("{}[ $PERDURE_EPOCH -ge {} ] || {{ '{}' verdict {}; exit 1; }}\n{}",
                       says_start, n, own_program(), verdict, says_end);
}

// From the start of the last attempt to the job's end.
Result<double> last_attempt_to_end(const Run& run, const JobFacts& job) {
    const auto last = run.witness.started(job.id, job.epoch);
    if (!last) return wrong("its last attempt has left no trace");
    return seconds_between(last->at, job.ended_at);
}

Result<double> expect(const Run& run, const boost::json::object& wanted, const Expected& expected) {
    const auto id = run.site->api().submit(wanted);
    if (!id) return id.error();
    const auto job = check_end(run, *id, expected);
    if (!job) return job.error();
    return last_attempt_to_end(run, *job);
}

}  // namespace

Result<double> fails_by_itself(const Run& run) {
    auto wanted = job_with(run, fmt::format("{}exit 3\n", says_start));
    wanted["policy"] = "forever";
    return expect(run, wanted, {.state = "failed", .causes = {"exit"}, .starts = 1});
}

Result<double> conflicts_by_default(const Run& run) {
    const std::vector<std::string> five(5, "conflict");
    return expect(run, job_with(run, fails_saying("conflict")),
                  {.state = "failed", .causes = five, .starts = 5});
}

Result<double> conflicts_with_never(const Run& run) {
    auto wanted = job_with(run, fails_saying("conflict"));
    wanted["policy"] = "never";
    return expect(run, wanted, {.state = "failed", .causes = {"conflict"}, .starts = 1});
}

// Third time lucky; each of its waits belongs to the policy.
Result<double> conflicts_for_ever(const Run& run) {
    auto wanted = job_with(run, fails_until(3, "conflict"));
    wanted["policy"] = "forever";
    return expect(run, wanted, {.causes = {"conflict", "conflict", "exit"}, .starts = 3});
}

Result<double> is_disconnected(const Run& run) {
    const auto id = run.site->api().submit(job_with(run, fails_until(2, "disconnected")));
    if (!id) return id.error();
    const auto job = check_end(run, *id, {.causes = {"disconnected", "exit"}, .starts = 2});
    if (!job) return job.error();
    const auto known = job->attempts.front().ended_at;
    return without_wait(known, known, run.witness.started(*id, 2)->at, disconnected_wait_s);
}

Result<double> asks_for_a_time(const Run& run) {
    const auto wanted_at = now() + static_cast<Moment>(asked_wait_s * 1e6);
    const auto id =
        run.site->api().submit(job_with(run, fails_until(2, "at " + time_text({wanted_at}))));
    if (!id) return id.error();
    const auto job = check_end(run, *id, {.causes = {"verdict(at)", "exit"}, .starts = 2});
    if (!job) return job.error();
    const auto late = seconds_between(wanted_at, run.witness.started(*id, 2)->at);
    if (late < -0.005) return wrong("it started before the time that it had asked for");
    return std::max(0.0, late);
}

// Nobody takes its queue in time: it expires and never starts.
Result<double> waits_too_long(const Run& run) {
    const auto& api = run.site->api();
    if (auto done = api.post("/v1/queues/" + run.name + "/pause"); !done) return done.error();
    auto wanted = job_with(run, stays());
    wanted["timeouts"] = boost::json::object{{"queue", queue_timeout_s}};
    const auto began = now();
    const auto id = api.submit(wanted);
    if (!id) return id.error();
    const auto job = check_end(run, *id, {.state = "expired"});
    if (!job) return job.error();
    if (run.witness.starts(*id) != 0) return wrong("it has expired, and started all the same");
    return std::max(0.0, seconds_between(began, job->ended_at) - queue_timeout_s);
}

namespace {

struct InLimit {
    std::string first, successor;
};

// Two jobs with a limit of one; the first fails once with this verdict.
Result<InLimit> two_in_a_limit(const Run& run, const std::string& verdict) {
    const auto& api = run.site->api();
    if (auto made = api.put("/v1/limits/" + run.name, R"({"max":1})"); !made) return made.error();
    auto wanted = job_with(
        run, fmt::format("{}{}if [ $PERDURE_EPOCH = 1 ]; then '{}' verdict {}; exit 1; fi\n{}",
                         says_start, waits_at_gate, own_program(), verdict, says_end));
    wanted["limits"] = boost::json::array{run.name};
    const auto first = start_job(run, wanted);
    if (!first) return first.error();
    wanted["argv"] = boost::json::array{"sh", "-c", std::string(says_start) + says_end};
    const auto successor = api.submit(wanted);
    if (!successor) return successor.error();
    run.witness.open_gate();
    for (const auto& id : {first->job, *successor})
        if (const auto job = check_end(run, id, {}); !job) return job.error();
    return InLimit{first->job, *successor};
}

}  // namespace

Result<double> retry_now_keeps_its_limit(const Run& run) {
    const auto both = two_in_a_limit(run, "conflict");
    if (!both) return both.error();
    const auto again = run.witness.started(both->first, 2);
    const auto successor = run.witness.started(both->successor, 1);
    if (!again || !successor || successor->at < again->at)
        return wrong("the successor started before the job that was to run again at once");
    const auto job = run.site->api().job(both->first);
    if (!job) return job.error();
    return std::max(0.0, seconds_between(job->attempts.front().ended_at, again->at));
}

Result<double> retry_later_frees_its_limit(const Run& run) {
    const auto at = time_text({now() + static_cast<Moment>(asked_wait_s * 1e6)});
    const auto both = two_in_a_limit(run, "at " + at);
    if (!both) return both.error();
    const auto again = run.witness.started(both->first, 2);
    const auto successor = run.witness.started(both->successor, 1);
    if (!again || !successor || again->at < successor->at)
        return wrong("the successor had to wait for a job that was to run later");
    const auto job = run.site->api().job(both->first);
    if (!job) return job.error();
    return std::max(0.0, seconds_between(job->attempts.front().ended_at, successor->at));
}

}  // namespace perdure::drill
