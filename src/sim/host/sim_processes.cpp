#include "sim/host/sim_processes.h"

#include <algorithm>
#include <utility>

#include "base/probe.h"

namespace perdure::sim {
namespace {

constexpr auto lock_patience = milliseconds(500);  // O8
constexpr auto hang_step = seconds(1);             // a hang may end sooner than it was to

}  // namespace

SimProcesses::SimProcesses(SimHost& host, Life worker) : host_(host), worker_(worker) {
    host_.to_worker = [this](ProcessEvent event) { push(std::move(event)); };
    host_.shim_died = [this](AttemptKey attempt) {
        host_.parts().world.after(host_.rng().between(milliseconds(1), milliseconds(200)), worker_,
                                  [this, attempt] { bury(attempt); });
    };
}

SimProcesses::~SimProcesses() {
    host_.to_worker = nullptr;
    host_.shim_died = nullptr;
}

Task<void> SimProcesses::wait_for_disk(Duration wait) {
    co_await host_.parts().world.sleep(worker_, wait);
}

Task<Result<WorkerLife>> SimProcesses::open() {
    co_await wait_for_disk(milliseconds(2));
    WorkerLife life{.directory = host_.directory(), .life = host_.raise_life()};
    life.history = host_.crash_history();
    for (const auto& [key, directory] : host_.disk()) {
        auto* shim = host_.shim(key);
        // An orphan's tree is killed before anything else is said about it (O8).
        if (shim && !shim->alive()) shim->kill_tree();
        life.found.push_back({.attempt = key,
                              .assignment = directory.assignment.number,
                              .life = directory.life,
                              .policy = directory.assignment.spec->policy.name,
                              .terms = directory.assignment.terms,
                              .started = directory.started,
                              .shim_alive = shim && shim->alive(),
                              .result = directory.result});
    }
    co_return life;
}

Task<Result<std::uint64_t>> SimProcesses::next_life() {
    co_await wait_for_disk(milliseconds(1));
    co_return host_.raise_life();
}

Task<Result<void>> SimProcesses::prepare(Assignment assignment) {
    const auto key = assignment.attempt;
    auto& world = host_.parts().world;
    while (world.now() < host_.hangs_until()) {
        reached<"worker_hung_with_an_assignment">();
        co_await wait_for_disk(std::min(host_.hangs_until() - world.now(), hang_step));
    }
    auto* busy = host_.other_epoch(key);
    if (busy) {
        reached<"lock_held_by_another_epoch">();
        const bool is_older = busy->attempt().epoch < key.epoch;
        if (is_older) busy->kill(Cause::cut_off);
        if (is_older && !busy->alive()) busy->kill_tree();
        co_await wait_for_disk(lock_patience);
        if (host_.other_epoch(key)) co_return error(Errc::conflict, "the job's lock is held");
    }
    co_await wait_for_disk(milliseconds(1));
    if (host_.shim_fails_to_launch()) co_return error(Errc::unavailable, "the shim did not start");
    if (host_.disk().contains(key)) co_return Result<void>{};  // it is there: adopt it
    host_.disk()[key] = {.assignment = std::move(assignment), .life = host_.life_number()};
    host_.launch(key);
    co_return Result<void>{};
}

void SimProcesses::start(AttemptKey attempt, StartOrder order) {
    if (auto* shim = host_.shim(attempt)) shim->order_start(order);
}

void SimProcesses::renew(AttemptKey attempt, BootTime lease_until) {
    auto* shim = host_.shim(attempt);
    if (shim && shim->alive()) shim->renew(lease_until);
}

void SimProcesses::kill(AttemptKey attempt, Cause cause) {
    if (auto* shim = host_.shim(attempt)) shim->kill(cause);
}

void SimProcesses::deliver(AttemptKey attempt, ProcessAnswer answer) {
    if (auto* shim = host_.shim(attempt)) shim->answer(answer.kind, answer.committed);
}

Task<Result<std::string>> SimProcesses::output(AttemptKey attempt, std::uint64_t offset,
                                               std::size_t max) {
    co_await wait_for_disk(microseconds(100));
    const auto directory = host_.disk().find(attempt);
    if (directory == host_.disk().end()) co_return error(Errc::not_found, "there is no output");
    const auto& text = directory->second.output;
    if (offset >= text.size()) co_return std::string{};
    co_return text.substr(offset, std::min(max, host_.read_most()));
}

void SimProcesses::forget(AttemptKey attempt) { host_.remove(attempt); }

// The shim is dead without a result: kill what it left behind, then say so.
void SimProcesses::bury(AttemptKey attempt) {
    auto* shim = host_.shim(attempt);
    const auto directory = host_.disk().find(attempt);
    if (!shim || directory == host_.disk().end() || directory->second.result) return;
    reached<"shim_lost">();
    shim->kill_tree();
    const bool started = directory->second.started;
    push({.kind = ProcessEvent::Kind::ended,
          .attempt = attempt,
          .end = {.cause = started ? Cause::shim_lost : Cause::shim_failed,
                  .ran = started ? Ran::maybe : Ran::no,
                  .reported = true}});
}

void SimProcesses::push(ProcessEvent event) {
    events_.push_back(std::move(event));
    if (waiting_) host_.parts().world.wake(*waiting_);
}

Task<std::vector<ProcessEvent>> SimProcesses::next_events() {
    while (events_.empty()) {
        co_await suspend(
            [this](Suspended me) { waiting_ = host_.parts().world.park(worker_, std::move(me)); });
        waiting_.reset();
    }
    co_return std::exchange(events_, {});
}

}  // namespace perdure::sim
