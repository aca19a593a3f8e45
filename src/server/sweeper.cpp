#include "server/sweeper.h"

#include "base/probe.h"

namespace perdure {

Task<std::size_t> Sweeper::sweep() {
    std::size_t repairs = 0;
    for (;;) {
        auto overdue = co_await store_.overdue(clock_.wall(), batch_max);
        if (!overdue) {
            log_.write(Level::warn, "sweep failed, will try again", "why", overdue.error().what);
            co_return repairs;
        }
        const auto steps = decide_steps(*overdue);
        log_repairs(steps);
        auto changes = changes_of(steps);
        const bool full = overdue->runs.size() >= batch_max || overdue->waits.size() >= batch_max;
        std::size_t applied = 0;
        const auto replies = co_await carry_out(std::move(changes));
        for (const auto& reply : replies) {
            if (reply) ++applied;
            if (reply.is(Errc::conflict)) reached<"sweep_came_too_late">();
        }
        repairs += applied;
        if (!full || applied == 0) co_return repairs;
    }
}

Task<Result<SweepReport>> Sweeper::sweep_by_hand(SweepByHand how) {
    auto overdue = co_await store_.overdue(clock_.wall(), batch_max);
    if (!overdue) co_return overdue.error();
    std::vector<SessionId> sessions;
    const auto steps = decide_steps(*overdue);
    for (const auto& step : steps.runs) sessions.push_back(step.overdue->run.session);
    const auto names = co_await names_of_workers(store_, std::move(sessions));
    auto report = report_of(steps, names);
    if (how == SweepByHand::report_only) co_return report;
    log_repairs(steps);
    auto changes = changes_of(steps);
    const auto replies = co_await carry_out(std::move(changes));
    std::size_t next = 0;
    for (auto& finding : report.findings) {
        if (!finding.acts) continue;
        const auto& reply = replies[next++];
        if (!reply) finding.refused = reply.error();
    }
    report.carried_out = true;
    co_return report;
}

Task<std::vector<ChangeReply>> Sweeper::carry_out(std::vector<Change> changes) {
    std::vector<std::optional<OrderBack>> ordered;
    for (const auto& change : changes) {
        const auto* back = std::get_if<OrderBack>(&change);
        ordered.push_back(back ? std::optional(*back) : std::nullopt);
    }
    auto replies = co_await commits_.commit_all(Lane::reports, std::move(changes));
    for (std::size_t i = 0; recall_ && i < replies.size(); ++i)
        if (ordered[i] && replies[i]) recall_(ordered[i]->session, ordered[i]->attempt);
    co_return replies;
}

void Sweeper::log_repairs(const SweepSteps& steps) const {
    for (const auto& step : steps.runs) {
        if (step.decision.order_back) reached<"unstarted_attempt_ordered_back">();
        if (!step.settle) continue;
        const auto& attempt = step.overdue->run.attempt;
        log_.write(Level::warn, "attempt lost", "job", attempt.job.text(), "epoch",
                   attempt.epoch.value, "rule", step.decision.rule);
    }
    for (const auto& thing : steps.things)
        log_.write(Level::error, "a job waits for a free thing: repairing", "thing", thing.name);
}

}  // namespace perdure
