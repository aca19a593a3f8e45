// What the parts of a worker share: its ports, options and intent, and the bells that wake each
// loop. Parts know each other's state, never each other's loops: they ring.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/time.h"
#include "core/ownership/claim.h"
#include "core/ownership/crash_loop.h"
#include "core/ownership/timing.h"
#include "ports/clock.h"
#include "ports/gate.h"
#include "ports/process.h"
#include "ports/random.h"
#include "ports/server_api.h"

namespace perdure {

struct WorkerPorts {
    Clock& clock;
    Random& random;
    ServerApi& servers;
    Processes& processes;
};

struct WorkerOptions {
    std::string name;
    std::uint32_t slots = 1;
    Offer offer;
    Timing timing;
    std::optional<BootTime> died_at = {};  // the life before this one, if its watchdog saw it
};

// working: takes what it is given. draining: hands back and waits for what runs. detaching: leaves
// its shims to the next worker on this directory (L2).
enum class WorkerMode { working, draining, detaching };

// How long a loop without work sleeps: a bell rings for everything new.
inline constexpr Duration idle_wait = minutes(1);

struct WorkerContext {
    WorkerContext(WorkerPorts p, WorkerOptions o, Log l)
        : ports(p),
          options(std::move(o)),
          log(std::move(l)),
          gate(p.clock.executor()),
          began_at(p.clock.boot()) {
        for (auto* bell : {&opening_bell, &heartbeat_bell, &stream_bell, &report_bell, &watch_bell,
                           &drain_bell, &output_bell}) {
            *bell = make_alarm();
        }
    }

    // An alarm that also rings when the worker stops.
    std::unique_ptr<Alarm> make_alarm() {
        auto alarm = ports.clock.make_alarm();
        stop.wakes(*alarm);
        return alarm;
    }

    BootTime now() const { return ports.clock.boot(); }
    bool takes_new() const { return mode == WorkerMode::working; }
    // In all, those of adopted attempts included (O9).
    std::uint32_t slots() const {
        if (!takes_new()) return 0;
        return decide_slots({.slots = options.slots,
                             .on_probation = crash_loop.on_probation,
                             .spares_nobody = crash_loop.spares_nobody,
                             .adopted = adopted,
                             .good_ends = good_ends,
                             .alive_for = now() - began_at},
                            options.timing)
            .slots;
    }

    WorkerPorts ports;
    WorkerOptions options;
    Log log;
    Stop stop;
    Gate gate;
    WorkerMode mode = WorkerMode::working;
    std::uint32_t announced = 0;  // heartbeats of this session, accepted in this mode
    CrashLoopDecision crash_loop;
    BootTime began_at;
    std::uint32_t adopted = 0;    // attempts that ran before this life began, and run still
    std::uint32_t good_ends = 0;  // in this life
    bool directory_is_open = false;
    Alarm* when_opened = nullptr;  // rung when a session has been opened

    std::unique_ptr<Alarm> opening_bell;    // the session is over
    std::unique_ptr<Alarm> heartbeat_bell;  // send one now
    std::unique_ptr<Alarm> stream_bell;     // there is a session
    std::unique_ptr<Alarm> report_bell;     // there may be something to report
    std::unique_ptr<Alarm> watch_bell;      // a deadline may have come nearer
    std::unique_ptr<Alarm> output_bell;     // an attempt has printed something, or ended
    std::unique_ptr<Alarm> drain_bell;      // an attempt has left, or a heartbeat was accepted
};

}  // namespace perdure
