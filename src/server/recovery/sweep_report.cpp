#include "server/recovery/sweep_report.h"

#include <fmt/format.h>

#include "core/ledger.h"
#include "core/recovery.h"
#include "core/timeouts.h"
#include "server/settling.h"

namespace perdure {
namespace {

RunStep step_of(const OverdueRun& overdue, const ServiceTick& clock) {
    RunStep step{.overdue = &overdue, .decision = decide_recovery(overdue.facts)};
    if (!step.decision.end) return step;
    const Settle::Renewal renewed{overdue.run.session, overdue.renewal};
    const auto seen = sighting_of(overdue, step.decision, clock);
    step.settle = settle(overdue.run, *step.decision.end, renewed, seen);
    return step;
}

SweepFinding finding_of(const RunStep& step, const ServiceTick& clock,
                        const SessionNames& workers) {
    const auto& run = step.overdue->run;
    const auto found = workers.find(run.session);
    const auto worker = found == workers.end() ? std::string("its worker") : found->second;
    SweepFinding finding{
        .attempt = run.attempt, .seen_by = step.decision.rule, .rule = step.decision.rule};
    if (step.decision.order_back) {
        finding.saw = fmt::format("{} is heard, and has not started it", worker);
        finding.does = "it is ordered back";
        return finding;
    }
    if (!step.settle) {
        const auto silence = (clock.now - step.overdue->heard_at).seconds();
        finding.acts = false;
        finding.saw = fmt::format("nothing was heard of {} for {:.1f} s", worker, silence);
        finding.does = "nothing yet: it may still come back";
        return finding;
    }
    const RepairFacts facts{
        .seen = step.settle->seen, .end = step.settle->end, .next = step.settle->next};
    const auto repair = decide_repair(facts);
    finding.rule = facts.next.rule;
    if (!repair) {
        finding.saw = fmt::format("nothing was heard of {}", worker);
        finding.does = fmt::format("it ends as {}", to_string(facts.next.state));
        return finding;
    }
    auto entry = recovery_of(run.attempt, run.spec->effects, facts, *repair);
    if (found != workers.end()) entry.worker = worker;
    finding.saw = tell_incident(entry);
    finding.does = tell_repair(entry);
    return finding;
}

SweepFinding finding_of(const WaitStep& step) {
    const auto& waiting = *step.overdue;
    return {.attempt = {waiting.job, waiting.epoch},
            .saw = fmt::format("it is {}, and an instant of its own has come",
                               to_string(waiting.facts.state)),
            .does = std::string(tell(step.decision)),
            .seen_by = step.decision.rule,
            .rule = step.decision.rule,
            .acts = step.acts()};
}

SweepFinding finding_of(const Thing& thing) {
    const auto* kind = thing.kind == Thing::Kind::key ? "key" : "limit";
    return {.saw = fmt::format("{} `{}` is free, and jobs wait for it", kind, thing.name),
            .does = "they are put in line; please report this bug",
            .seen_by = "C4/overlooked",
            .rule = "C4/overlooked"};
}

}  // namespace

SweepSteps decide_steps(const OverdueView& overdue) {
    SweepSteps steps{.clock = overdue.clock, .things = overdue.free_things};
    for (const auto* runs : {&overdue.runs, &overdue.owner_lost})
        for (const auto& run : *runs) steps.runs.push_back(step_of(run, overdue.clock));
    for (const auto& waiting : overdue.waits)
        steps.waits.push_back({&waiting, decide_wait(waiting.facts)});
    return steps;
}

std::vector<Change> changes_of(const SweepSteps& steps) {
    std::vector<Change> changes;
    for (const auto& step : steps.runs) {
        const auto& run = step.overdue->run;
        if (step.settle) changes.push_back(*step.settle);
        if (step.decision.order_back) changes.push_back(OrderBack{run.attempt, run.session});
    }
    for (const auto& step : steps.waits) {
        if (!step.acts()) continue;
        const auto& waiting = *step.overdue;
        changes.push_back(MoveWaiting{.job = waiting.job,
                                      .epoch = waiting.epoch,
                                      .state = waiting.facts.state,
                                      .decision = step.decision});
    }
    for (const auto& thing : steps.things) changes.push_back(PromoteWaiting{thing});
    return changes;
}

SweepReport report_of(const SweepSteps& steps, const SessionNames& workers) {
    SweepReport report;
    for (const auto& step : steps.runs)
        report.findings.push_back(finding_of(step, steps.clock, workers));
    for (const auto& step : steps.waits) report.findings.push_back(finding_of(step));
    for (const auto& thing : steps.things) report.findings.push_back(finding_of(thing));
    return report;
}

}  // namespace perdure
