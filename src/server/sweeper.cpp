#include "server/sweeper.h"

#include "base/probe.h"

namespace perdure {
namespace {

Sweep sweep_of(const OverdueView& overdue, bool report_only) {
    return {
        .waiting = overdue.waiting, .permits = overdue.free_permits, .report_only = report_only};
}

std::size_t repairs_in(const Swept& swept) {
    std::size_t repairs = swept.waiting.size() + swept.permits.size();
    for (const auto& attempt : swept.attempts)
        if (attempt.end || attempt.decision.order_back) ++repairs;
    return repairs;
}

}  // namespace

Task<std::size_t> Sweeper::sweep() {
    std::size_t repairs = 0;
    for (;;) {
        auto overdue = co_await store_.overdue(clock_.wall(), batch_max);
        if (!overdue) {
            log_.write(Level::warn, "sweep failed, will try again", "why", overdue.error().what);
            co_return repairs;
        }
        const bool finds_nothing = overdue->waiting.empty() && overdue->free_permits.empty() &&
                                   !commits_.attempts_overdue() && !commits_.owes();
        if (finds_nothing) co_return repairs;
        const auto swept = co_await carry_out(sweep_of(*overdue, false));
        if (!swept) co_return repairs;
        const auto made = repairs_in(*swept);
        repairs += made;
        if (commits_.owes()) continue;  // the group has paid some of it
        const bool has_more = swept->unfinished || overdue->waiting.size() >= batch_max;
        if (!has_more || made == 0) co_return repairs;
    }
}

Task<Result<SweepReport>> Sweeper::sweep_by_hand(SweepByHand how) {
    auto overdue = co_await store_.overdue(clock_.wall(), batch_max);
    if (!overdue) co_return overdue.error();
    const bool report_only = how == SweepByHand::report_only;
    const auto swept = co_await carry_out(sweep_of(*overdue, report_only));
    if (!swept) co_return swept.error();
    std::vector<SessionId> sessions;
    for (const auto& attempt : swept->attempts) sessions.push_back(attempt.session);
    const auto names = co_await names_of_workers(store_, std::move(sessions));
    auto report = report_of(*swept, names);
    report.carried_out = !report_only;
    co_return report;
}

Task<Result<Swept>> Sweeper::carry_out(Sweep sweep) {
    const bool report_only = sweep.report_only;
    const Change change(std::move(sweep));
    auto reply = co_await commits_.commit(Lane::reports, change);
    if (!reply) co_return reply.error();
    auto swept = std::get<Swept>(std::move(*reply));
    if (report_only) co_return swept;
    log_repairs(swept);
    for (const auto& attempt : swept.attempts)
        if (recall_ && attempt.decision.order_back) recall_(attempt.session, attempt.attempt);
    co_return swept;
}

void Sweeper::log_repairs(const Swept& swept) const {
    for (const auto& found : swept.attempts) {
        if (found.decision.order_back) reached<"unstarted_attempt_ordered_back">();
        if (!found.end) continue;
        log_.write(Level::warn, "attempt lost", "job", found.attempt.job.text(), "epoch",
                   found.attempt.epoch.value, "rule", found.decision.rule);
    }
    for (const auto& permit : swept.permits)
        log_.write(Level::error, "a job waits for a free thing: repairing", "thing", permit.name);
}

}  // namespace perdure
