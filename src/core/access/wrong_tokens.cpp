#include "core/access/wrong_tokens.h"

#include <algorithm>

namespace perdure {
namespace {

// 250 ms, 500 ms, 1 s, 2 s, 4 s, 4 s, …
Duration step_of(std::uint64_t count) {
    auto step = WrongTokens::first_wait;
    for (std::uint64_t i = 1; i < count && step < WrongTokens::step_max; ++i) step = step * 2;
    return std::min(step, WrongTokens::step_max);
}

bool is_power_of_ten(std::uint64_t count) {
    if (count < 10) return false;
    while (count % 10 == 0) count /= 10;
    return count == 1;
}

}  // namespace

WrongTokens::Source& WrongTokens::source_of(const std::string& name, BootTime now) {
    const auto known = sources_.find(name);
    if (known != sources_.end()) return known->second;
    if (sources_.size() >= sources_max)
        sources_.erase(std::min_element(
            sources_.begin(), sources_.end(),
            [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
    return sources_.emplace(name, Source{.last = now, .answered = now}).first->second;
}

WrongTokens::Verdict WrongTokens::note(const std::string& name, BootTime now) {
    auto& source = source_of(name, now);
    if (now - source.last >= forgotten_after) source = {.last = now, .answered = now};
    ++source.count;
    source.last = now;
    const auto due = std::max(source.answered, now) + step_of(source.count);
    source.answered = std::min(due, now + wait_max);
    return {source.answered - now, source.count, is_power_of_ten(source.count)};
}

}  // namespace perdure
