#include "sim/host/sim_host.h"

#include <fmt/format.h>

#include <utility>

namespace perdure::sim {

SimHost::SimHost(Parts parts, std::uint32_t number, HostTime time)
    : parts_(parts), number_(number), time_(time), rng_(parts.world.split_rng()) {
    read_most_ = static_cast<std::size_t>(rng_.between(40, 400));
}

void SimHost::power_loss() {
    for (auto& [attempt, shim] : shims_) shim->destroy();
    shims_.clear();
    ++boot_;
    crashes_.clear();
    follows_a_crash_ = false;
}

// On the true clock: only their distances matter.
void SimHost::worker_crashed() {
    follows_a_crash_ = true;
    crashes_.push_back({parts_.world.now().us});
}

CrashHistory SimHost::crash_history() {
    crashes_ = crashes_in_a_row(std::move(crashes_), {parts_.world.now().us});
    return {follows_a_crash_, crashes_};
}

void SimHost::pause_shims() {
    for (auto& [attempt, shim] : shims_) shim->pause();
}

void SimHost::resume_shims() {
    for (auto& [attempt, shim] : shims_) shim->resume();
}

bool SimHost::kill_some_shim(Rng& rng) {
    std::vector<SimShim*> candidates;
    for (auto& [attempt, shim] : shims_)
        if (shim->alive() && !disk_.at(attempt).result) candidates.push_back(shim.get());
    if (candidates.empty()) return false;
    candidates[rng.below(candidates.size())]->die();
    return true;
}

void SimHost::copy_disk(const SimHost& from, StateDirectory as) {
    disk_ = from.disk_;
    life_number_ = from.life_number_;
    copied_ = std::move(as);
}

void SimHost::lose_directories() {
    for (auto& [attempt, shim] : shims_) shim->destroy();
    shims_.clear();
    disk_.clear();
}

StateDirectory SimHost::directory() const {
    if (copied_) return *copied_;
    return {.machine = fmt::format("machine-{}", number_),
            .boot = fmt::format("boot-{}", boot_),
            .device = 1,
            .inode = 100 + number_};
}

SimShim* SimHost::shim(AttemptKey attempt) {
    const auto found = shims_.find(attempt);
    return found == shims_.end() ? nullptr : found->second.get();
}

SimShim* SimHost::other_epoch(AttemptKey attempt) {
    for (auto& [key, shim] : shims_) {
        const bool busy = (shim->alive() && !disk_.at(key).result) || shim->process_alive();
        if (key.job == attempt.job && key.epoch != attempt.epoch && busy) return shim.get();
    }
    return nullptr;
}

void SimHost::launch(AttemptKey attempt) {
    shims_[attempt] = std::make_unique<SimShim>(*this, disk_.at(attempt));
}

void SimHost::remove(AttemptKey attempt) {
    shims_.erase(attempt);
    disk_.erase(attempt);
}

Duration SimHost::durable_write() {
    const bool slow = parts_.plan.has(Fault::slow_disk) && rng_.chance(0.03);
    if (!slow) return milliseconds(1);
    // About as long as a go is good, too: then the shim must not start any more.
    const auto go = parts_.plan.timing.go;
    return rng_.chance(0.3) ? rng_.between(go / 2, go * 2) : rng_.skewed(milliseconds(1), go * 2);
}

bool SimHost::shim_fails_to_launch() {
    return parts_.plan.has(Fault::shim_fails) && rng_.chance(0.03);
}

}  // namespace perdure::sim
