// Policy book: the policies that a server knows by name, and where each of them applies.
// A job's policy is settled when it is submitted and stored with it, so that a change of the
// configuration changes no job that was accepted before. Precedence: job, kind, queue, server.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/custom_policy.h"
#include "core/job.h"
#include "core/policy.h"

namespace perdure {

struct PolicyBook {
    template <class Content>
    using ByName = std::map<std::string, Content, std::less<>>;

    ByName<PolicyChoice> named;   // only their base and rules are taken
    ByName<std::string> of_kind;  // the name of a policy, built in or one of `named`
    ByName<std::string> of_queue;
    std::string of_server = "default";
};

enum class PolicyLevel { job, kind, queue, server };

constexpr std::string_view to_string(PolicyLevel level) {
    switch (level) {
        case PolicyLevel::job: return "job";
        case PolicyLevel::kind: return "kind";
        case PolicyLevel::queue: return "queue";
        case PolicyLevel::server: return "server";
    }
    return "server";
}

// inherited: the job does not say which policy it wants. chosen: it does, by its own rules or only
// by a name (PolicyChoice::custom). settled: it was decided before, and stays.
enum class PolicyWish { inherited, chosen, settled };

struct PolicyDecision {
    PolicyChoice policy;
    PolicyLevel level = PolicyLevel::job;  // who chose it
    std::optional<RuleFault> refused;      // its place is empty if the name is to blame
};

// What the job says about retries is always its own. A policy that it inherits may contradict its
// effects, which win (E3); one that it chooses itself may not.
PolicyDecision decide_policy(const PolicyBook& book, const JobSpec& spec, PolicyWish wish);

bool knows(const PolicyBook& book, std::string_view name);
// A sentence with a suggestion.
std::string no_such_policy(const PolicyBook& book, std::string_view name);

}  // namespace perdure
