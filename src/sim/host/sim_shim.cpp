#include <fmt/format.h>

#include <utility>

#include "base/probe.h"
#include "sim/host/sim_host.h"

namespace perdure::sim {

SimShim::SimShim(SimHost& host, AttemptDirectory& directory)
    : host_(host), directory_(directory), life_(host.parts().world.new_life()) {
    worker_heard_at_ = now();
}

SimShim::~SimShim() { destroy(); }

BootTime SimShim::now() const { return host_.time().boot(host_.parts().world.now()); }

void SimShim::pause() { host_.parts().world.pause(life_); }
void SimShim::resume() { host_.parts().world.resume(life_); }

void SimShim::order_start(StartOrder order) {
    if (!alive_ || directory_.result) return;
    start_ordered_ = true;
    go_until_ = order.go_until;
    renew(order.lease_until);
    // The order travels through a socket: the shim acts when it is next scheduled.
    host_.parts().world.after(microseconds(50), life_, [this] { try_exec(); });
}

void SimShim::renew(BootTime lease_until) {
    lease_until_ = std::max(lease_until_, lease_until);
    worker_heard_at_ = now();
    schedule_check();
}

void SimShim::try_exec() {
    if (exec_under_way_ || killing_ || directory_.result) return;
    const ExecFacts facts{.terms = terms(),
                          .now = now(),
                          .go_until = go_until_,
                          .lease_until = lease_until_,
                          .already_started = directory_.started,
                          .kill_ordered = killing_.has_value()};
    const auto decision = decide_exec(facts, host_.parts().plan.timing);
    if (decision.answer == ExecAnswer::never && !directory_.started) {
        reached<"shim_refused_to_exec">();
        finish({.cause = Cause::cut_off, .ran = Ran::no});
    }
    if (decision.answer != ExecAnswer::exec) return;
    exec_under_way_ = true;
    directory_.started = true;
    host_.parts().world.after(host_.durable_write(), life_, [this] { exec(); });
}

// `started` is durable. The machine may have slept since the check: look once more.
void SimShim::exec() {
    const ExecFacts facts{.terms = terms(),
                          .now = now(),
                          .go_until = go_until_,
                          .lease_until = lease_until_,
                          .already_started = false,
                          .kill_ordered = killing_.has_value()};
    if (decide_exec(facts, host_.parts().plan.timing).answer != ExecAnswer::exec) {
        reached<"shim_gave_up_after_writing_started">();
        finish({.cause = killing_.value_or(Cause::cut_off), .ran = Ran::no});
        return;
    }
    auto& parts = host_.parts();
    run_ = parts.witness.began({.attempt = attempt(),
                                .host = host_.number(),
                                .terms = terms(),
                                .spec = directory_.assignment.spec,
                                .began = parts.world.now(),
                                .died = std::nullopt});
    if (parts.world.tracing())
        parts.world.trace(fmt::format("host {}: exec {} epoch {}", host_.number(),
                                      attempt().job.text(), attempt().epoch.value));
    say(ProcessEvent::Kind::started);
    run_script();
    schedule_check();
}

void SimShim::run_script() {
    auto& world = host_.parts().world;
    const auto& script = host_.parts().scripts.of(directory_.assignment.spec->args);
    if (script.checkpoint_at)
        world.after(*script.checkpoint_at, life_, [this] { say(ProcessEvent::Kind::checkpoint); });
    if (script.begin_at)
        world.after(*script.begin_at, life_, [this] { say(ProcessEvent::Kind::begin); });
    for (const auto& print : script.prints)
        world.after(print.at, life_, [this, bytes = print.bytes] { this->print(bytes); });
    const bool bad = attempt().epoch.value <= script.bad_attempts;
    const auto run_timeout = directory_.assignment.spec->timeouts.run;
    const bool hangs = script.end == Script::End::hang && bad;
    if (hangs || script.length >= run_timeout) {
        world.after(run_timeout, life_, [this] { kill(Cause::timeout_run); });
        return;
    }
    world.after(script.length, life_, [this] { script_ends(); });
}

// Numbers, and whose they are: a piece of another attempt, or of another place, is seen as such.
void SimShim::print(std::uint32_t bytes) {
    if (!run_ || leader_end_) return;
    std::string text;
    const auto before = directory_.output.size();
    while (text.size() < bytes)
        text += fmt::format("{} {} {};", attempt().job.text(), attempt().epoch.value,
                            before + text.size());
    text.resize(bytes);
    directory_.output += text;
    host_.parts().witness.printed(*run_, text);
    if (host_.to_worker)
        host_.to_worker({.kind = ProcessEvent::Kind::printed, .attempt = attempt(), .end = {}});
}

AttemptEnd SimShim::end_of_script() const {
    using End = Script::End;
    const auto& script = host_.parts().scripts.of(directory_.assignment.spec->args);
    const bool bad = attempt().epoch.value <= script.bad_attempts;
    AttemptEnd end{.cause = Cause::exit, .ran = Ran::yes};
    end.clean = host_.parts().witness.runs()[*run_].clean;
    switch (bad ? script.end : End::succeed) {
        case End::succeed: end.succeeded = true; break;
        case End::fail: end.exit_code = 1; break;
        case End::crash: end.cause = Cause::crash_signal, end.exit_code = 11; break;
        case End::kill_worker: end.cause = Cause::crash_signal, end.exit_code = 9; break;
        case End::conflict: end.cause = Cause::conflict; break;
        case End::disconnected: end.cause = Cause::disconnected; break;
        case End::hang: break;
    }
    return end;
}

void SimShim::script_ends() {
    if (!run_ || leader_end_) return;
    const auto& script = host_.parts().scripts.of(directory_.assignment.spec->args);
    const bool bad = attempt().epoch.value <= script.bad_attempts;
    if (script.end == Script::End::kill_worker && bad && !killing_) {
        reached<"job_killed_its_worker">();
        if (host_.kill_worker) host_.kill_worker();
    }
    leader_end_ = end_of_script();
    leader_exited_by_itself_ = !killing_;
    if (killing_) {  // it died of our SIGTERM or while we were at it
        leader_end_->succeeded = false;
        leader_end_->cause = *killing_;
    }
    // For a lease, everything is killed in one go.
    if (!script.forks || killing_ == Cause::cut_off) return tree_is_gone();
    // What is left of its tree is killed, and looked for again until nothing is found [P8].
    reached<"shim_swept_up_a_tree">();
    const auto takes = host_.rng().between(milliseconds(1), milliseconds(50));
    host_.parts().world.after(takes, life_, [this] { tree_is_gone(); });
}

void SimShim::tree_is_gone() {
    if (!run_) return;
    process_dies(leader_exited_by_itself_);
    finish(*leader_end_);
}

void SimShim::kill(Cause cause) {
    if (!alive_ || directory_.result) return;
    if (!run_) {
        killing_ = cause;
        if (!exec_under_way_) finish({.cause = cause, .ran = Ran::no});
        return;
    }
    if (std::exchange(killing_, killing_.value_or(cause))) return;
    const auto& script = host_.parts().scripts.of(directory_.assignment.spec->args);
    const auto& timing = host_.parts().plan.timing;
    // A lease that has expired leaves no time for manners.
    const bool at_once = cause == Cause::cut_off;
    const auto takes = at_once                  ? Duration{}
                       : script.ignores_sigterm ? timing.kill_grace
                                                : milliseconds(20);
    if (takes == Duration{}) {
        script_ends();
        return;
    }
    host_.parts().world.after(takes, life_, [this] { script_ends(); });
}

void SimShim::schedule_check() {
    if (!alive_ || directory_.result) return;
    const auto kill = decide_lease_kill(
        {.terms = terms(), .lease_until = lease_until_, .worker_heard_at = worker_heard_at_},
        host_.parts().plan.timing);
    const auto number = ++checks_;
    if (!kill.at) return;
    const auto wait = host_.time().true_length(std::max(*kill.at - now(), Duration{}));
    host_.parts().world.after(wait, life_, [this, number] {
        if (number == checks_) check_lease();
    });
}

void SimShim::check_lease() {
    if (directory_.result || !run_) return;
    const auto decision = decide_lease_kill(
        {.terms = terms(), .lease_until = lease_until_, .worker_heard_at = worker_heard_at_},
        host_.parts().plan.timing);
    if (!decision.at || now() < *decision.at) return schedule_check();
    reached<"shim_killed_for_its_lease">();
    if (leader_end_) return tree_is_gone();  // its command has ended; what that left must go, too
    killing_ = Cause::cut_off;
    script_ends();
}

void SimShim::process_dies(bool own_exit) {
    if (!run_) return;
    host_.parts().witness.died(*run_, host_.parts().world.now(), own_exit);
    run_.reset();
}

void SimShim::finish(AttemptEnd end) {
    if (std::exchange(finishing_, true)) return;
    end.reported = true;
    if (killing_ == Cause::cancelled && end.succeeded) end.succeeded = false;
    host_.parts().world.after(host_.durable_write(), life_, [this, end] {
        directory_.result = end;
        host_.parts().world.trace(fmt::format(
            "host {}: result of {} epoch {}: {} ran {}", host_.number(), attempt().job.text(),
            attempt().epoch.value, to_string(end.cause), to_string(end.ran)));
        if (host_.to_worker)
            host_.to_worker({.kind = ProcessEvent::Kind::ended, .attempt = attempt(), .end = end});
        alive_ = false;
    });
}

void SimShim::say(ProcessEvent::Kind kind) {
    if (!run_ || !host_.to_worker) return;
    // The process waits for the answer; it cannot ask for two things at once (O10).
    const bool asks = kind != ProcessEvent::Kind::started;
    if (asks && std::exchange(asking_, true)) return;
    // What it asks to save, it may find again; only a confirmed `begin` makes it dirty.
    if (kind == ProcessEvent::Kind::checkpoint) host_.parts().witness.set_clean(*run_, true);
    host_.to_worker({.kind = kind,
                     .attempt = attempt(),
                     .end = {},
                     .checkpoint = "state",
                     .number = asks ? ++progress_number_ : 0});
}

void SimShim::answer(ProcessEvent::Kind kind, bool committed) {
    asking_ = false;
    if (!run_ || !committed) return;
    if (kind == ProcessEvent::Kind::begin) return host_.parts().witness.set_clean(*run_, false);
    const auto& script = host_.parts().scripts.of(directory_.assignment.spec->args);
    if (script.begin_after)
        host_.parts().world.after(*script.begin_after, life_,
                                  [this] { say(ProcessEvent::Kind::begin); });
}

void SimShim::die() {
    host_.parts().world.trace(fmt::format("host {}: shim of {} epoch {} killed", host_.number(),
                                          attempt().job.text(), attempt().epoch.value));
    host_.parts().world.end_life(life_);
    alive_ = false;
    if (run_) host_.parts().witness.set_orphan(*run_);
    if (host_.shim_died) host_.shim_died(attempt());
}

void SimShim::destroy() {
    process_dies(false);
    if (host_.parts().world.alive(life_)) host_.parts().world.end_life(life_);
    alive_ = false;
}

}  // namespace perdure::sim
