#include "core/policy/policy_book.h"

#include <optional>
#include <vector>

#include "base/words.h"
#include "base/zoo.h"

namespace perdure {
namespace {

std::optional<PolicyName> built_in(std::string_view name) {
    for (const auto each : {PolicyName::default_, PolicyName::never, PolicyName::forever})
        if (to_string(each) == name) return each;
    return std::nullopt;
}

// The job's own choice with base and rules of the policy of this name.
std::optional<PolicyChoice> with_policy(const PolicyBook& book, PolicyChoice own,
                                        std::string_view name) {
    if (const auto base = built_in(name)) {
        own.name = *base;
        own.custom.clear();
        own.rules.clear();
        return own;
    }
    const auto found = book.named.find(name);
    if (found == book.named.end()) return std::nullopt;
    own.name = found->second.name;
    own.custom = found->first;
    own.rules = found->second.rules;
    return own;
}

struct Chosen {
    std::string name;
    PolicyLevel level = PolicyLevel::server;
};

Chosen chosen_for(const PolicyBook& book, const JobSpec& spec) {
    if (const auto found = book.of_kind.find(spec.kind); found != book.of_kind.end())
        return {found->second, PolicyLevel::kind};
    if (const auto found = book.of_queue.find(spec.queue); found != book.of_queue.end())
        return {found->second, PolicyLevel::queue};
    return {book.of_server, PolicyLevel::server};
}

}  // namespace

bool knows(const PolicyBook& book, std::string_view name) {
    return built_in(name) || book.named.contains(name);
}

std::string no_such_policy(const PolicyBook& book, std::string_view name) {
    std::vector<std::string_view> known = {"default", "never", "forever"};
    for (const auto& [each, policy] : book.named) known.push_back(each);
    auto sentence = "there is no policy \"" + std::string(name) + "\"";
    const auto near = nearest(name, known);
    if (!near.empty()) return sentence + "; did you mean " + std::string(near) + "?";
    sentence += "; there are ";
    for (std::size_t i = 0; i < known.size(); ++i)
        sentence += (i == 0 ? "" : ", ") + std::string(known[i]);
    return sentence;
}

PolicyDecision decide_policy(const PolicyBook& book, const JobSpec& spec, PolicyOrigin origin) {
    const auto& own = spec.policy;
    const bool only_named = !own.custom.empty() && own.rules.empty();
    if (origin == PolicyOrigin::frozen) return {own, own.level, std::nullopt};
    if (origin == PolicyOrigin::chosen && !only_named)
        return {own, PolicyLevel::job, find_rule_conflict(own.rules, spec.effects)};
    auto chosen = chosen_for(book, spec);
    if (origin == PolicyOrigin::chosen) chosen = {own.custom, PolicyLevel::job};
    auto policy = with_policy(book, own, chosen.name);
    if (!policy) return {own, chosen.level, RuleFault{"", no_such_policy(book, chosen.name)}};
    policy->level = chosen.level;
    if (origin == PolicyOrigin::inherited) return {std::move(*policy), chosen.level, std::nullopt};
    auto refused = find_rule_conflict(policy->rules, spec.effects);
    return {std::move(*policy), chosen.level, std::move(refused)};
}

std::optional<PolicyChoice> decide_worker_policy(const PolicyBook& book, std::string_view worker) {
    const auto found = book.of_worker.find(worker);
    if (found == book.of_worker.end()) return std::nullopt;
    auto policy = with_policy(book, PolicyChoice{}, found->second);
    if (policy) policy->level = PolicyLevel::worker;
    return policy;
}

PolicyChoice policy_for_attempt(const PolicyChoice& job, const PolicyChoice* worker) {
    if (!worker || !is_left_to_worker(job)) return job;
    if (zoo(Bug::worker_policy_ignored)) return job;
    auto policy = job;  // what it says about retries stays its own
    policy.name = worker->name;
    policy.custom = worker->custom;
    policy.rules = worker->rules;
    policy.level = PolicyLevel::worker;
    return policy;
}

}  // namespace perdure
