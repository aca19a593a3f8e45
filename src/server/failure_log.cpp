#include "server/failure_log.h"

#include <algorithm>
#include <string>
#include <utility>

#include "server/next_of.h"

namespace perdure {
namespace {

constexpr auto at_most = seconds(60);
constexpr std::size_t logged_at_once = 500;

bool is_failure(JobState state) {
    return state == JobState::failed || state == JobState::quarantined ||
           state == JobState::expired;
}

// A line of a log is to be read by a person: what is longer is shown by `perdure job show`.
constexpr std::size_t text_max = 200;

std::string cut(std::string text) {
    if (text.size() <= text_max) return text;
    auto end = text_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return text.substr(0, end) + "...";
}

std::string command_of(const JobSpec& spec) {
    std::string command;
    for (const auto& word : spec.argv) {
        command += (command.empty() ? "" : " ") + word;
        if (command.size() > text_max) break;
    }
    return cut(std::move(command));
}

// Empty: its process did not exit, or nobody saw it.
std::string exit_code_of(const AttemptView* attempt) {
    const bool exited = attempt && attempt->end && attempt->end->cause == Cause::exit;
    return exited ? std::to_string(attempt->end->exit_code) : "";
}

std::string detail_of(const AttemptView* attempt) {
    return attempt && attempt->evidence ? cut(attempt->evidence->detail) : "";
}

}  // namespace

FailureLog::FailureLog(Store& store, Clock& clock, Log log)
    : store_(store), log_(std::move(log)), alarm_(clock.make_alarm()) {}

void FailureLog::note(JobId job, const Next& next) {
    const bool failed = next.kind == Next::Kind::ended && is_failure(next.state);
    if (!failed && !next.alarming) return;
    if (waiting_.size() < waiting_max)
        waiting_.push_back({job, next.alarming});
    else
        ++without_line_;
    alarm_->ring();
}

void FailureLog::observe(const Change& change, const ChangeReply& reply) {
    for_each_next(change, reply, [this](JobId job, const Next& next) { note(job, next); });
}

Task<void> FailureLog::run(Stop& stop) {
    stop.wakes(*alarm_);
    while (!stop.requested()) {
        if (waiting_.empty()) {
            co_await alarm_->wait(at_most);
            continue;
        }
        const auto count = static_cast<std::ptrdiff_t>(std::min(logged_at_once, waiting_.size()));
        std::vector<Entry> batch(waiting_.begin(), waiting_.begin() + count);
        waiting_.erase(waiting_.begin(), waiting_.begin() + count);
        co_await log_failures(std::move(batch));
        if (waiting_.empty()) log_how_many_have_no_line();
    }
}

void FailureLog::log_how_many_have_no_line() {
    if (without_line_ == 0) return;
    log_.write(Level::error, "jobs failed without a line of their own", "jobs", without_line_,
               "list", "perdure jobs --state failed,quarantined,expired");
    without_line_ = 0;
}

Task<void> FailureLog::log_failures(std::vector<Entry> entries) {
    std::vector<JobId> ids;
    for (const auto& entry : entries) ids.push_back(entry.job);
    const AttemptWindow newest{.max = 1};
    auto jobs = co_await store_.jobs(std::move(ids), newest);
    if (!jobs) {
        without_line_ += entries.size();
        co_return;
    }
    for (const auto& entry : entries) {
        const auto job = std::find_if(jobs->begin(), jobs->end(),
                                      [&](const JobView& view) { return view.id == entry.job; });
        if (job != jobs->end()) log_failure(*job, entry.alarming);
    }
}

void FailureLog::log_failure(const JobView& job, bool alarming) const {
    const auto* attempt = job.attempts.empty() ? nullptr : &job.attempts.back();
    const auto cause = attempt && attempt->end ? attempt->end->cause : job.cause;
    if (has_ended(job.state)) {
        const auto level = decide_failure_level({.of_job = job.spec->failure_level,
                                                 .is_callback = job.spec->callback_of.has_value(),
                                                 .alarming = alarming},
                                                levels_);
        log_.write(level, "job failed", "job", job.id.text(), "state", to_string(job.state),
                   "cause", to_string(job.cause), "exit_code", exit_code_of(attempt), "command",
                   command_of(*job.spec), "detail", detail_of(attempt), "rule", job.rule,
                   "attempts", job.epoch.value, "queue", job.spec->queue, "kind", job.spec->kind);
    } else if (alarming) {
        log_.write(Level::critical, "job crashed again and may do so for ever", "job",
                   job.id.text(), "cause", to_string(cause), "attempts", job.epoch.value);
    }
}

}  // namespace perdure
