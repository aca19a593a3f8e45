#include "sim/workloads/draw_policies.h"

#include <fmt/format.h>

#include "core/policy/custom_policy.h"

namespace perdure::sim {

std::vector<CustomRule> draw_rules(Rng& rng, Effects effects) {
    const std::vector<std::vector<Cause>> causes = {
        {Cause::exit},     {Cause::crash_signal}, {Cause::worker_lost, Cause::host_lost},
        {Cause::conflict}, {Cause::timeout_run},  {}};
    std::vector<CustomRule> rules;
    const auto count = rng.between(1, 3);
    for (std::int64_t i = 0; i < count; ++i) {
        CustomRule rule{.causes = causes[rng.below(causes.size())]};
        rule.times = static_cast<std::uint32_t>(rng.below(4));
        if (rng.chance(0.5)) rule.wait = rng.between(milliseconds(100), seconds(3));
        rule.growth = static_cast<Growth>(rng.below(3));
        rule.another_worker = rng.chance(0.3);
        if (rng.chance(0.5)) rule.then = LastResort::quarantine;
        const bool has_code = rule.causes == causes[0] || rule.causes == causes[1];
        if (has_code && rng.chance(0.5)) rule.exit_codes = {rng.chance(0.5) ? 1 : 11};
        rules.push_back(rule);
    }
    if (find_rule_fault(rules) || find_rule_conflict(rules, effects)) return {};
    return rules;
}

PolicyBook draw_book(Rng& rng, std::uint32_t workers) {
    PolicyBook book;
    if (rng.chance(0.5)) return book;
    for (std::uint32_t i = 0; i < workers; ++i) {
        if (rng.chance(0.5)) continue;
        const auto name = fmt::format("own-{}", i);
        book.named[name] = {.name = rng.chance(0.3) ? PolicyName::never : PolicyName::default_,
                            .rules = draw_rules(rng, Effects::repeatable)};
        book.of_worker[fmt::format("worker-{}", i)] = name;
    }
    return book;
}

}  // namespace perdure::sim
