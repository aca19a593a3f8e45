// Policy book: the policies that a server knows by name, and where each of them applies.
// A job's policy is settled when it is submitted and stored with it, so that a change of the
// configuration changes no job that was accepted before. Precedence: job, kind, queue, worker,
// server. A worker's policy is settled when its session is opened, and stored with that: it judges
// what ends there of the jobs that have only inherited the server's.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/job/job.h"
#include "core/policy/custom_policy.h"
#include "core/policy/policy.h"

namespace perdure {

struct PolicyBook {
    template <class Content>
    using ByName = std::map<std::string, Content, std::less<>>;

    ByName<PolicyChoice> named;   // only their base and rules are taken
    ByName<std::string> of_kind;  // the name of a policy, built in or one of `named`
    ByName<std::string> of_queue;
    ByName<std::string> of_worker;
    std::string of_server = "default";
};

// inherited: the job does not say which policy it wants. chosen: it does, by its own rules or only
// by a name (PolicyChoice::custom). settled: it was decided before, and stays.
enum class PolicyOrigin { inherited, chosen, frozen };

struct PolicyDecision {
    PolicyChoice policy;
    PolicyLevel level = PolicyLevel::job;  // who chose it
    std::optional<RuleFault> refused;      // its place is empty if the name is to blame
};

// What the job says about retries is always its own. A policy that it inherits may contradict its
// effects, which win (E3); one that it chooses itself may not.
PolicyDecision decide_policy(const PolicyBook& book, const JobSpec& spec, PolicyOrigin origin);

// The policy of the worker of this name; empty: it has none of its own.
std::optional<PolicyChoice> decide_worker_policy(const PolicyBook& book, std::string_view worker);

// Whether the worker that an attempt ends on has a say: nobody more specific has chosen.
constexpr bool is_left_to_worker(const PolicyChoice& job) {
    return job.level == PolicyLevel::server;
}

// What judges an attempt of a job: the job's policy, or that of the worker that has it, or had it
// last. nullptr: that worker has none of its own.
PolicyChoice policy_for_attempt(const PolicyChoice& job, const PolicyChoice* worker);

bool knows(const PolicyBook& book, std::string_view name);
// A sentence with a suggestion.
std::string no_such_policy(const PolicyBook& book, std::string_view name);

}  // namespace perdure
