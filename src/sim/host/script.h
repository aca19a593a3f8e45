// Script: what a simulated job does when it runs. A job carries the number of its script in its
// arguments, so that every attempt behaves as its author wrote it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/policy/cause.h"
#include "sim/plan.h"
#include "sim/world/rng.h"

namespace perdure::sim {

struct Script {
    enum class End { succeed, fail, crash, hang, kill_worker, conflict, disconnected };
    Duration length = seconds(1);
    End end = End::succeed;
    std::uint32_t bad_attempts = UINT32_MAX;  // after this many runs it succeeds
    bool ignores_sigterm = false;
    bool forks = false;  // and what it forked outlives it, until the shim has swept it up
    std::optional<Duration> checkpoint_at;
    std::optional<Duration> begin_at;
    std::optional<Duration> begin_after;  // the checkpoint was confirmed
    // What it prints, and how long after its start.
    struct Print {
        Duration at;
        std::uint32_t bytes = 0;
        friend bool operator==(const Print&, const Print&) = default;
    };
    std::vector<Print> prints = {};

    friend bool operator==(const Script&, const Script&) = default;
};

class Scripts {
public:
    std::string add(Script script) {
        scripts_.push_back(script);
        return std::to_string(scripts_.size() - 1);
    }
    const Script& of(const std::string& args) const { return scripts_[std::stoul(args)]; }

private:
    std::vector<Script> scripts_;
};

Script draw_script(Rng& rng, const Plan& plan);

}  // namespace perdure::sim
