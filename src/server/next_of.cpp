#include "server/next_of.h"

namespace perdure {
namespace {

void take_ended(const std::vector<EndedAttempt>& ended, const TakeNext& take) {
    for (const auto& [attempt, next] : ended) take(attempt.job, next);
}

void take_swept(const Swept& swept, const TakeNext& take) {
    for (const auto& attempt : swept.attempts)
        if (attempt.end) take(attempt.attempt.job, attempt.next);
    using Kind = WaitDecision::Kind;
    for (const auto& [newest, state, decision] : swept.waiting) {
        if (decision.kind == Kind::fail) take(newest.job, {.state = JobState::failed});
        if (decision.kind == Kind::expire) take(newest.job, {.state = JobState::expired});
    }
}

}  // namespace

void for_each_next(const Change& change, const ChangeReply& reply, const TakeNext& take) {
    if (!reply) return;
    const auto* sweep = std::get_if<Sweep>(&change);
    if (sweep && sweep->report_only) return;
    if (const auto* swept = std::get_if<Swept>(&*reply)) take_swept(*swept, take);
    if (const auto* taken = std::get_if<HeartbeatTaken>(&*reply)) take_ended(taken->ended, take);
    if (const auto* opened = std::get_if<SessionOpened>(&*reply)) take_ended(opened->ended, take);
    const auto* reported = std::get_if<Reported>(&*reply);
    const auto* report = std::get_if<Report>(&change);
    if (reported && report && reported->next) take(report->attempt.job, *reported->next);
}

}  // namespace perdure
