#include "core/worker/restart.h"

#include <algorithm>

namespace perdure {
namespace {

constexpr auto wait_max = seconds(3);  // L1: shims wait 5 s for the next worker
constexpr auto long_life = seconds(10);

// At once for the first time, then 0.1 s, 0.2 s, ...
Duration back_off(std::uint32_t in_a_row) {
    if (in_a_row == 0) return Duration{};
    const auto doublings = std::min<std::uint32_t>(in_a_row - 1, 5);
    return std::min(milliseconds(100) * (std::int64_t{1} << doublings), wait_max);
}

// A child that refuses to work says so by one of our own codes, with a sentence.
bool is_refusal(ExitCode code) {
    switch (code) {
        case ExitCode::usage:
        case ExitCode::not_found:
        case ExitCode::conflict:
        case ExitCode::unreachable:
        case ExitCode::outcome_unknown:
        case ExitCode::forbidden:
        case ExitCode::corrupt:
        case ExitCode::temporary: return true;
        default: return false;
    }
}

// Whatever is wrong stays wrong until a person has changed something. At the very start that is
// true of every refusal: the port or the directory is somebody else's, the disk cannot be written.
// Later it was ours and worked: it may work again.
bool is_hopeless(const ChildEndFacts& facts) {
    const auto code = static_cast<ExitCode>(facts.exit_code);
    if (code == ExitCode::usage || code == ExitCode::corrupt) return true;
    return !facts.ever_ready && is_refusal(code);
}

}  // namespace

ChildEndDecision decide_child_end(const ChildEndFacts& facts) {
    using Kind = ChildEndDecision::Kind;
    if (facts.told_to_stop) return {Kind::stopped, {}, false, "L1/stopped"};
    if (!facts.by_signal) {
        if (facts.exit_code == 0) return {Kind::left, {}, false, "L1/left_by_itself"};
        if (is_hopeless(facts)) return {Kind::give_up, {}, false, "L1/hopeless"};
    }
    if (facts.ready_for >= long_life) return {Kind::again, {}, false, "L1/restart"};
    return {Kind::again, back_off(facts.in_a_row), true, "L1/restart_after_short_life"};
}

bool decide_sign_of_life(std::span<const ChildLoopFacts> children) {
    return std::ranges::all_of(children, [](const ChildLoopFacts& child) {
        return !child.ready || child.stopping || child.alive;
    });
}

}  // namespace perdure
