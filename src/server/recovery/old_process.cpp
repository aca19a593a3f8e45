#include "server/recovery/old_process.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/probe.h"
#include "core/ownership/presence.h"

namespace perdure {
namespace {

constexpr auto poll_interval = milliseconds(100);
constexpr auto report_patience = seconds(3);  // besides the kill grace

}  // namespace

Task<Result<OldProcess>> OldProcesses::find(JobId job) {
    OldProcess old;
    std::vector<JobId> ids{job};
    const AttemptWindow newest_attempts{.max = attempts_max};
    auto jobs = co_await store_.jobs(std::move(ids), newest_attempts);
    if (!jobs) co_return jobs.error();
    if (jobs->empty()) co_return old;
    const auto& attempts = jobs->front().attempts;
    const auto doubtful = std::find_if(attempts.rbegin(), attempts.rend(), [](const auto& attempt) {
        return !is_known_dead(attempt.end, attempt.late_result);
    });
    if (doubtful == attempts.rend()) co_return old;
    const auto& last = *doubtful;
    old.attempt = {job, last.epoch};
    AftermathFacts facts{.end = last.end, .late_result = last.late_result};
    auto owner = co_await store_.owner(last.session);
    if (!owner) co_return owner.error();
    auto newest = co_await store_.latest_session(owner->directory);
    if (!newest) co_return newest.error();
    auto now = *owner;
    if (*newest) {
        auto of_now = co_await store_.owner(**newest);
        if (!of_now) co_return of_now.error();
        now = std::move(*of_now);
    }
    facts.session_is_open = now.open;
    facts.same_boot = now.directory.boot == owner->directory.boot;
    old.silent_for = now.clock.now - now.heard_at;
    facts.suspect = is_silent(now.heard_at, now.clock.now, timing_);
    old.aftermath = decide_aftermath(facts).aftermath;
    old.session = now.session;
    old.worker = owner->worker;
    old.machine = owner->directory.machine;
    co_return old;
}

bool OldProcesses::stop(const OldProcess& old) {
    if (old.aftermath != Aftermath::reachable) return false;
    reached<"old_process_told_to_stop">();
    return dispatcher_.send(old.session, KillOrder{old.attempt, Cause::cancelled});
}

Task<std::optional<AttemptEnd>> OldProcesses::wait_for_its_end(AttemptKey attempt) {
    const auto until = clock_.boot() + timing_.kill_grace + report_patience;
    const auto alarm = clock_.make_alarm();
    while (clock_.boot() < until) {
        co_await alarm->wait(poll_interval);
        std::vector<JobId> ids{attempt.job};
        auto jobs = co_await store_.jobs(std::move(ids), only(attempt.epoch));
        if (!jobs || jobs->empty() || jobs->front().attempts.empty()) continue;
        if (jobs->front().state != JobState::quarantined) break;  // it was dealt with meanwhile
        const auto& late = jobs->front().attempts.back().late_result;
        if (late) co_return late;
    }
    co_return std::nullopt;
}

std::string may_still_run_text(const OldProcess& old) {
    return fmt::format(
        "attempt {} may still run on worker `{}` (machine {}), of which nothing was heard for "
        "{:.0f} s: make sure that it is dead, then release it with --may-still-run",
        old.attempt.epoch.value, old.worker, old.machine, old.silent_for.seconds());
}

}  // namespace perdure
