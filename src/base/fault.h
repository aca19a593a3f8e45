// Fault points: named places at which Perdure can be told to fail, so that anybody can see what
// becomes of a job then [P5]. Armed by `debug.faults`, by name, percentage and count:
//     worker.after_spawn=100%x1,server.answer_lost=20%
// Not armed, a fault point is one predictable branch and nothing else. A crash is SIGKILL to
// itself. Counts hold over restarts: they are written down before the fault strikes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perdure {

// In the order of the table below.
enum class Fault : std::uint8_t {
    server_before_submit,
    server_after_submit,
    server_before_claim,
    server_after_claim,
    server_before_start,
    server_after_start,
    server_before_report,
    server_after_report,
    server_before_tick,
    server_after_tick,
    server_stream_lost,
    server_answer_lost,
    store_conflict,
    store_reply_lost,
    store_full,
    store_sync_fails,
    worker_assignment_lost,
    worker_after_assignment,
    worker_no_directory,
    worker_after_directory,
    worker_after_spawn,
    worker_after_go,
    worker_after_result,
    worker_before_forget,
    worker_lock_held,
    worker_report_lost,
    worker_heartbeat_lost,
    worker_start_hangs,
    shim_not_launched,
    shim_dies_at_once,
    shim_after_started,
    shim_exec_fails,
    shim_dies_running,
    shim_tree_survives,
    shim_disk_full,
    shim_before_rename,
    shim_after_rename,
};

struct FaultPoint {
    Fault fault;
    std::string_view name;
    std::string_view sentence;  // what happens there
};

inline constexpr std::array fault_points = {
    FaultPoint{Fault::server_before_submit, "server.before_submit",
               "the server dies before it commits a submit"},
    FaultPoint{Fault::server_after_submit, "server.after_submit",
               "the server dies after the commit of a submit, before it answers"},
    FaultPoint{Fault::server_before_claim, "server.before_claim",
               "the server dies before it commits a claim"},
    FaultPoint{Fault::server_after_claim, "server.after_claim",
               "the server dies after the commit of a claim, before the worker is told"},
    FaultPoint{Fault::server_before_start, "server.before_start",
               "the server dies before it commits a start"},
    FaultPoint{Fault::server_after_start, "server.after_start",
               "the server dies after the commit of a start, before it answers"},
    FaultPoint{Fault::server_before_report, "server.before_report",
               "the server dies before it commits the end of an attempt"},
    FaultPoint{Fault::server_after_report, "server.after_report",
               "the server dies after the commit of an end, before it answers"},
    FaultPoint{Fault::server_before_tick, "server.before_tick",
               "the server dies before it commits a tick of service time"},
    FaultPoint{Fault::server_after_tick, "server.after_tick",
               "the server dies after a tick, before it sweeps"},
    FaultPoint{Fault::server_stream_lost, "server.stream_lost",
               "the stream to a worker breaks instead of carrying an assignment"},
    FaultPoint{Fault::server_answer_lost, "server.answer_lost",
               "what a worker reports is committed, and the connection breaks before the answer"},
    FaultPoint{Fault::store_conflict, "store.conflict",
               "the store aborts the commit of an end because of a neighbour's"},
    FaultPoint{Fault::store_reply_lost, "store.reply_lost",
               "the store commits, and its reply is lost"},
    FaultPoint{Fault::store_full, "store.full", "the store has no room for a submit"},
    FaultPoint{Fault::store_sync_fails, "store.sync_fails",
               "the disk does not take a commit: this server's life is over"},
    FaultPoint{Fault::worker_assignment_lost, "worker.assignment_lost",
               "an assignment gets lost on its way to the worker"},
    FaultPoint{Fault::worker_after_assignment, "worker.after_assignment",
               "the worker dies with an assignment in hand, before there is a directory"},
    FaultPoint{Fault::worker_no_directory, "worker.no_directory",
               "the worker cannot make the attempt's directory: no room"},
    FaultPoint{Fault::worker_after_directory, "worker.after_directory",
               "the worker dies after it has made the directory, before the shim"},
    FaultPoint{Fault::worker_after_spawn, "worker.after_spawn",
               "the worker dies after it has started the shim, before it notes it"},
    FaultPoint{Fault::worker_after_go, "worker.after_go",
               "the worker dies with the server's go in hand, before it tells the shim"},
    FaultPoint{Fault::worker_after_result, "worker.after_result",
               "the worker dies with a result on disk, before it reports it"},
    FaultPoint{Fault::worker_before_forget, "worker.before_forget",
               "the worker dies after its report was taken, before it removes the directory"},
    FaultPoint{Fault::worker_lock_held, "worker.lock_held",
               "the job's lock is held by another attempt on that host"},
    FaultPoint{Fault::worker_report_lost, "worker.report_lost",
               "a report gets lost on its way to the server"},
    FaultPoint{Fault::worker_heartbeat_lost, "worker.heartbeat_lost",
               "a heartbeat gets lost on its way to the server"},
    FaultPoint{Fault::worker_start_hangs, "worker.start_hangs",
               "the worker is stuck for 10 s with an assignment in hand, and heard meanwhile"},
    FaultPoint{Fault::shim_not_launched, "shim.not_launched", "the shim cannot be started"},
    FaultPoint{Fault::shim_dies_at_once, "shim.dies_at_once",
               "the shim dies as soon as it has read its order"},
    FaultPoint{Fault::shim_after_started, "shim.after_started",
               "the shim dies after `started` is on disk, before it executes"},
    FaultPoint{Fault::shim_exec_fails, "shim.exec_fails",
               "the process cannot be set up: no resources"},
    FaultPoint{Fault::shim_dies_running, "shim.dies_running",
               "the shim dies while the job's process runs"},
    FaultPoint{Fault::shim_tree_survives, "shim.tree_survives",
               "the first pass over what a job has left behind hits nobody"},
    FaultPoint{Fault::shim_disk_full, "shim.disk_full",
               "the result cannot be written for a moment: no room"},
    FaultPoint{Fault::shim_before_rename, "shim.before_rename",
               "the shim dies with the result in a draft, before it has its name"},
    FaultPoint{Fault::shim_after_rename, "shim.after_rename",
               "the shim dies with the result on disk, before it tells anybody"},
};
inline constexpr std::size_t fault_count = fault_points.size();

constexpr std::string_view to_string(Fault fault) {
    return fault_points[static_cast<std::size_t>(fault)].name;
}
std::optional<Fault> fault_named(std::string_view name);

struct ArmedFault {
    static constexpr std::uint32_t always = UINT32_MAX;

    Fault fault = Fault::server_before_submit;
    std::uint32_t percent = 100;
    std::uint32_t times = always;
    std::string text;  // as it was written
};

// NAME[=N%][xTIMES], one word each. What is not understood is refused with a sentence.
Result<std::vector<ArmedFault>> parse_faults(const std::vector<std::string>& words);

// Once, before there are threads. How often each has struck is kept in `counts_file`; empty: only
// in memory. `seed` is for the percentages.
void arm_faults(std::vector<ArmedFault> faults, std::string counts_file, std::uint64_t seed);

namespace fault_detail {
inline std::atomic<bool> armed = false;
bool draws(Fault fault);
}  // namespace fault_detail

inline bool faults_are_armed() { return fault_detail::armed.load(std::memory_order_relaxed); }

// Whether it happens here and now. If so, it counts.
inline bool strikes(Fault fault) {
    if (!faults_are_armed()) [[likely]]
        return false;
    return fault_detail::draws(fault);
}

void die_if(Fault fault);

}  // namespace perdure
