#include "server/recovery/sweep_report.h"

#include <fmt/format.h>

#include "core/ledger.h"
#include "core/recovery.h"
#include "core/timeouts.h"
#include "server/settling.h"

namespace perdure {
namespace {

SweepFinding finding_of(const OverdueRun& overdue, const ServiceTick& clock,
                        const SessionNames& workers) {
    const auto& run = overdue.run;
    const auto found = workers.find(run.session);
    const auto worker = found == workers.end() ? std::string("its worker") : found->second;
    const auto decision = decide_recovery(overdue.facts);
    SweepFinding finding{.attempt = run.attempt, .seen_by = decision.rule, .rule = decision.rule};
    if (decision.order_back) {
        finding.saw = fmt::format("{} is heard, and has not started it", worker);
        finding.does = "it is ordered back";
        return finding;
    }
    if (!decision.end) {
        const auto silence = (clock.now - overdue.heard_at).seconds();
        finding.acts = false;
        finding.saw = fmt::format("nothing was heard of {} for {:.1f} s", worker, silence);
        finding.does = "nothing yet: it may still come back";
        return finding;
    }
    const RepairFacts facts{.seen = sighting_of(overdue, decision, clock),
                            .end = decision.end,
                            .next = next_after(run, *decision.end)};
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

SweepFinding finding_of(const OverdueWait& waiting) {
    const auto decision = decide_wait(waiting.facts);
    return {.attempt = {waiting.job, waiting.epoch},
            .saw = fmt::format("it is {}, and an instant of its own has come",
                               to_string(waiting.facts.state)),
            .does = std::string(tell(decision)),
            .seen_by = decision.rule,
            .rule = decision.rule,
            .acts = decision.kind != WaitDecision::Kind::wait};
}

SweepFinding finding_of(const Thing& thing) {
    const auto* kind = thing.kind == Thing::Kind::key ? "key" : "limit";
    return {.saw = fmt::format("{} `{}` is free, and jobs wait for it", kind, thing.name),
            .does = "they are put in line; please report this bug",
            .seen_by = "C4/overlooked",
            .rule = "C4/overlooked"};
}

}  // namespace

SweepReport report_of(const OverdueView& overdue, const SessionNames& workers) {
    SweepReport report;
    for (const auto& run : overdue.runs)
        report.findings.push_back(finding_of(run, overdue.clock, workers));
    for (const auto& waiting : overdue.waits) report.findings.push_back(finding_of(waiting));
    for (const auto& thing : overdue.free_things) report.findings.push_back(finding_of(thing));
    return report;
}

}  // namespace perdure
