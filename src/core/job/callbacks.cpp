#include "core/job/callbacks.h"

#include <algorithm>

#include "base/zoo.h"

namespace perdure {

bool fires_on(Trigger on, JobState ended_as) {
    if (!has_ended(ended_as)) return false;
    switch (on) {
        case Trigger::success: return ended_as == JobState::succeeded;
        case Trigger::failure:
            return ended_as == JobState::failed || ended_as == JobState::expired ||
                   ended_as == JobState::quarantined;
        case Trigger::end: return true;
    }
    return false;
}

Input input_of(const CallbackOf& ended, JobState state, Cause cause, const AttemptEnd* end,
               std::string_view result) {
    Input input{.job = ended.job, .generation = ended.generation, .state = state, .cause = cause};
    if (end && end->ran == Ran::yes && is_own_exit(end->cause)) input.exit_code = end->exit_code;
    input.result_left_out = result.size() > input_result_max;
    if (!input.result_left_out) input.result = result;
    return input;
}

std::vector<Input> within_limit(std::vector<Input> inputs) {
    std::size_t size = 0;
    for (auto& input : inputs) {
        if (size + input.result.size() > input_results_max) {
            input.result.clear();
            input.result_left_out = true;
        }
        size += input.result.size();
    }
    return inputs;
}

AfterDecision decide_after(const std::vector<AwaitedFacts>& others) {
    using Kind = AfterDecision::Kind;
    const auto has_come = [](const AwaitedFacts& o) { return o.ended_as.has_value(); };
    const auto does_not_fit = [](const AwaitedFacts& o) {
        return o.ended_as && !fires_on(o.on, *o.ended_as);
    };
    if (std::any_of(others.begin(), others.end(), does_not_fit))
        return {Kind::cancel, "C4/after_did_not_hold"};
    const bool all = std::all_of(others.begin(), others.end(), has_come);
    const bool early =
        zoo(Bug::barrier_released_early) && std::any_of(others.begin(), others.end(), has_come);
    if (!all && !early) return {Kind::wait, "C4/after_waits"};
    return {Kind::go_on, "C4/after_all"};
}

std::vector<CallbackOf> callbacks_made_by(JobId job, std::uint32_t generation, JobState ended_as,
                                          const std::vector<CallbackRule>& rules) {
    std::vector<CallbackOf> made;
    for (const auto& rule : rules) {
        if (rule.since_generation <= generation && fires_on(rule.on, ended_as))
            made.push_back({job, generation, rule.number});
    }
    return made;
}

std::vector<CallbackOf> callbacks_owed(JobId job, std::uint32_t generation, JobState state,
                                       const std::vector<CallbackRule>& rules) {
    std::vector<CallbackOf> owed;
    for (std::uint32_t g = 1; g <= generation; ++g) {
        const auto ended_as = g < generation ? JobState::quarantined : state;
        const auto made = callbacks_made_by(job, g, ended_as, rules);
        owed.insert(owed.end(), made.begin(), made.end());
    }
    return owed;
}

Error no_such_other(JobId other) {
    return error(Errc::invalid, "after: there is no job " + other.text() +
                                    ", or it was removed: name jobs that are there");
}

Error other_tenant_in_batch() {
    return error(Errc::invalid,
                 "after: that job of the batch belongs to another tenant: name jobs of one tenant");
}

Error too_many_callbacks() {
    return error(Errc::invalid, "the job has as many callbacks as it may have: 100");
}

JobSpec made_from(const JobSpec& callback, const CallbackOf& of) {
    auto spec = callback;
    spec.callback_of = of;
    return spec;
}

}  // namespace perdure
