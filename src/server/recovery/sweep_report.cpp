#include "server/recovery/sweep_report.h"

#include <fmt/format.h>

#include "core/explain/ledger.h"
#include "core/ownership/timeouts.h"
#include "core/policy/recovery.h"

namespace perdure {
namespace {

SweepFinding finding_of(const Swept::Attempt& swept, const SessionNames& workers) {
    const auto found = workers.find(swept.session);
    const auto worker = found == workers.end() ? std::string("its worker") : found->second;
    SweepFinding finding{
        .attempt = swept.attempt, .seen_by = swept.decision.rule, .rule = swept.decision.rule};
    if (swept.decision.order_back) {
        finding.saw = fmt::format("{} is heard, and has not started it", worker);
        finding.does = "it is ordered back";
        return finding;
    }
    if (!swept.end) {
        const auto silence = swept.seen.silent_for.seconds();
        finding.acts = false;
        finding.saw = fmt::format("nothing was heard of {} for {:.1f} s", worker, silence);
        finding.does = "nothing yet: it may still come back";
        return finding;
    }
    const RepairFacts facts{.seen = swept.seen, .end = swept.end, .next = swept.next};
    const auto repair = decide_repair(facts);
    finding.rule = facts.next.rule;
    if (!repair) {
        finding.saw = fmt::format("nothing was heard of {}", worker);
        finding.does = fmt::format("it ends as {}", to_string(facts.next.state));
        return finding;
    }
    auto entry = recovery_of(swept.attempt, swept.effects, facts, *repair);
    if (found != workers.end()) entry.worker = worker;
    finding.saw = describe_incident(entry);
    finding.does = describe_repair(entry);
    return finding;
}

SweepFinding finding_of(const Swept::Waiting& swept) {
    return {
        .attempt = swept.newest,
        .saw = fmt::format("it is {}, and an instant of its own has come", to_string(swept.state)),
        .does = std::string(story_of(swept.decision)),
        .seen_by = swept.decision.rule,
        .rule = swept.decision.rule};
}

SweepFinding finding_of(const Permit& permit) {
    const auto* kind = permit.kind == Permit::Kind::key ? "key" : "limit";
    return {.saw = fmt::format("{} `{}` is free, and jobs wait for it", kind, permit.name),
            .does = "they are put in line; please report this bug",
            .seen_by = "C4/overlooked",
            .rule = "C4/overlooked"};
}

}  // namespace

SweepReport report_of(const Swept& swept, const SessionNames& workers) {
    SweepReport report;
    for (const auto& attempt : swept.attempts)
        report.findings.push_back(finding_of(attempt, workers));
    for (const auto& waiting : swept.waiting) report.findings.push_back(finding_of(waiting));
    for (const auto& permit : swept.permits) report.findings.push_back(finding_of(permit));
    return report;
}

Task<SessionNames> names_of_workers(Store& store, std::vector<SessionId> sessions) {
    SessionNames names;
    for (const auto id : sessions) {
        if (names.contains(id)) continue;
        auto session = co_await store.owner(id);
        if (session) names[id] = session->worker;
    }
    co_return names;
}

}  // namespace perdure
